"""How large a JSON value is, without writing it out. Knows nothing of forms."""

from typing import Any

_LEAST_ENTRY_BYTES = 2
"""A digit and a comma: a long list or object is known to be too much by its length alone."""


def outweighs(value: Any, most_bytes: int) -> bool:
    """Whether `value` takes more than about `most_bytes` as JSON; the counting stops there."""
    left = most_bytes
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


def _wide_bytes(text: str, left: int) -> int:
    # A text that has too many characters need not be written out to know that it has too many bytes.
    return len(text) if len(text) > left else len(text.encode("utf-8", "surrogatepass")) + 2
