"""A raw reply becomes the author's value, or problems that say what does not fit. Strict, and raises on no JSON value.

Fields that were not asked for are dropped and never reach the body. A null counts as left empty, and so does "" or []
if the field may be left empty and could not hold that anyway. A problem holds nothing of the reply.

What a host's own call asked for reaches the host as it was sent, if it fits: surplus fields, nulls, and numbers
written as text are the host's to judge.
"""

import dataclasses
import operator
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from math import isfinite
from typing import Any, Generic, NamedTuple, TypeVar, cast

from pydantic_core import ErrorDetails, SchemaValidator, ValidationError, core_schema

from askback.model.fields import Json, spelled
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
    Text,
    Url,
)
from askback.model.texts import Problem
from askback.schema.dialect import Dialect, folded_name, needs_other_words
from askback.schema.size import exceeds_bytes
from askback.schema.values import as_date, as_date_time, is_email, is_readable, is_url

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

MAX_REPLY_BYTES = 65_536
"""A form filled in by hand is a hundred times smaller; more is an accident or an attack."""

MAX_PROBLEMS = 10
"""Nobody reads an eleventh complaint."""

MAX_REASON_LENGTH = 500
"""Characters of an author's own objection that go into a message."""

_MAX_EXACT_FLOAT = 2**53
"""Up to here a float says which integer it means."""

_MAX_BITS = 1024
"""Beyond a double's range an integer is no quantity that a person typed, and JSON writers begin to refuse it."""

_MAX_OPTIONS_NAMED = 12
"""A longer list says less: the form shows all of them anyway."""


class Fits(NamedTuple, Generic[T_co]):
    """The reply fits: the content as it can be kept, defaults filled in, and what the author made of it."""

    content: Json
    value: T_co


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """The reply does not fit; at least one problem."""

    problems: tuple[Problem, ...]


def read_content(
    fieldset: FieldSet[T], content: object, dialect: Dialect, *, max_bytes: int = MAX_REPLY_BYTES
) -> Fits[T] | Misfit:
    """Check a reply against what was asked in `dialect`, and build the value."""
    if exceeds_bytes(content, max_bytes):
        return Misfit(problems=(Problem(code="too_large", facts={"most": max_bytes}),))
    if not isinstance(content, dict):
        return Misfit(problems=(Problem(code="not_an_object"),))
    sent = cast("Json", content)
    if dialect is Dialect.UNTITLED:
        sent = _fold_back(fieldset, sent)
    given = {name: value for name, value in sent.items() if not _is_left_empty(fieldset, name, value)}
    checked, problems = _check_fields(fieldset, given)
    if problems:
        return Misfit(problems=tuple(problems[:MAX_PROBLEMS]))
    if fieldset.verbatim is not None:
        checked = _as_sent(fieldset, sent, given, checked, dialect)
    try:
        return Fits(checked, fieldset.build(checked))
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return Misfit(problems=tuple(_objection(fieldset, one) for one in details[:MAX_PROBLEMS]))


def _check_fields(fieldset: FieldSet[Any], given: Json) -> tuple[Json, list[Problem]]:
    checked: Json = {}
    problems: list[Problem] = []
    for name, field in fieldset.fields.items():
        value = given.get(name)
        read = spelled(field.default) if value is None else _check_field(fieldset, name, value)
        if type(read) is Problem:
            problems.append(read)
        elif read is not None:
            checked[name] = read
        elif name in fieldset.required:
            problems.append(Problem(code="missing", field=name, title=field.title))
    return checked, problems


def _is_left_empty(fieldset: FieldSet[Any], name: str, value: Any) -> bool:
    """Whether an empty text or list stands for no answer: where there may be none, and the field cannot hold it."""
    if name not in fieldset.fields or value not in ("", []):
        return False
    has_default, is_required = fieldset.fields[name].default is not None, name in fieldset.required
    # A person who unticks every box has answered, so an empty list is not traded for a default.
    may_be_empty = not is_required and not has_default if value == [] else not is_required or has_default
    return may_be_empty and type(_check_field(fieldset, name, value)) is Problem


