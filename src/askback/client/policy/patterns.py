"""Patterns of a policy, in which `*` stands for any text, compared with a text exactly or as a reader would."""

import re
from functools import lru_cache
from operator import eq
from typing import Final

from askback.client.consent.names import TWINS
from askback.schema.secrets.naming import LEET
from askback.schema.secrets.spelling import fold

PAIRS: Final = tuple((pair, single) for pair, single in TWINS if len(pair) > 1)
"""Two letters that pass for one at a glance."""

_BLANKS: Final = re.compile(r"\s+")
_SIGN: Final = re.compile(f"[{re.escape(LEET[0][::2])}]")
_LETTERS: Final = tuple(str.maketrans(row[::2], row[1::2]) for row in LEET)


def is_like(text: str, pattern: str | None) -> bool:
    """Whether the whole text is as the pattern says, in one pass: the text may be long and meant to harm."""
    if pattern is None:
        return True
    head, *rest = pattern.split("*")
    if not rest:
        return text == head
    *middle, tail = rest
    place, end = len(head), len(text) - len(tail)
    if place > end or not text.startswith(head) or not text.endswith(tail):
        return False
    for part in middle:
        found = text.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True


def resembles(text: str, pattern: str | None) -> bool:
    """Whether a reader could take the text for one that the pattern names, whatever letters it is written in."""
    if pattern is None or is_like(text, pattern):
        return True
    plain, small = map("*".join, zip(*map(_folded, pattern.split("*")), strict=True))
    if any(map(is_like, _folded(text), (plain, small))):
        return True
    # A digit in the pattern means itself. Only without one may a digit of the text stand for a letter.
    return not _SIGN.search(pattern) and any(is_like(read, _joined(plain)) for read in _spelled_out(text))


def are_alike(one: str, other: str) -> bool:
    """Whether a reader could take one text for the other, in which no star has a meaning."""
    return any(map(eq, _folded(one), _folded(other))) or any(map(eq, _spelled_out(one), _spelled_out(other)))


@lru_cache(maxsize=64)
def _folded(text: str) -> tuple[str, str]:
    """Without its disguise, as it stands and in small letters: a Greek capital and its small letter look like two
    different letters of ours."""
    return _BLANKS.sub(" ", fold(text).casefold()), _BLANKS.sub(" ", fold(text.casefold()))


def _spelled_out(text: str) -> list[str]:
    """With letters for digits and signs: 1 is now i and now l."""
    return [_joined(_folded(text)[0].translate(letters)) for letters in _LETTERS]


def _joined(text: str) -> str:
    for pair, single in PAIRS:
        text = text.replace(pair, single)
    return text
