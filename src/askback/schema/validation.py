"""From a raw reply to the author's value, or to what does not fit. Strict, and raises on no JSON value.

Fields that were not asked for are dropped and never reach the body. A null counts as left empty, and so does "" or []
where the field may be left empty and could not hold that anyway.

What a host's own call asked for reaches the host as it was sent, if it fits: surplus fields, nulls, and numbers
written as text are the host's to judge.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar, cast

from pydantic_core import ErrorDetails, SchemaValidator, ValidationError, core_schema

from askback.model.annotation import Json
from askback.model.fields import spelled
from askback.model.question import Boolean, Choices, Field, FieldSet, Integer, Number
from askback.model.texts import Problem
from askback.schema.checks import check_of
from askback.schema.dialect import Dialect, folded_name, needs_other_words
from askback.schema.size import exceeds_bytes

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

MAX_REPLY_BYTES = 65_536
"""A form filled in by hand is a hundred times smaller; more is an accident or an attack."""

MAX_PROBLEMS = 10
"""Nobody reads an eleventh complaint."""

MAX_REASON_LENGTH = 500
"""Characters of an author's own objection that go into a message."""


class Fits(NamedTuple, Generic[T_co]):
    """The reply fits: the content as it can be kept, defaults filled in, and what the author made of it."""

    content: Json
    value: T_co


@dataclass(frozen=True, slots=True, kw_only=True)
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
    given = cast("Json", content)
    if dialect is Dialect.UNTITLED:
        given = _folded_back(fieldset, given)
    checked, problems = _check(fieldset, given)
    if problems:
        return Misfit(problems=tuple(problems[:MAX_PROBLEMS]))
    return _build(
        fieldset, checked if fieldset.verbatim is None else _as_sent(fieldset, given, checked, dialect)
    )


def _as_sent(fieldset: FieldSet[Any], given: Json, checked: Json, dialect: Dialect) -> Json:
    """A reply for a host. Left out is an empty text that its field cannot hold; filled in are defaults that the schema
    requires, or that had to be told in words."""
    schema = fieldset.verbatim
    if not schema or not fieldset.fields:
        return given
    required, is_closed = schema.get("required", ()), schema.get("additionalProperties") is False
    empty = {
        name for name in fieldset.fields if name in given and _is_left_empty(fieldset, name, given[name])
    }
    content = {
        name: value
        for name, value in given.items()
        if name not in empty and (name in fieldset.fields or not is_closed)
    }
    for name, value in checked.items():
        is_due = name in empty or name in required or _is_told(fieldset, name, dialect)
        if is_due and content.get(name) is None:
            content[name] = value
    return content


def _is_told(fieldset: FieldSet[Any], name: str, dialect: Dialect) -> bool:
    return dialect is Dialect.UNTITLED and needs_other_words(fieldset.fields[name])


def _check(fieldset: FieldSet[Any], given: Json) -> tuple[Json, list[Problem]]:
    checked: Json = {}
    problems: list[Problem] = []
    for name, field in fieldset.fields.items():
        value = given.get(name)
        if value is None or _is_left_empty(fieldset, name, value):
            if field.default is not None:
                checked[name] = spelled(field.default)
            elif name in fieldset.required:
                problems.append(Problem(code="missing", field=name, title=field.title))
            continue
        read = _check_field(fieldset, name, value)
        if type(read) is Problem:
            problems.append(read)
        else:
            checked[name] = read
    return checked, problems


def _is_left_empty(fieldset: FieldSet[Any], name: str, value: Any) -> bool:
    """Whether an empty text or list stands for no answer: where there may be none, and the field cannot hold it."""
    has_default, is_required = fieldset.fields[name].default is not None, name in fieldset.required
    if value == "":
        may_be_empty = has_default or not is_required
    else:
        # A person who unticks every box has answered, so an empty list is not traded for a default.
        may_be_empty = value == [] and not has_default and not is_required
    return may_be_empty and type(_check_field(fieldset, name, value)) is Problem


def _check_field(fieldset: FieldSet[Any], name: str, value: Any) -> Any:
    field = fieldset.fields[name]
    check, lenient = check_of(name, field), _LENIENT.get(type(field))
    read = check(value)
    if type(read) is not Problem or fieldset.verbatim is None or lenient is None:
        return read
    try:
        return check(lenient.validate_python(value))
    except ValidationError:
        return read


_LENIENT: Mapping[type[Field[Any]], SchemaValidator] = {
    Integer: SchemaValidator(core_schema.int_schema()),
    Number: SchemaValidator(core_schema.float_schema()),
    Boolean: SchemaValidator(core_schema.bool_schema()),
}
"""What the hosts take for these in their own calls, since they validate with pydantic: '3' is a number, too."""


def _build(fieldset: FieldSet[T], checked: Json) -> Fits[T] | Misfit:
    try:
        return Fits(checked, fieldset.build(checked))
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return Misfit(problems=tuple(_objection(fieldset, one) for one in details[:MAX_PROBLEMS]))


def _objection(fieldset: FieldSet[Any], details: ErrorDetails) -> Problem:
    """What pydantic or the author's own validator says, under the field it names."""
    name = str(details["loc"][0]) if details["loc"] else None
    field = fieldset.fields.get(name) if name is not None else None
    raised = details.get("ctx", {}).get("error")
    reason = str(raised) if isinstance(raised, Exception) else details["msg"]
    return Problem(
        code="refused",
        field=name if field is not None else None,
        title=field.title if field is not None else None,
        facts={"reason": reason[:MAX_REASON_LENGTH]},
    )


def _folded_back(fieldset: FieldSet[Any], given: Json) -> Json:
    """The reply as the titled dialect has it: yes-or-no fields become lists of choices again."""
    several = [(name, field) for name, field in fieldset.fields.items() if isinstance(field, Choices)]
    if not several:
        return given
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
