"""Text from outside, made safe to show. Runs in linear time, and is the only way that server text reaches a person.

What becomes what, so that a reader sees everything that is there and a terminal takes nothing for an order:

| in the text | is shown as |
|---|---|
| NUL to US, and DEL: escape, tab, carriage return, bell | their pictures: `␛` `␉` `␍` `␇` `␡` |
| a newline | `␊` in a `line`, the end of a line in a `block` |
| C1 controls (CSI, OSC, NEL), line and paragraph separators | their number: `<U+009B>` |
| bidi controls, zero-width and other format characters, tags | their number: `<U+202E>` |
| letters that draw nothing, variation selectors | their number: `<U+3164>` |
| half surrogates, private and unassigned characters | their number: `<U+E000>` |
| a joiner between letters of a script that joins, or two emoji | nothing: the letters are drawn alike without it |
| the selector that makes a sign an emoji | nothing: the sign is drawn alike without it |
| any other space: no-break, em, ideographic | a plain space |
| more than eight spaces in a row | their count: `<12 spaces>` |
| a combining mark with nothing to stand on | `◌` and the mark |
| more than four marks on one letter | the first four, and `<+37 marks>` |
| lines and blocks to draw frames with, U+2500 to U+259F | `-` `|` `+` `#`: frames are ours |
| anything else: all scripts, wide letters too, signs, emoji | itself |

Safe text stays as it is, so to make it safe twice changes nothing.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import Final

MAX_LINE_LENGTH: Final = 200
"""Characters of a name, a label or an option: more is no label."""

MAX_BLOCK_LENGTH: Final = 10_000
"""Characters that a person may be made to scroll through: as many as an author may write in a message."""

MAX_BLOCK_LINES: Final = 400
"""Lines that a person may be made to scroll through: ten screens."""

MAX_MARKS: Final = 4
"""Hebrew with vowels and accents needs four on a letter; more only climbs into the lines around it."""

_MOST_SPACES: Final = 8
"""An indented list needs no more; a longer gap moves words to where they seem to be ours."""

_DRAWN: Final = {
    **dict.fromkeys("─━┄┅┈┉╌╍═╴╶╸╺╼╾", "-"),
    **dict.fromkeys("│┃┆┇┊┋╎╏║╵╷╹╻╽╿", "|"),
}

_BLANKS: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc\U0001d159"
)
"""All blank characters but the variation selectors; browsers drop most of them from a host."""

_STRAIGHT: Final = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u201f\u275d\u275e\u301d\u301e\uff02", '"'))

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_JOINING: Final = re.compile("[\u200c\u200d\ufe0e\ufe0f]")
_SPACES: Final = re.compile(rf" {{{_MOST_SPACES + 1},}}")


def safe_text(text: str) -> str:
    """One line of any length: only for text whose length was checked before, or is bounded where it comes from."""
    if text.isascii() and text.isprintable() and " " * (_MOST_SPACES + 1) not in text:
        return text
    shown = "".join(_characters(_JOINING.sub(_joiner, text)))
    return _SPACES.sub(lambda gap: f"<{len(gap[0])} spaces>", shown)


def safe_line(text: str, most: int = MAX_LINE_LENGTH) -> str:
    """One line of at most `most` characters; what is longer ends in an ellipsis."""
    shown = safe_text(text[:most])
    return shown if len(text) <= most and len(shown) <= most else shown[: max(most - 1, 0)] + "…"


def quote_safely(text: str, most: int = MAX_LINE_LENGTH) -> str:
    """A line in curly quotes. Curly quotes inside it become straight ones, so the text cannot pass for our words."""
    return f"“{safe_line(text, most).translate(_STRAIGHT)}”"


def safe_lines(text: str) -> list[str]:
    """Every line in full, for what a person is about to send: only for text whose length was checked before."""
    return [safe_text(row) for row in text.replace("\r\n", "\n").split("\n")]


def safe_block(text: str, *, most_lines: int = MAX_BLOCK_LINES, most: int = MAX_BLOCK_LENGTH) -> list[str]:
    """Lines as the writer broke them, up to both caps; the last one then says in our words how much is left out."""
    whole = text.replace("\r\n", "\n")
    rows: list[str] = []
    taken, room = 0, most
    for row in whole[: most + 1].split("\n")[:most_lines]:
        rows.append(safe_line(row, room))
        taken += _taken(row, room)
        room -= len(rows[-1])
        if room <= 0:
            break
    left = len(whole) - taken - (len(rows) - 1)
    return [*rows, f"[about {left:,} more characters are left out]"] if left > 0 else rows


def _taken(row: str, room: int) -> int:
    """About how many characters of a row there was room for: some take several to be shown."""
    beginning = row[:room]
    return min(len(beginning), len(beginning) * room // max(len(safe_text(beginning)), 1))


def has_hidden_characters(text: str) -> bool:
    """Whether it holds something that is not drawn, or orders what is; newlines, tabs and joiners are no secret."""
    seen = _JOINING.sub(_joiner, text).replace("\r\n", "\n")
    return any(character not in "\n\t" and is_hidden(character) for character in seen)


def _joiner(found: re.Match[str]) -> str:
    """Nothing, where the joiner only tells how its neighbours are drawn; else itself, to be shown by its number."""
    text, place = found.string, found.start()
    before, after = text[max(place - 1, 0) : place], text[place + 1 : place + 2]
    if found[0] >= "\ufe0e":
        return (
            ""
            if _is_emoji(before) or (before and before in "0123456789#*" and after == "\u20e3")
            else found[0]
        )
    is_joined = (_joins(before) and _joins(after)) or (_is_emoji(before, "\ufe0f") and _is_emoji(after))
    return "" if is_joined else found[0]


def _joins(character: str) -> bool:
    return bool(character) and unicodedata.category(character) in {"Lo", "Mn", "Mc"} and character > "\u05ff"


def _is_emoji(character: str, *others: str) -> bool:
    return bool(character) and (unicodedata.category(character) in {"So", "Sk"} or character in others)


def _characters(text: str) -> Iterator[str]:
    has_base = False
    for is_mark, group in groupby(text, _is_mark):
        run = "".join(group)
        if is_mark:
            yield run[:MAX_MARKS] if has_base else f"◌{run[:MAX_MARKS]}"
            yield f"<+{len(run) - MAX_MARKS} marks>" if len(run) > MAX_MARKS else ""
        else:
            yield from map(_shown, run)
            has_base = len(_shown(run[-1])) == 1


def _is_mark(character: str) -> bool:
    """Whether it is drawn on the letter before; the later parts of a Korean syllable are."""
    if "\u1161" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7fb":
        return True
    return unicodedata.category(character) in {"Mn", "Me"} and not is_blank(character)


def is_blank(character: str) -> bool:
    """Whether it is a letter, mark or sign by its category, and yet nothing is drawn."""
    return (
        character in _BLANKS or "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    )


def _shown(character: str) -> str:
    if character < " ":
        return chr(0x2400 + ord(character))
    if character == "\x7f":
        return "␡"
    if is_hidden(character):
        return f"<U+{ord(character):04X}>"
    if "\u2500" <= character <= "\u259f":
        return _DRAWN.get(character, "+" if character < "\u2580" else "#")
    return " " if unicodedata.category(character) == "Zs" else character


def is_hidden(character: str) -> bool:
    """Whether nothing is drawn for it, or it moves what is drawn around it."""
    return unicodedata.category(character) in _HIDDEN or is_blank(character)
