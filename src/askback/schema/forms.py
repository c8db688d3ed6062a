"""From what an author asks with to a FieldSet, and with a message to a Form."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar, cast, overload

from typing_extensions import TypeForm

from askback.errors import QuestionRefused
from askback.model.question import Choice, Choices, Field, FieldSet, Form
from askback.schema.adapter import wire_name
from askback.schema.fieldsets import fill_in, of_field, of_fields, of_schema, of_type
from askback.schema.message import examine_message, examine_meta
from askback.schema.refusals import require

T = TypeVar("T")


@overload
def fieldset_of(what: FieldSet[T]) -> FieldSet[T]: ...
@overload
def fieldset_of(what: Field[T]) -> FieldSet[T]: ...
@overload
def fieldset_of(what: Mapping[str, Any]) -> FieldSet[dict[str, Any]]: ...
@overload
def fieldset_of(what: TypeForm[T]) -> FieldSet[T]: ...
def fieldset_of(what: Any) -> FieldSet[Any]:
    """The fields for a type, a field, a mapping of fields or a JSON Schema; the same object while it is cached."""
    if isinstance(what, FieldSet):
        return cast("FieldSet[Any]", what)
    if isinstance(what, Field):
        return of_field(cast("Field[Any]", what))
    if isinstance(what, Mapping):
        return _of_mapping(cast("Mapping[Any, Any]", what))
    return of_type(what)


def _of_mapping(what: Mapping[Any, Any]) -> FieldSet[Any]:
    strange = next((name for name, one in what.items() if not isinstance(one, Field)), None)
    if strange is None:
        return of_fields(what)
    if what.get("type") == "object" or "properties" in what:
        return of_schema(what)
    raise QuestionRefused(
        field=str(strange),
        problem=f"{what[strange]!r} is not a field",
        instead=(
            "write Text(), Integer(), Choice([...]) or another field; as JSON Schema, write that of an object: "
            "{'type': 'object', 'properties': {...}}"
        ),
    )


def form_of(
    message: str, what: Any, *, initial: object = None, meta: Mapping[str, Any] | None = None
) -> Form[Any]:
    """A question that can be put; raises QuestionRefused where it could never be shown."""
    fieldset: FieldSet[Any] = fieldset_of(what)
    if initial is not None:
        fieldset = fill_in(fieldset, initial)
    if meta is not None:
        examine_meta(meta)
    examine_message(message, fieldset)
    return Form(message=message, fieldset=fieldset, meta=meta)


def fieldset_of_options(
    options: Mapping[Any, str] | Iterable[Any], *, multiple: bool, least: int | None, most: int | None
) -> FieldSet[Any]:
    """One of the options, or a list of them, made in the way of a `Literal` that an author wrote."""
    values = _values(options)
    titles = cast("Mapping[Any, str]", options) if isinstance(options, Mapping) else None
    spellings = [wire_name(value) for value in values]
    require(
        len(set(spellings)) == len(spellings),
        problem=f"{options!r} offers the same option twice",
        instead="name each option once",
    )
    named = spellings if titles is None else dict(zip(spellings, titles.values(), strict=True))
    one: Any = Literal[values]
    if multiple:
        several: Any = Annotated[list[one], Choices(named, least=least, most=most)]
        return fieldset_of(several)
    require(
        least is None and most is None,
        problem="least and most bound how many are chosen, and here one is",
        instead="say multiple=True, or leave them out",
    )
    titled: Any = one if titles is None else Annotated[one, Choice(named)]
    return fieldset_of(titled)


def _values(options: Mapping[Any, str] | Iterable[Any]) -> tuple[Any, ...]:
    values = () if isinstance(options, str) else tuple(options)
    require(
        values and all(isinstance(value, str | int | Enum) for value in values),
        problem=f"{options!r} is not a list of options",
        instead="give a list of strings, whole numbers or Enum members, or a dict of them with their titles",
    )
    return values
