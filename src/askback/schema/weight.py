"""How large a JSON value is, without writing it out. Knows nothing of forms."""

from typing import Any, cast

_LEAST_ENTRY_BYTES = 2
"""A digit and a comma: a long list or object is known to be too much by its length alone."""


def outweighs(value: object, most_bytes: int) -> bool:
    """Whether `value` takes more than about `most_bytes` as JSON; the counting stops there."""
    left = most_bytes
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        kind = cast("type[Any]", type(item))
        if kind is str:
            left -= _text_bytes(item, left)
        elif kind is dict or kind is list:
            left -= _LEAST_ENTRY_BYTES * (len(item) + 1)
            if left >= 0:
                waiting += item
                if kind is dict:
                    waiting += cast("dict[Any, Any]", item).values()
        else:
            left -= item.bit_length() // 4 + 1 if kind is int else 4
        if left < 0:
            return True
    return False


def _text_bytes(text: str, left: int) -> int:
    if text.isascii() or len(text) > left:
        return len(text) + 2
    return len(text.encode("utf-8", "surrogatepass")) + 2
