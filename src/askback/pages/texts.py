"""Texts of others, for a page. The template engine takes their markup away; here goes what a reader would not see."""

import unicodedata

MOST_IN_BLOCK = 10_000
"""Characters that a person may be made to scroll through: as many as a question may have."""

MOST_IN_LINE = 200
"""Characters of a name or a label: more is no label."""

LONG = 600
"""Characters after which a text scrolls in its frame on a phone, and so must be reachable by keyboard."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""Many scripts and most emoji are written with them, and they move nothing."""


def block(text: str) -> str:
    """Several lines; says so where it is cut."""
    lines = text.replace("\r\n", "\n")
    shown = "\n".join(map(_visible, lines[:MOST_IN_BLOCK].split("\n")))
    left = len(lines) - MOST_IN_BLOCK
    return f"{shown}\n[{left:,} more characters are left out]" if left > 0 else shown


def line(text: str, most: int = MOST_IN_LINE) -> str:
    """One line."""
    shown = _visible(text[:most].replace("\n", " "))
    return f"{shown}…" if len(text) > most else shown


def is_long(text: str) -> bool:
    """Whether its frame may have to scroll."""
    return len(text) > LONG or text.count("\n") > LONG // 60


def _visible(text: str) -> str:
    """What turns or hides text is shown by its number: <U+202E>."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"<U+{ord(sign):04X}>" if unicodedata.category(sign) in _HIDDEN and sign not in _JOINERS else sign
        for sign in text
    )
