"""A test with its defence, and the same with the defence taken out: so it shows that it would notice."""

from typing import Any

import pytest

with_and_without = pytest.mark.parametrize(
    "is_defended", [True, False], ids=["as it is", "without the defence"]
)


def no_objection(*_: Any) -> None:
    """In the place of a check."""


def yes(*_: Any) -> bool:
    """In the place of a question."""
    return True
