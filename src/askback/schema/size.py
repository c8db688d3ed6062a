"""How large a JSON value is, without writing it out. Knows nothing of forms."""

from collections.abc import Iterable
from typing import Any, cast

_LEAST_ENTRY_BYTES = 2
"""A digit and a comma: a long list or object is known to be too much by its length alone."""

_MOST_CHARACTER_BYTES = 6
"""A character that JSON escapes: \\u0000."""

_MOST_SCALAR_BYTES = 24
"""A float in full, and the punctuation around it."""

_GREAT = 10**18
"""A whole number up to here is no longer than any float."""


MAX_DEPTH = 100
"""Levels of lists and dicts in what authors and operators write. Some twenty are usual; pydantic writes 255."""


def exceeds_bytes(value: Any, max_bytes: int) -> bool:
    """Whether `value` takes more than about `most_bytes` as JSON; the counting stops there."""
    if value.__class__ is dict and _is_slight(value, max_bytes):
        return False
    left = max_bytes
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        kind = item.__class__
        if kind is str:
            left -= len(item) + 2 if item.isascii() else _wide_bytes(item, left)
        elif kind is dict or kind is list:
            left -= _LEAST_ENTRY_BYTES * (len(item) + 1)
            if left >= 0:
                waiting.extend(item)
                if kind is dict:
                    waiting.extend(item.values())
        else:
            left -= (item.bit_length() >> 2) + 1 if kind is int else 4
        if left < 0:
            return True
    return False


def exceeds_depth(value: Any, levels: int = MAX_DEPTH) -> bool:
    """Whether lists and dicts are nested in more than `levels`. Where Python itself stops depends on its version."""
    layer: list[Any] = [value]
    for _ in range(levels):
        layer = [inner for outer in layer for inner in _contents(outer)]
        if not layer:
            return False
    return any(isinstance(item, dict | list | tuple) for item in layer)


def _contents(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[Any, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list | tuple) else ()


def _is_slight(form: dict[Any, Any], most_bytes: int) -> bool:
    """Whether a flat form is light at a glance; nearly all are, and then nothing need be counted."""
    characters = 0
    for name, item in form.items():
        kind = item.__class__
        if kind is str:
            characters += len(item)
        elif kind is not bool and kind is not float and (kind is not int or item > _GREAT or item < -_GREAT):
            return False
        characters += len(name) + _MOST_SCALAR_BYTES
    return characters * _MOST_CHARACTER_BYTES < most_bytes


def _wide_bytes(text: str, left: int) -> int:
    # A text that has too many characters need not be written out to know that it has too many bytes.
    return len(text) if len(text) > left else len(text.encode("utf-8", "surrogatepass")) + 2
