"""Fields for numbers, whole numbers, and yes or no."""

from math import fmod
from typing import Annotated, Any

from hypothesis import strategies as some
from pydantic import AfterValidator, TypeAdapter
from pydantic import Field as Constraint

from askback import Boolean, Integer, Number
from tests.protocol.hostile.kind import Kind, itself, limits, noted


@some.composite
def numbers(draw: some.DrawFn, typed: bool) -> Kind:
    low, high = limits(draw, -20, 20)
    step = draw(some.sampled_from([None, 0.5]))
    if draw(some.booleans()):
        high = high + 1 if high is not None and high == low else high
        bounds: dict[str, Any] = {"above": low, "below": high}
        limited: Any = Annotated[float, Constraint(gt=low, lt=high)]
    else:
        bounds = {"minimum": low, "maximum": high}
        limited: Any = Annotated[float, Constraint(ge=low, le=high)]
    bottom, top = -100 if low is None else low, 100 if high is None else high
    halves = some.integers(bottom * 2, top * 2).map(lambda half: half / 2)
    every = halves if step else halves | some.floats(bottom, top) | some.integers(bottom, top)
    # Pydantic takes a number for a multiple that is close to one, so the judge looks for itself.
    judge = TypeAdapter[Any](noted(limited, AfterValidator(_half)) if step else limited)
    return Kind(
        what=noted(limited, Constraint(multiple_of=step)) if typed else Number(**bounds, multiple_of=step),
        judge=judge,
        fits=every.filter(judge.validator.isinstance_python),
        near=(bottom - 0.5, top + 0.5, bottom, top, 2**53 + 1, -(10**309), 1e308, "1", True, *NOWHERE),
        means=_as_float if typed else itself,
    )


NOWHERE = (float("inf"), float("nan"))


def _half(value: float) -> float:
    assert fmod(value, 0.5) == 0, value
    return value


def _as_float(wire: Any) -> float:
    assert type(wire) in (int, float), wire
    return float(wire)


@some.composite
def integers(draw: some.DrawFn, typed: bool) -> Kind:
    low, high = limits(draw, -20, 20)
    bottom, top = -(2**80) if low is None else low, 2**80 if high is None else high
    step = draw(some.sampled_from([None, 3])) if top - bottom >= 3 else None
    plain = Annotated[int, Constraint(ge=low, le=high, multiple_of=step)]
    small = some.integers(max(bottom, -(2**53)), min(top, 2**53))
    every = some.integers(bottom, top) | small | small.map(float)
    return Kind(
        what=plain if typed else Integer(minimum=low, maximum=high, multiple_of=step),
        judge=TypeAdapter(plain),
        fits=every.filter(lambda one: one % step == 0) if step else every,
        near=(bottom - 1, top + 1, bottom + 0.5, float(2**60), 10**400, "1", "", True, None, *NOWHERE),
        means=_as_int,
    )


def _as_int(wire: Any) -> int:
    assert type(wire) is int or (type(wire) is float and wire.is_integer()), wire
    return int(wire)


def booleans(typed: bool) -> some.SearchStrategy[Kind]:
    return some.just(
        Kind(
            what=bool if typed else Boolean(),
            judge=TypeAdapter(bool),
            fits=some.booleans(),
            near=("true", "yes", 1, 0, 1.0, "", "false", [True]),
        )
    )
