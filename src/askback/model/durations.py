"""A length of time, which an author may write as seconds or as a timedelta."""

from datetime import timedelta
from typing import overload

from askback.errors import AuthorError

CLOCK_SKEW = 60.0
"""Seconds that the clocks of two workers may differ: a state may be made so far in the future and is still accepted."""


@overload
def seconds_of(time: timedelta | float, name: str) -> float: ...
@overload
def seconds_of(time: timedelta | float | None, name: str) -> float | None: ...
def seconds_of(time: timedelta | float | None, name: str) -> float | None:
    """The seconds; `None` is no limit."""
    seconds = time.total_seconds() if isinstance(time, timedelta) else time
    if seconds is None:
        return None
    if not isinstance(seconds, int | float) or not 0 < seconds < float("inf"):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
        raise AuthorError(
            f"{name}={time!r} is not a length of time. Give seconds above zero, or a timedelta."
        )
    return seconds
