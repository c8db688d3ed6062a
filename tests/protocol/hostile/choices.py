"""Fields to choose one or several from."""

from enum import Enum, IntEnum
from typing import Any, Literal

from hypothesis import strategies as some
from pydantic import AfterValidator, TypeAdapter
from pydantic import Field as Constraint

from askback import Choice, Choices
from tests.protocol.hostile.kind import Kind, limits, noted


class Colour(Enum):
    RED = 1
    BLUE = "blue"
    NONE = ("none",)


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


OPTIONS = ("a", "b", "no such", "1")

TYPED_CHOICES: list[tuple[Any, dict[str, Any]]] = [
    (Literal["a", "b", "no such", "1"], {one: one for one in OPTIONS}),
    (Literal[1, 2, 30], {"1": 1, "2": 2, "30": 30}),
    (Colour, {"RED": Colour.RED, "blue": Colour.BLUE, "NONE": Colour.NONE}),
    (Size, {"SMALL": Size.SMALL, "LARGE": Size.LARGE}),
]
"""Types to choose from, and what each of their spellings on the wire stands for."""


@some.composite
def choices(draw: some.DrawFn, typed: bool) -> Kind:
    options, plain, meanings = _options(draw, typed)
    return Kind(
        what=plain if typed else Choice(options),
        judge=TypeAdapter(plain),
        fits=some.sampled_from(list(meanings)),
        near=("A", "Title of a", "", "a ", 1, 1.0, True, ["a"], {"a": True}, "RED ", "1.0"),
        means=meanings.__getitem__,
    )


@some.composite
def several(draw: some.DrawFn, typed: bool) -> Kind:
    options, one, meanings = _options(draw, typed)
    least, most = limits(draw, 0, len(meanings))
    counted = noted(_list_of(one), Constraint(min_length=least, max_length=most))
    listed = some.lists(
        some.sampled_from(list(meanings)),
        min_size=max(least or 0, min(most if most is not None else 1, 1)),
        max_size=most,
        unique=True,
    )
    every = list(meanings)
    return Kind(
        what=counted if typed else Choices(options, least=least, most=most),
        judge=TypeAdapter(noted(counted, AfterValidator(_unlike))),
        fits=listed,
        near=(
            [],
            every,
            [*every, every[0]],
            [every[0]] * 2,
            every[0],
            [1],
            [None],
            [[]],
            {every[0]: True},
            "",
            True,
        ),
        means=lambda wire: _all(meanings, wire),
        options=tuple(every),
    )


def _options(draw: some.DrawFn, typed: bool) -> tuple[Any, Any, dict[str, Any]]:
    if typed:
        plain, meanings = draw(some.sampled_from(TYPED_CHOICES))
        return None, plain, meanings
    titled = draw(some.booleans())
    options = {one: f"Title of {one}" for one in OPTIONS} if titled else list(OPTIONS)
    return options, *TYPED_CHOICES[0]


def _all(meanings: dict[str, Any], wire: list[str]) -> list[Any]:
    assert type(wire) is list, wire
    return [meanings[name] for name in wire]


def _list_of(one: Any) -> Any:
    listed: Any = list
    return listed[one]


def _unlike(chosen: list[Any]) -> list[Any]:
    assert all(chosen.count(one) == 1 for one in chosen), chosen
    return chosen
