"""What was found out about the last texts, so that a text that comes again is not looked at again."""

from typing import Generic, TypeVar

Value = TypeVar("Value")

MAX_TEXTS = 256

MAX_LENGTH = 10_000
"""Characters of a text that is kept."""


class TextCache(Generic[Value]):
    """Values by their texts. Threads may share it: each step is one operation on a dictionary."""

    def __init__(self) -> None:
        self._values: dict[str, Value] = {}

    def get(self, text: str) -> Value | None:
        return self._values.get(text)

    def keep(self, text: str, value: Value) -> None:
        if len(text) > MAX_LENGTH:
            return
        if len(self._values) >= MAX_TEXTS:
            self._values = {}
        self._values[text] = value
