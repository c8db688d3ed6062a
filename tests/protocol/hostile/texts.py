"""Fields that travel as text: plain text, email, url, date, date-time."""

from datetime import date, datetime, timedelta, timezone
from typing import Annotated

from hypothesis import strategies as some
from pydantic import AfterValidator, AnyUrl, AwareDatetime, EmailStr, TypeAdapter
from pydantic import Field as Constraint

from askback import Date, DateTime, Email, Text, Url
from tests.protocol.hostile.kind import Kind, itself, limits

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
            near=("AB1\n", "ab1", " AB1", "AB12", "AB\uff11", "", 12, ["AB1"]),
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
        near=(short, long, "\ud800" * (least or 1), ["x"], {"x": "x"}, 5, 5.5, True),
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
        near=(
            "example.org",
            "//example.org",
            "https://",
            "https://a b",
            "http://[::1",
            "x\u202e://a",
            "",
            443,
        ),
        means=AnyUrl if typed else itself,
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
