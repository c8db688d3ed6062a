"""Text measured in the cells of a terminal, and cut, padded or wrapped to a width. Knows no screen."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

try:
    from wcwidth import wcwidth
except ImportError:  # it comes with the client extra; commands that need no client print without it

    def wcwidth(wc: str) -> int:
        """The width by Unicode's own tables, which agree with the library for nearly all characters."""
        if unicodedata.category(wc) in {"Mn", "Me", "Cf"}:
            return 0
        return 2 if unicodedata.east_asian_width(wc) in {"W", "F"} else 1


ELLIPSIS = "…"
_WORD_AND_GAP = re.compile(r"[^ ]+ *| +")


@lru_cache(maxsize=4_096)
def _cells(character: str) -> int:
    return max(0, wcwidth(character))


def width_of(text: str) -> int:
    """Cells, not characters: a wide letter takes two, an accent none."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def cut(text: str, width: int) -> str:
    """As much of the text as fits, with an ellipsis if there was more."""
    if width_of(text) <= width:
        return text
    return _head(text, max(0, width - 1)) + ELLIPSIS[: max(0, width)]


def cut_middle(text: str, width: int) -> str:
    """Both ends with an ellipsis between them, for paths and addresses, which differ at their ends."""
    if width_of(text) <= width:
        return text
    tail = _head(text[::-1], max(0, width - 1) * 2 // 3)[::-1]
    return cut(text, width - width_of(tail)) + tail


def pad(text: str, width: int) -> str:
    """Cut or padded to exactly this width."""
    short = cut(text, width)
    return short + " " * (width - width_of(short))


def wrap(text: str, width: int, *, before: str = "", hang: str = "") -> list[str]:
    """Lines broken between words where possible, with `before` on the first and `hang` on the others; at least one."""
    first = next(_lines(text, max(2, width - width_of(before))))
    rest = text[len(first) :].lstrip(" ")
    return [before + first, *(hang + line for line in _lines(rest, max(2, width - width_of(hang))) if rest)]


def chop(text: str, width: int) -> Iterator[str]:
    """Pieces that each fit, broken anywhere: for links, which have no words."""
    while text:
        piece = _head(text, max(2, width)) or text[0]
        yield piece
        text = text[len(piece) :]


def _lines(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in _WORD_AND_GAP.findall(text):
        for piece in chop(word, width) if width_of(word.rstrip()) > width else [word]:
            if line and width_of(line) + width_of(piece.rstrip()) > width:
                yield line.rstrip()
                line = ""
            line += piece
    yield line.rstrip()


def _head(text: str, width: int) -> str:
    used = 0
    for place, character in enumerate(text):
        used += width_of(character)
        if used > width:
            return text[:place]
    return text
