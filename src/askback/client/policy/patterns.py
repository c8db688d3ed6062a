"""Patterns of a policy, in which `*` stands for any text, compared with a text exactly or as a reader would."""

import re
from functools import lru_cache
from operator import eq
from typing import Final

from askback.schema.secrets.naming import LEET
from askback.schema.secrets.spelling import fold

PAIRS: Final = (("rn", "m"), ("vv", "w"), ("cl", "d"))
"""Two letters that pass for one at a glance."""

_BLANKS: Final = re.compile(r"\s+")
_SIGNS: Final = tuple(str.maketrans(row[::2], row[1::2]) for row in LEET)


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
    parts = [_readings(part) for part in pattern.split("*")]
    meant = map("*".join, zip(*parts, strict=True))
    return any(map(is_like, _readings(text), meant))


def are_alike(one: str, other: str) -> bool:
    """Whether a reader could take one text for the other."""
    return any(map(eq, _readings(one), _readings(other)))


@lru_cache(maxsize=64)
def _readings(text: str) -> tuple[str, ...]:
    """The text without its disguise, in several ways: a Greek capital and its small letter look like two letters of
    ours, and a digit can stand for one of two."""
    plain = _BLANKS.sub(" ", fold(text).casefold())
    return (
        plain,
        _BLANKS.sub(" ", fold(text.casefold())),
        *(_paired(plain.translate(signs)) for signs in _SIGNS),
    )


def _paired(text: str) -> str:
    for pair, single in PAIRS:
        text = text.replace(pair, single)
    return text
