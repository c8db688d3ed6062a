"""Whether one value fits one field. Each check is made once per fieldset and run on every reply.

A check takes any JSON value and gives back the value as it is kept, or the Problem. It never raises, and what it
returns as a Problem holds nothing of the value.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
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
    FieldSet,
    Integer,
    Number,
    Option,
    Text,
    Url,
)
from askback.model.texts import Problem
from askback.schema.formats import as_date, as_date_time, is_email, is_readable, is_url

Check = Callable[[Any], Any]
"""A JSON value in; out comes the value to keep, or a Problem."""

Step = tuple[Callable[[Any], object], Problem]
"""A condition, and the Problem where it does not hold."""

_EXACT = 2**53
"""Up to here a float says which integer it means."""

_MOST_BITS = 1024
"""Beyond a double's range an integer is no quantity that a person typed, and JSON writers begin to refuse it."""

_MOST_OPTIONS_TOLD = 12
"""A longer list says less: the form shows all of them anyway."""


def check_of(name: str, field: Field[Any]) -> Check:
    """The check for a field's replies."""
    make = next(_MAKERS[kind] for kind in type(field).__mro__ if kind in _MAKERS)
    return make(_Blame(name, field), field)


@lru_cache(maxsize=1024)
def checks_of(fieldset: FieldSet[Any]) -> Mapping[str, Check]:
    """The checks of all fields, made when the fieldset is first used and kept."""
    return {name: check_of(name, field) for name, field in fieldset.fields.items()}


@lru_cache(maxsize=512)
def matcher_of(pattern: str) -> Callable[[str], bool]:
    """Whether the pattern is found in a text, in linear time; a pattern that cannot promise that is a ValueError."""
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python
    except SchemaError as error:
        raise ValueError(str(error).strip().splitlines()[-1].removeprefix("error: ")) from error


class _Blame:
    """Makes the problems of one field."""

    __slots__ = ("_name", "_title")

    def __init__(self, name: str, field: Field[Any]) -> None:
        self._name, self._title = name, field.title

    def __call__(self, code: str, **facts: object) -> Problem:
        return Problem(code=code, field=self._name, title=self._title, facts=facts)


def _text(blame: _Blame, field: Text) -> Check:
    not_text, broken = blame("not_text"), blame("broken_text")
    steps = tuple(_text_steps(blame, field))

    def check(value: Any) -> Any:
        if type(value) is not str:
            return not_text
        if not value.isascii() and not is_readable(value):
            return broken
        return _stepped(value, steps)

    return check


def _stepped(value: Any, steps: tuple[Step, ...]) -> Any:
    for holds, problem in steps:
        if not holds(value):
            return problem
    return value


def _text_steps(blame: _Blame, field: Text) -> list[Step]:
    steps: list[Step] = []
    least, most = field.min_length, field.max_length
    if least:
        steps.append((lambda text: len(text) >= least, blame("too_short", least=least)))
    if most is not None:
        steps.append((lambda text: len(text) <= most, blame("too_long", most=most)))
    if isinstance(field, Email):
        steps.append((is_email, blame("not_an_email")))
    if isinstance(field, Url):
        steps.append((is_url, blame("not_a_url")))
    if field.pattern is not None:
        steps.append((matcher_of(field.pattern), blame("wrong_pattern")))
    return steps


def _read_as(read: Callable[[str], object], problem: Problem) -> Check:
    return lambda value: value if type(value) is str and read(value) is not None else problem


def _number(blame: _Blame, field: Number) -> Check:
    not_a_number = blame("not_a_number")
    steps = tuple(_number_steps(blame, field))

    def check(value: Any) -> Any:
        if not (isfinite(value) if type(value) is float else _is_integer(value)):
            return not_a_number
        return _stepped(value, steps)

    return check


def _integer(blame: _Blame, field: Integer) -> Check:
    not_a_number, not_whole = blame("not_a_number"), blame("not_whole")
    steps = tuple(_number_steps(blame, field))

    def check(value: Any) -> Any:
        if type(value) is float:
            if not value.is_integer() or abs(value) > _EXACT:
                return not_whole
            value = int(value)
        elif not _is_integer(value):
            return not_a_number
        return _stepped(value, steps)

    return check


def _is_integer(value: Any) -> bool:
    return type(value) is int and value.bit_length() < _MOST_BITS


def _number_steps(blame: _Blame, field: Number | Integer) -> list[Step]:
    least, most, step = field.minimum, field.maximum, field.multiple_of
    above, below = (field.above, field.below) if isinstance(field, Number) else (None, None)
    steps: list[Step] = []
    if least is not None:
        steps.append((lambda value: value >= least, blame("too_low", least=least)))
    if above is not None:
        steps.append((lambda value: value > above, blame("not_above", bound=above)))
    if most is not None:
        steps.append((lambda value: value <= most, blame("too_high", most=most)))
    if below is not None:
        steps.append((lambda value: value < below, blame("not_below", bound=below)))
    if step is not None:
        whole = Fraction(str(step))
        steps.append((lambda value: Fraction(str(value)) % whole == 0, blame("not_a_multiple", step=step)))
    return steps


def _boolean(blame: _Blame, _: Boolean) -> Check:
    problem = blame("not_yes_or_no")
    return lambda value: value if type(value) is bool else problem


def _choice(blame: _Blame, field: Choice) -> Check:
    values = frozenset(option.value for option in field.options)
    problem = blame("not_an_option", options=_told(field.options))
    return lambda value: value if type(value) is str and value in values else problem


def _several(blame: _Blame, field: Choices) -> Check:
    values = frozenset(option.value for option in field.options)
    not_a_list, twice = blame("not_a_list"), blame("chosen_twice")
    not_an_option = blame("not_an_option", options=_told(field.options))
    least, most = field.least or 0, len(values) if field.most is None else field.most
    too_few, too_many = blame("too_few", least=least), blame("too_many", most=most)

    def check(value: Any) -> Any:
        if type(value) is not list:
            return not_a_list
        chosen = cast("list[Any]", value)
        if not all(type(one) is str and one in values for one in chosen):
            return not_an_option
        if len(set(chosen)) < len(chosen):
            return twice
        if len(chosen) < least:
            return too_few
        return too_many if len(chosen) > most else list(chosen)

    return check


def _told(options: tuple[Option, ...]) -> str:
    told = [option.shown for option in options[:_MOST_OPTIONS_TOLD]]
    return ", ".join(told) + (", …" if len(options) > _MOST_OPTIONS_TOLD else "")


_MAKERS: Mapping[type[Field[Any]], Callable[[_Blame, Any], Check]] = {
    Text: _text,
    Date: lambda blame, _: _read_as(as_date, blame("not_a_date")),
    DateTime: lambda blame, _: _read_as(as_date_time, blame("not_a_date_time")),
    Number: _number,
    Integer: _integer,
    Boolean: _boolean,
    Choice: _choice,
    Choices: _several,
}
