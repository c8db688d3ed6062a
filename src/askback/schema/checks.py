"""Whether one value fits one field. The problem with a value holds nothing of the value."""

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from math import isfinite
from typing import Any, cast

from pydantic_core import SchemaError, SchemaValidator, core_schema

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
    Option,
    Text,
    Url,
)
from askback.model.texts import Problem
from askback.schema.formats import as_date, as_date_time, is_email, is_readable, is_url

Check = Callable[[Any], Any]
"""A JSON value in; out comes the value to keep, or a Problem. It never raises."""

_MAX_EXACT_FLOAT = 2**53
"""Up to here a float says which integer it means."""

_MAX_BITS = 1024
"""Beyond a double's range an integer is no quantity that a person typed, and JSON writers begin to refuse it."""

_MAX_OPTIONS_NAMED = 12
"""A longer list says less: the form shows all of them anyway."""


class _Unfit(Exception):
    """A value that its field does not take, with the code and the facts of the Problem."""

    def __init__(self, code: str, facts: Mapping[str, object]) -> None:
        self.code, self.facts = code, facts
        super().__init__(code)


def check_of(name: str, field: Field[Any]) -> Check:
    """The check for a field's replies."""
    read = next(_READERS[kind] for kind in type(field).__mro__ if kind in _READERS)
    return partial(_check, name, field, read)


def _check(name: str, field: Field[Any], read: Callable[[Any, Any], Any], value: Any) -> Any:
    try:
        return read(field, value)
    except _Unfit as unfit:
        return Problem(code=unfit.code, field=name, title=field.title, facts=unfit.facts)


@lru_cache(maxsize=512)
def matcher_of(pattern: str) -> Callable[[str], bool]:
    """Whether the pattern is found in a text, in linear time; a pattern that cannot promise that is a ValueError."""
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python
    except SchemaError as error:
        raise ValueError(str(error).strip().splitlines()[-1].removeprefix("error: ")) from error


def _require(holds: object, code: str, **facts: object) -> None:
    if not holds:
        raise _Unfit(code, facts)


def _text(field: Text, value: Any) -> str:
    least, most = field.min_length or 0, field.max_length
    _require(type(value) is str, "not_text")
    _require(is_readable(value), "broken_text")
    _require(len(value) >= least, "too_short", least=least)
    _require(most is None or len(value) <= most, "too_long", most=most)
    _require(not isinstance(field, Email) or is_email(value), "not_an_email")
    _require(not isinstance(field, Url) or is_url(value), "not_a_url")
    _require(field.pattern is None or matcher_of(field.pattern)(value), "wrong_pattern")
    return value


def _date(_: Date, value: Any) -> str:
    _require(type(value) is str and as_date(value), "not_a_date")
    return value


def _date_time(_: DateTime, value: Any) -> str:
    _require(type(value) is str and as_date_time(value), "not_a_date_time")
    return value


def _number(field: Number, value: Any) -> float:
    _require(isfinite(value) if type(value) is float else _is_integer(value), "not_a_number")
    return _in_range(field, value)


def _integer(field: Integer, value: Any) -> int:
    if type(value) is float:
        _require(value.is_integer() and abs(value) <= _MAX_EXACT_FLOAT, "not_whole")
        value = int(value)
    _require(_is_integer(value), "not_a_number")
    return _in_range(field, value)


def _is_integer(value: Any) -> bool:
    return type(value) is int and value.bit_length() < _MAX_BITS


_BOUNDS: tuple[tuple[str, Callable[[Any, Any], bool], str, str], ...] = (
    ("minimum", operator.ge, "too_low", "least"),
    ("above", operator.gt, "not_above", "bound"),
    ("maximum", operator.le, "too_high", "most"),
    ("below", operator.lt, "not_below", "bound"),
)
"""By attribute of a field: how a value has to compare, and the problem and its fact where it does not."""


def _in_range(field: Number | Integer, value: Any) -> Any:
    for attribute, holds, code, fact in _BOUNDS:
        bound = getattr(field, attribute, None)
        _require(bound is None or holds(value, bound), code, **{fact: bound})
    step = field.multiple_of
    _require(step is None or Fraction(str(value)) % Fraction(str(step)) == 0, "not_a_multiple", step=step)
    return value


def _boolean(_: Boolean, value: Any) -> bool:
    _require(type(value) is bool, "not_yes_or_no")
    return value


def _choice(field: Choice, value: Any) -> str:
    _require_options(field.options, [value])
    return value


def _choices(field: Choices, value: Any) -> list[str]:
    _require(type(value) is list, "not_a_list")
    chosen = [*cast("list[Any]", value)]
    least, most = field.least or 0, len(field.options) if field.most is None else field.most
    _require_options(field.options, chosen)
    _require(len(set(chosen)) == len(chosen), "chosen_twice")
    _require(len(chosen) >= least, "too_few", least=least)
    _require(len(chosen) <= most, "too_many", most=most)
    return chosen


def _require_options(options: tuple[Option, ...], chosen: list[Any]) -> None:
    values = {option.value for option in options}
    named = [option.shown for option in options[:_MAX_OPTIONS_NAMED]]
    more = ", …" if len(options) > _MAX_OPTIONS_NAMED else ""
    are_options = all(type(one) is str and one in values for one in chosen)
    _require(are_options, "not_an_option", options=", ".join(named) + more)


_READERS: Mapping[type[Field[Any]], Callable[[Any, Any], Any]] = {
    Text: _text,
    Date: _date,
    DateTime: _date_time,
    Number: _number,
    Integer: _integer,
    Boolean: _boolean,
    Choice: _choice,
    Choices: _choices,
}
