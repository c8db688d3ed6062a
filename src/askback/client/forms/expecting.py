"""What fits a field, in a few of our own words. Knows fields, not where they came from."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from askback.model.question import (
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Email,
    Field,
    Integer,
    Number,
    Text,
    Url,
)


def describe_field(field: Field[Any]) -> str:
    """For example "whole number, 0 to 20"."""
    say = next(_SAYINGS[kind] for kind in type(field).__mro__ if kind in _SAYINGS)
    return say(field)


def _text(what: str) -> Callable[[Any], str]:
    def say(field: Text) -> str:
        count = _between(field.min_length, field.max_length)
        last = field.min_length if field.max_length is None else field.max_length
        return f"{what}, {count} {'character' if last == 1 else 'characters'}" if count else what

    return say


def _between(least: float | None, most: float | None) -> str:
    match least, most:
        case None, None:
            return ""
        case _, None:
            return f"at least {least}"
        case None, _:
            return f"at most {most}"
        case _:
            return f"exactly {least}" if least == most else f"{least} to {most}"


def _number(what: str) -> Callable[[Any], str]:
    def say(field: Number | Integer) -> str:
        above, below = (field.above, field.below) if isinstance(field, Number) else (None, None)
        parts = [
            what,
            _between(field.minimum, field.maximum),
            f"more than {above}" if above is not None else "",
            f"less than {below}" if below is not None else "",
            f"a multiple of {field.multiple_of}" if field.multiple_of is not None else "",
        ]
        return ", ".join(filter(None, parts))

    return say


def _choices(field: Choices) -> str:
    least, most = field.least or None, field.most
    count = _between(least, most if most is None or most < len(field.options) else None)
    return f"{count or 'any'} of {len(field.options)}"


_SAYINGS: Final[Mapping[type[Field[Any]], Callable[[Any], str]]] = {
    Email: _text("email address, like name@example.org"),
    Url: _text("complete web address, like https://example.org/"),
    Text: _text("text"),
    Date: lambda _: "date, like 2026-11-15",
    DateTime: lambda _: "date and time with its offset, like 2026-11-15T18:30:00+01:00",
    Number: _number("number"),
    Integer: _number("whole number"),
    Boolean: lambda _: "yes or no",
    Choice: lambda field: f"one of {len(field.options)}",
    Choices: _choices,
}
