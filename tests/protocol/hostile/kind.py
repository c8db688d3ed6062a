"""One field as everybody sees it: its author, the person who fills it in, and the judge of what comes out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from hypothesis import strategies as some
from pydantic import TypeAdapter, ValidationError


def itself(wire: Any) -> Any:
    """What most values on the wire mean."""
    return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A field in one of two spellings: as a field object, or as a Python type the way pydantic writes it."""

    what: Any
    """A field object, or a type."""
    fits: some.SearchStrategy[Any] = field(repr=False)
    """Values on the wire that must be taken."""
    near: tuple[Any, ...] = field(repr=False)
    """Eight or more values on the wire just beside those."""
    means: Callable[[Any], Any] = field(default=itself, repr=False)
    """What a value on the wire is in Python; raises on what is nothing of the kind."""
    judge: TypeAdapter[Any] = field(repr=False)
    """Knows, strictly, which Python values the author may be given."""
    options: tuple[str, ...] = ()
    """What a list of choices offers; 2025-06-18 has a tick for each."""

    def permits(self, value: Any) -> bool:
        """Whether the author may see this; a strict judge that changes what it reads has not permitted it."""
        try:
            judged = self.judge.validate_python(value, strict=True)
        except ValidationError:
            return False
        return same(judged, float(value) if type(judged) is float else value)


def same(one: Any, other: Any) -> bool:
    """Equal, and not only as True equals 1; an int may stand for a float, as in Python's own types."""
    alike = type(one) is type(other) or {type(one), type(other)} == {int, float}
    return alike and one == other


def limits(draw: some.DrawFn, least: int, most: int) -> tuple[int | None, int | None]:
    low, high = sorted(draw(some.tuples(some.integers(least, most), some.integers(least, most))))
    return draw(some.sampled_from([(low, high), (low, None), (None, high), (None, None)]))


def noted(what: Any, *notes: Any) -> Any:
    """`Annotated[what, *notes]` of a type that is made on the spot."""
    annotated: Any = Annotated
    return annotated[(what, *notes)]
