"""From a raw reply to the author's value, or to what does not fit. Strict, and raises on no JSON value.

Fields that were not asked for are dropped and never reach the body. A null counts as left empty, and so does "" or []
where the field may be left empty and could not hold that anyway.

What a host's own call asked for reaches the host as it was sent, if it fits: surplus fields, nulls, and numbers
written as text are the host's to judge.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar, cast

from pydantic_core import ErrorDetails, SchemaValidator, ValidationError, core_schema

from askback.model.annotation import Json
from askback.model.fields import spelled
from askback.model.question import Boolean, Choices, Field, FieldSet, Integer, Number
from askback.model.texts import Problem
from askback.schema.checks import Check, checks_of
from askback.schema.dialect import Dialect, folded_name, needs_other_words
from askback.schema.size import exceeds_bytes

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

MAX_REPLY_BYTES = 65_536
"""A form filled in by hand is a hundred times smaller; more is an accident or an attack."""

_MOST_PROBLEMS = 10
"""Nobody reads an eleventh complaint."""

_MOST_REASON = 500
"""Characters of an author's own objection that go into a message."""

_KEPT = 1024


class Fits(NamedTuple, Generic[T_co]):
    """The reply fits: the content as it can be kept, defaults filled in, and what the author made of it."""

    content: Json
    value: T_co


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """The reply does not fit; at least one problem."""

    problems: tuple[Problem, ...]


class _Slot(NamedTuple):
    """One field, made ready for reading replies. A tuple, because every reply unpacks it."""

    name: str
    check: Check
    default: Any
    missing: Problem | None
    ignores: tuple[Any, ...]


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
    checked, problems = _check(_slots(fieldset), given)
    if problems:
        return Misfit(problems=tuple(problems[:_MOST_PROBLEMS]))
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
    ignored = {
        slot.name for slot in _slots(fieldset) if slot.ignores and given.get(slot.name) in slot.ignores
    }
    kept = {
        name: value
        for name, value in given.items()
        if name not in ignored and (name in fieldset.fields or not is_closed)
    }
    for name, value in checked.items():
        is_due = name in ignored or name in required or _is_told(fieldset, name, dialect)
        if is_due and kept.get(name) is None:
            kept[name] = value
    return kept


def _is_told(fieldset: FieldSet[Any], name: str, dialect: Dialect) -> bool:
    return dialect is Dialect.UNTITLED and needs_other_words(fieldset.fields[name])


def _check(slots: tuple[_Slot, ...], given: Json) -> tuple[Json, list[Problem]]:
    checked: Json = {}
    problems: list[Problem] = []
    for name, check, default, missing, ignores in slots:
        value = given.get(name)
        if value is None or (ignores and value in ignores):
            if default is not None:
                checked[name] = [*default] if type(default) is list else default
            elif missing is not None:
                problems.append(missing)
            continue
        kept = check(value)
        if type(kept) is Problem:
            problems.append(kept)
        else:
            checked[name] = kept
    return checked, problems


def _build(fieldset: FieldSet[T], checked: Json) -> Fits[T] | Misfit:
    try:
        return Fits(checked, fieldset.build(checked))
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return Misfit(problems=tuple(_objection(fieldset, one) for one in details[:_MOST_PROBLEMS]))


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
        facts={"reason": reason[:_MOST_REASON]},
    )


@lru_cache(maxsize=_KEPT)
def _slots(fieldset: FieldSet[Any]) -> tuple[_Slot, ...]:
    return tuple(
        _slot(name, field, check, is_required=name in fieldset.required)
        for (name, field), check in zip(fieldset.fields.items(), _checks(fieldset), strict=True)
    )


def _checks(fieldset: FieldSet[Any]) -> list[Check]:
    strict = checks_of(fieldset)
    if fieldset.verbatim is None:
        return list(strict.values())
    return [_lenient(strict[name], _LENIENT.get(type(field))) for name, field in fieldset.fields.items()]


_LENIENT: Mapping[type[Field[Any]], SchemaValidator] = {
    Integer: SchemaValidator(core_schema.int_schema()),
    Number: SchemaValidator(core_schema.float_schema()),
    Boolean: SchemaValidator(core_schema.bool_schema()),
}
"""What the hosts take for these, since they validate with pydantic: '3' is a number, too."""


def _lenient(check: Check, validator: SchemaValidator | None) -> Check:
    if validator is None:
        return check

    def check_twice(value: Any) -> Any:
        kept = check(value)
        if type(kept) is not Problem:
            return kept
        try:
            return check(validator.validate_python(value))
        except ValidationError:
            return kept

    return check_twice


def _slot(name: str, field: Field[Any], check: Check, *, is_required: bool) -> _Slot:
    has_default = field.default is not None
    # Whoever unticks every box has answered, so an empty list is not traded for a default.
    empties: list[Any] = [
        *([""] if has_default or not is_required else []),
        *([] if has_default or is_required else [[]]),
    ]
    return _Slot(
        name=name,
        check=check,
        default=spelled(field.default),
        missing=Problem(code="missing", field=name, title=field.title) if is_required else None,
        ignores=tuple(empty for empty in empties if type(check(empty)) is Problem),
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
