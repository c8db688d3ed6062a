"""Headers that go with each HTTP request. Their values are secrets: they are sent, and never repeated."""

import re
from collections.abc import Mapping, Sequence

from askback.errors import AuthorError

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"(?:[!-~\xa0-\xff]+(?:[ \t]+[!-~\xa0-\xff]+)*)?")

MIN_SECRET_LENGTH = 8
"""Characters; below that, taking a value out of a sentence would spoil more than it hides."""


def read_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """As they are sent; one that HTTP cannot carry is refused by its name alone."""
    return [(_name(name), _value(name, value)) for name, value in headers.items()]


def _name(name: object) -> bytes:
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise AuthorError("The name of a header is made of letters, digits and hyphens, as in Authorization.")
    return name.encode("ascii")


def _value(name: str, value: object) -> bytes:
    if not isinstance(value, str):
        raise AuthorError(f"The header {name} has a value that is no text. Is a variable of it not set?")
    if _VALUE.fullmatch(value) is None:
        raise AuthorError(
            f"The header {name} has a value that HTTP cannot carry: a line break, another control character, a letter "
            "beyond Latin-1, or a blank at an end. What is read from a file often ends with a line break; strip it."
        )
    return value.encode("latin-1")


def redact_headers(text: str, headers: Sequence[tuple[bytes, bytes]]) -> str:
    """`text`, which somebody else wrote, without the values of these headers and the words in them."""
    values = [value.decode("latin-1") for _, value in headers]
    words = {piece for value in values for piece in (value, *value.split())}
    for word in sorted(words, key=len, reverse=True):
        if len(word) >= MIN_SECRET_LENGTH:
            text = text.replace(word, "[header]")
    return text
