"""Random fields, each with the replies that fit it and a judge of its values that shares nothing with Askback.

A field comes in two spellings: as a field object, and as a Python type the way pydantic writes it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal

from hypothesis import strategies as some
from pydantic import AfterValidator, AnyUrl, AwareDatetime, EmailStr, TypeAdapter, ValidationError
from pydantic import Field as Constraint

from askback import Boolean, Choice, Choices, Date, DateTime, Email, Integer, Number, Text, Url


def _itself(wire: Any) -> Any:
    return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One field as everybody sees it: its author, the person who fills it in, and the judge of what comes out."""

    what: Any
    """A field object, or a type."""
    fits: some.SearchStrategy[Any]
    """Values on the wire that must be taken."""
    near: tuple[Any, ...] = ()
    """Values on the wire just beside those."""
    means: Callable[[Any], Any] = _itself
    """What a value on the wire is in Python; raises on what is nothing of the kind."""
    judge: TypeAdapter[Any]
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


READABLE = some.characters(codec="utf-8")


@some.composite
def texts(draw: some.DrawFn, typed: bool) -> Kind:
    if draw(some.integers(0, 3)) == 0:
        pattern = "^[A-Z]{2}[0-9]$"
        plain = Annotated[str, Constraint(pattern=pattern)]
        return Kind(
            what=plain if typed else Text(pattern=pattern),
            judge=TypeAdapter(plain),
            fits=some.from_regex("[A-Z]{2}[0-9]", fullmatch=True),
            near=("AB1\n", "ab1", " AB1", "AB12", "AB\uff11", "", 12),
        )
    least, most = limits(draw, 0, 6)
    plain = Annotated[str, Constraint(min_length=least, max_length=most)]
    short, long = "x" * ((least or 1) - 1), "x" * (most + 1 if most is not None else 70_000)
    return Kind(
        what=plain if typed else Text(min_length=least, max_length=most),
        judge=TypeAdapter(plain),
        # A text of nothing may count as left empty, and where it must be there as missing.
        fits=some.text(
            READABLE, min_size=max(least or 0, 1), max_size=max(most if most is not None else 8, 1)
        )
        if most != 0
        else some.just(""),
        near=(short, long, "\ud800" * (least or 1), ["x"], 5, True),
    )


def _plausible_email(text: str) -> str:
    local, at, domain = text.rpartition("@")
    assert local and at and "." in domain and not any(one.isspace() for one in text), text
    return text


def _absolute_url(text: str) -> str:
    AnyUrl(text)
    return text


@some.composite
def formats(draw: some.DrawFn, typed: bool) -> Kind:
    return draw(some.sampled_from([_email, _url, _date, _date_time]))(typed)


def _email(typed: bool) -> Kind:
    return Kind(
        what=EmailStr if typed else Email(),
        judge=TypeAdapter(EmailStr if typed else Annotated[str, AfterValidator(_plausible_email)]),
        fits=some.sampled_from(["ada@analytical.org", "grace.h+cobol@navy.com", "jürgen@köln.de"]),
        near=("ada@", "@b.org", "a b@c.org", "a@b", "a@b..org", "Ada <ada@b.org>", "a@b.org\n", "a" * 300, 7),
    )


def _url(typed: bool) -> Kind:
    return Kind(
        what=AnyUrl if typed else Url(),
        judge=TypeAdapter(AnyUrl if typed else Annotated[str, AfterValidator(_absolute_url)]),
        fits=some.sampled_from(["https://example.org/a?b=c#d", "mailto:ada@b.org", "http://[::1]:80/"]),
        near=("example.org", "//example.org", "https://", "https://a b", "http://[::1", "x\u202e://a", 443),
        means=AnyUrl if typed else _itself,
    )


