"""What came back: Accepted, Declined or Cancelled. Knows nothing of how it came."""

from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

from askback.errors import NoTruthValue
from askback.runtime.current import stop_call

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Accepted(Generic[T_co]):
    """An explicit yes with a value that fits what was asked."""

    value: T_co

    def or_stop(self, text: str) -> T_co:
        """The value; `text` is for the other two."""
        return self.value

    def __bool__(self) -> NoReturn:
        raise NoTruthValue("Accepted")


@dataclass(frozen=True, slots=True)
class Declined:
    """An explicit no."""

    def or_stop(self, text: str) -> NoReturn:
        """End the call politely with `text`."""
        stop_call(text)

    def __bool__(self) -> NoReturn:
        raise NoTruthValue("Declined")


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Dismissed without a choice; asking again later is fine."""

    def or_stop(self, text: str) -> NoReturn:
        """End the call politely with `text`."""
        stop_call(text)

    def __bool__(self) -> NoReturn:
        raise NoTruthValue("Cancelled")


T = TypeVar("T")
Answer = Accepted[T] | Declined | Cancelled
"""What `ask` gives; match it to the end."""
