"""How large and how deep a JSON value is. Knows nothing of forms."""

from collections.abc import Iterable
from typing import Any, cast

MAX_DEPTH = 100
"""Levels of lists and dicts in what authors and operators write. Some twenty are usual; pydantic writes 255."""


def exceeds_bytes(value: Any, max_bytes: int) -> bool:
    """Whether `value` takes more than about `max_bytes` as JSON. It may be nested deeper than JSON writers go."""
    left = max_bytes
    waiting: list[Any] = [value]
    while waiting and left >= 0:
        item = waiting.pop()
        left -= 2
        if isinstance(item, str):
            left -= len(item.encode("utf-8", "surrogatepass"))
        elif isinstance(item, int):
            left -= item.bit_length() // 4
        else:
            waiting.extend(_contents(item))
    return left < 0


def exceeds_depth(value: Any, levels: int = MAX_DEPTH) -> bool:
    """Whether lists and dicts are nested in more than `levels`. Where Python itself stops depends on its version."""
    layer: list[Any] = [value]
    for _ in range(levels):
        layer = [inner for outer in layer for inner in _contents(outer)]
    return any(isinstance(item, dict | list | tuple) for item in layer)


def _contents(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [part for item in cast("dict[Any, Any]", value).items() for part in item]
    return cast("list[Any]", value) if isinstance(value, list | tuple) else ()