def _date(typed: bool) -> Kind:
    return Kind(
        what=date if typed else Date(),
        judge=TypeAdapter(date),
        fits=some.dates().map(date.isoformat),
        near=(
            "2026-02-30",
            "2026-2-3",
            "20260203",
            "2026-02-03T00:00:00",
            "0000-01-01",
            "٢٠٢٦-٠١-٠١",
            20260101,
            0,
        ),
        means=_day,
    )


FIRST, LAST = datetime.fromisoformat("0002-01-01"), datetime.fromisoformat("9998-12-31")
"""So that every moment has a year of four digits in UTC too."""
OFFSETS = some.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def _day(wire: str) -> date:
    day = date.fromisoformat(wire)
    assert day.isoformat() == wire, wire
    return day


def _date_time(typed: bool) -> Kind:
    return Kind(
        what=AwareDatetime if typed else DateTime(),
        judge=TypeAdapter(AwareDatetime),
        fits=some.datetimes(FIRST, LAST, timezones=OFFSETS).map(datetime.isoformat),
        near=(
            "2026-07-28T09:00:00",
            "2026-07-28 09:00:00Z",
            "2026-07-28T24:00:00Z",
            "2026-07-28T23:59:60Z",
            "2026-07-28T09:00Z",
            "2026-07-28T09:00:00+24:00",
            "0001-01-01T00:00:00+23:59",
            "9999-12-31T23:59:59-23:59",
            1785229200,
        ),
        means=datetime.fromisoformat,
    )


@some.composite
def numbers(draw: some.DrawFn, typed: bool) -> Kind:
    low, high = limits(draw, -20, 20)
    step = draw(some.sampled_from([None, 0.5]))
    if draw(some.booleans()):
        high = high + 1 if high is not None and high == low else high
        bounds: dict[str, Any] = {"above": low, "below": high}
        limited = Annotated[float, Constraint(gt=low, lt=high)]
    else:
        bounds = {"minimum": low, "maximum": high}
        limited = Annotated[float, Constraint(ge=low, le=high)]
    bottom, top = -100 if low is None else low, 100 if high is None else high
    halves = some.integers(bottom * 2, top * 2).map(lambda half: half / 2)
    every = halves if step else halves | some.floats(bottom, top) | some.integers(bottom, top)
    # Pydantic takes a number for a multiple that is close to one, so the judge looks for itself.
    judge = TypeAdapter[Any](Annotated[limited, AfterValidator(_half)] if step else limited)
    return Kind(
        what=Annotated[limited, Constraint(multiple_of=step)]
        if typed
        else Number(**bounds, multiple_of=step),
        judge=judge,
        fits=every.filter(judge.validator.isinstance_python),
        near=(bottom - 0.5, top + 0.5, bottom, top, 2**53 + 1, -(10**309), 1e308, "1", True, *NOWHERE),
        means=_as_float if typed else _itself,
    )


NOWHERE = (float("inf"), float("nan"))


def _half(value: float) -> float:
    assert (value * 2).is_integer() or value * 2 == value, value
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
    unique = Annotated[list[one], AfterValidator(_unlike)]
    plain = Annotated[unique, Constraint(min_length=least, max_length=most)]
    listed = some.lists(
        some.sampled_from(list(meanings)),
        min_size=max(least or 0, min(most if most is not None else 1, 1)),
        max_size=most,
        unique=True,
    )
    every = list(meanings)
    return Kind(
        what=Annotated[list[one], Constraint(min_length=least, max_length=most)]
        if typed
        else Choices(options, least=least, most=most),
        judge=TypeAdapter(plain),
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


def _all(meanings: dict[str, Any], wire: Any) -> list[Any]:
    assert type(wire) is list, wire
    return [meanings[name] for name in wire]


def _unlike(chosen: list[Any]) -> list[Any]:
    assert all(chosen.count(one) == 1 for one in chosen), chosen
    return chosen


def kinds(*, typed: bool) -> some.SearchStrategy[Kind]:
    """Any kind of field."""
    makers = (texts, formats, numbers, integers, booleans, choices, several)
    return some.one_of([make(typed) for make in makers])
