"""Words and trees of a text, made once for as long as it is weighed. After that nothing of it is kept."""

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

_MADE: ContextVar[dict[Hashable, Any] | None] = ContextVar("askback_sql_made", default=None)


@contextmanager
def remembering() -> Generator[None]:
    """What is `remembered` inside is made once; whoever gets it leaves it as it is."""
    before = _MADE.set({})
    try:
        yield
    finally:
        _MADE.reset(before)


def remembered(key: Hashable, make: Callable[[], T]) -> T:
    """What was made for this key, which names all that it depends on; anew each time where nobody is remembering."""
    made = _MADE.get()
    if made is None:
        return make()
    if key not in made:
        made[key] = make()
    return made[key]