def _as_sent(fieldset: FieldSet[Any], sent: Json, given: Json, checked: Json, dialect: Dialect) -> Json:
    """A reply for a host, without the texts that stand for no answer.

    Defaults are filled in for those, and where the schema requires them or they had to be told in words.
    """
    schema = fieldset.verbatim or {}
    if not fieldset.fields:
        return sent
    is_open = schema.get("additionalProperties") is not False
    content = {name: value for name, value in given.items() if name in fieldset.fields or is_open}
    due = {*schema.get("required", ()), *(sent.keys() - given.keys())}
    if dialect is Dialect.UNTITLED:
        due |= {name for name, field in fieldset.fields.items() if needs_other_words(field)}
    filled = {name: value for name, value in checked.items() if name in due and content.get(name) is None}
    return content | filled


def _objection(fieldset: FieldSet[Any], details: ErrorDetails) -> Problem:
    """What pydantic or the author's own validator says, under the field it names."""
    name = str(details["loc"][0]) if details["loc"] else ""
    field = fieldset.fields.get(name)
    raised = details.get("ctx", {}).get("error")
    reason = str(raised) if isinstance(raised, Exception) else details["msg"]
    return Problem(
        code="refused",
        field=None if field is None else name,
        title=None if field is None else field.title,
        facts={"reason": reason[:MAX_REASON_LENGTH]},
    )


def _fold_back(fieldset: FieldSet[Any], given: Json) -> Json:
    """The reply as the titled dialect has it: yes-or-no fields become lists of choices again."""
    several = [(name, field) for name, field in fieldset.fields.items() if isinstance(field, Choices)]
    folded = {folded_name(name, option.value) for name, field in several for option in field.options}
    ticked = {name: _ticked(name, field, given) for name, field in several}
    others = {name: value for name, value in given.items() if name not in folded}
    return others | {name: chosen for name, chosen in ticked.items() if chosen is not None}


def _ticked(name: str, field: Choices, given: Mapping[str, Any]) -> Any:
    ticks = {option.value: given.get(folded_name(name, option.value)) for option in field.options}
    if all(tick is None for tick in ticks.values()):
        return None if field.default is not None or field.optional else []
    filled = field.default or ()
    states = {value: value in filled if tick is None else tick for value, tick in ticks.items()}
    if any(type(state) is not bool for state in states.values()):
        return states
    return [value for value, state in states.items() if state]


# One field

Check = Callable[[Any], Any]
"""A JSON value in; out comes the value to keep, or a Problem. It never raises."""


def check_of(name: str, field: Field[Any]) -> Check:
    """The check for a field's replies."""
    return partial(_check, name, field)


def _check_field(fieldset: FieldSet[Any], name: str, value: Any) -> Any:
    field = fieldset.fields[name]
    read, lenient = _check(name, field, value), _LENIENT.get(type(field))
    if type(read) is not Problem or fieldset.verbatim is None or lenient is None:
        return read
    try:
        return _check(name, field, lenient.validate_python(value))
    except ValidationError:
        return read


_LENIENT: Mapping[type[Field[Any]], SchemaValidator] = {
    Integer: SchemaValidator(core_schema.int_schema()),
    Number: SchemaValidator(core_schema.float_schema()),
    Boolean: SchemaValidator(core_schema.bool_schema()),
}
"""What the hosts take for these in their own calls, since they validate with pydantic: '3' is a number, too."""


