"""Text in the cells of a terminal, where a wide letter takes two; also without the client extra."""

import re
import textwrap
import unicodedata

_UNSEEN = {"Mn", "Me", "Cf"}
"""Categories that take no cell of their own: accents, enclosing marks, joiners."""

_GAP_AND_WORD = re.compile(r"(\s*)(\S+)")


def width_of(text: str) -> int:
    """Cells, not characters."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def filled(text: str, width: int) -> str:
    """Followed by blanks up to this width."""
    return text + " " * (width - width_of(text))


def wrapped(text: str, width: int, *, indent: int = 0) -> list[str]:
    """Lines that fit, what follows the first two cells further in; never less than one."""
    first, rest = " " * indent, " " * (indent + 2)
    if width_of(text) == len(text):
        lines = textwrap.wrap(
            text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
        )
        return lines or [""]
    return _wrapped_wide(text, width, first, rest)


def _wrapped_wide(text: str, width: int, first: str, rest: str) -> list[str]:
    lines = [first]
    for gap, word in _GAP_AND_WORD.findall(text):
        if lines[-1].strip() and width_of(lines[-1] + gap + word) > width:
            lines.append(rest)
            gap = ""
        lines[-1] += gap
        for letter in word:
            if width_of(lines[-1] + letter) > width and lines[-1].strip():
                lines.append(rest)
            lines[-1] += letter
    return lines


def _cells(letter: str) -> int:
    if unicodedata.category(letter) in _UNSEEN:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1
