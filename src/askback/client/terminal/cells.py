"""Text measured in the cells of a terminal, and cut, filled or wrapped to a width. Knows no screen."""

from collections.abc import Iterator

from prompt_toolkit.utils import get_cwidth

ELLIPSIS = "…"


def width_of(text: str) -> int:
    """Cells, not characters: a wide letter takes two."""
    return get_cwidth(text)


def cut(text: str, width: int) -> str:
    """As much as fits, with a sign that there was more."""
    if width_of(text) <= width:
        return text
    return _head(text, max(0, width - 1)) + ELLIPSIS[: max(0, width)]


def cut_middle(text: str, width: int) -> str:
    """Both ends and a sign between them, for paths and addresses: what tells them apart stands at the end."""
    if width_of(text) <= width:
        return text
    tail = _head(text[::-1], max(0, width - 1) * 2 // 3)[::-1]
    return cut(text, width - width_of(tail)) + tail


def pad(text: str, width: int) -> str:
    """Cut or padded to exactly this width."""
    short = cut(text, width)
    return short + " " * (width - width_of(short))


def wrap(text: str, width: int) -> list[str]:
    """Broken between words where it can be, within a word where it must be; never less than one line."""
    return list(_lines(text, width))


def _lines(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in _words(text):
        if line and width_of(line) + width_of(word.rstrip()) > width:
            yield line.rstrip()
            line = ""
        for piece in chop(word, width) if width_of(word.rstrip()) > width else [word]:
            if line and width_of(line) + width_of(piece) > width:
                yield line.rstrip()
                line = ""
            line += piece
    yield line.rstrip()


def wrap_hanging(text: str, width: int, *, before: str = "", hang: str) -> list[str]:
    """The same with `before` in front of the first line and `hang` in front of the others."""
    first = next(_lines(text, max(2, width - width_of(before))))
    rest = text[len(first) :].lstrip(" ")
    return [before + first, *(hang + line for line in _lines(rest, max(2, width - width_of(hang))) if rest)]


def chop(text: str, width: int) -> Iterator[str]:
    """Pieces that each fit, whatever they are made of: for links, which have no words."""
    while text:
        piece = _head(text, max(2, width)) or text[0]
        yield piece
        text = text[len(piece) :]


def _words(text: str) -> Iterator[str]:
    """Each word with the spaces that follow it."""
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or (text[place] != " " and text[place - 1] == " "):
            yield text[start:place]
            start = place


def _head(text: str, width: int) -> str:
    used = 0
    for place, character in enumerate(text):
        used += width_of(character)
        if used > width:
            return text[:place]
    return text