def _check(name: str, field: Field[Any], value: Any) -> Any:
    if (
        isinstance(field, Integer)
        and type(value) is float
        and value.is_integer()
        and abs(value) <= _MAX_EXACT_FLOAT
    ):
        value = int(value)
    for rule in next(RULES[kind] for kind in type(field).__mro__ if kind in RULES):
        if not rule.holds(field, value):
            facts = {fact: find(field) for fact, find in rule.facts.items()}
            return Problem(code=rule.code, field=name, title=field.title, facts=facts)
    return value


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """What a value has to be for its field, and the problem with its facts where it is not."""

    code: str
    holds: Callable[[Any, Any], object]
    facts: Mapping[str, Callable[[Any], object]] = dataclasses.field(default_factory=dict[str, Any])


def _is_number(_: Field[Any], value: Any) -> bool:
    return isfinite(value) if type(value) is float else type(value) is int and value.bit_length() < _MAX_BITS


def _is_multiple(field: Number | Integer, value: Any) -> bool:
    step = field.multiple_of
    return step is None or Fraction(str(value)) % Fraction(str(step)) == 0


def _bound(code: str, holds: Callable[[Any, Any], bool], attribute: str, fact: str) -> Rule:
    """The rule of a limit that a field may have: value and limit have to compare as `holds` says."""

    def is_within(field: Field[Any], value: Any) -> bool:
        bound = getattr(field, attribute, None)
        return bound is None or holds(value, bound)

    return Rule(code, is_within, {fact: operator.attrgetter(attribute)})


@lru_cache(maxsize=512)
def matcher_of(pattern: str) -> Callable[[str], bool]:
    """Whether the pattern is found in a text, in linear time; `SchemaError` if the pattern cannot promise that."""
    return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python


def _are_options(field: Choice | Choices, chosen: Iterable[Any]) -> bool:
    values = {option.value for option in field.options}
    return all(type(one) is str and one in values for one in chosen)


def _named_options(field: Choice | Choices) -> str:
    named = [option.shown for option in field.options[:_MAX_OPTIONS_NAMED]]
    return ", ".join(named) + (", …" if len(field.options) > _MAX_OPTIONS_NAMED else "")


_RANGE = (
    Rule("not_a_number", _is_number),
    _bound("too_low", operator.ge, "minimum", "least"),
    _bound("not_above", operator.gt, "above", "bound"),
    _bound("too_high", operator.le, "maximum", "most"),
    _bound("not_below", operator.lt, "below", "bound"),
    Rule("not_a_multiple", _is_multiple, {"step": operator.attrgetter("multiple_of")}),
)

RULES: Mapping[type[Field[Any]], tuple[Rule, ...]] = {
    Text: (
        Rule("not_text", lambda _, value: type(value) is str),
        Rule("broken_text", lambda _, value: is_readable(value)),
        _bound("too_short", lambda value, least: len(value) >= least, "min_length", "least"),
        _bound("too_long", lambda value, most: len(value) <= most, "max_length", "most"),
        Rule("not_an_email", lambda field, value: not isinstance(field, Email) or is_email(value)),
        Rule("not_a_url", lambda field, value: not isinstance(field, Url) or is_url(value)),
        Rule("wrong_pattern", lambda field, value: field.pattern is None or matcher_of(field.pattern)(value)),
    ),
    Date: (Rule("not_a_date", lambda _, value: type(value) is str and as_date(value)),),
    DateTime: (Rule("not_a_date_time", lambda _, value: type(value) is str and as_date_time(value)),),
    Number: _RANGE,
    Integer: (Rule("not_whole", lambda _, value: type(value) is not float), *_RANGE),
    Boolean: (Rule("not_yes_or_no", lambda _, value: type(value) is bool),),
    Choice: (
        Rule("not_an_option", lambda field, value: _are_options(field, [value]), {"options": _named_options}),
    ),
    Choices: (
        Rule("not_a_list", lambda _, value: type(value) is list),
        Rule("not_an_option", _are_options, {"options": _named_options}),
        Rule("chosen_twice", lambda _, value: len(set(value)) == len(value)),
        _bound("too_few", lambda value, least: len(value) >= least, "least", "least"),
        _bound("too_many", lambda value, most: len(value) <= most, "most", "most"),
    ),
}
