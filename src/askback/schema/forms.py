"""From whatever an author asks with to a FieldSet, and with a message to a Form."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar, cast, overload

from typing_extensions import TypeForm

from askback.errors import QuestionRefused
from askback.model.question import Field, FieldSet, Form
from askback.schema.fieldsets import of_field, of_fields, of_schema, of_type
from askback.schema.message import examine_message, examine_meta

T = TypeVar("T")

_KEPT = 512
"""Forms kept: a body that is replayed asks the same again, and so does the next call."""

_LONGEST_KEPT = 500
"""Characters of a message; longer ones are made anew, so that what is kept stays small."""


@overload
def fieldset_of(what: FieldSet[T]) -> FieldSet[T]: ...
@overload
def fieldset_of(what: Field[T]) -> FieldSet[T]: ...
@overload
def fieldset_of(what: Mapping[str, Any]) -> FieldSet[dict[str, Any]]: ...
@overload
def fieldset_of(what: TypeForm[T]) -> FieldSet[T]: ...
def fieldset_of(what: Any) -> FieldSet[Any]:
    """The fieldset for a type, a field, a mapping of fields or a JSON Schema; the same object while it is kept."""
    if isinstance(what, type):
        return of_type(what)
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


@overload
def form_of(
    message: str, what: FieldSet[T], *, initial: object = None, meta: Mapping[str, Any] | None = None
) -> Form[T]: ...
@overload
def form_of(
    message: str, what: Field[T], *, initial: object = None, meta: Mapping[str, Any] | None = None
) -> Form[T]: ...
@overload
def form_of(
    message: str, what: Mapping[str, Any], *, initial: object = None, meta: Mapping[str, Any] | None = None
) -> Form[dict[str, Any]]: ...
@overload
def form_of(
    message: str, what: TypeForm[T], *, initial: object = None, meta: Mapping[str, Any] | None = None
) -> Form[T]: ...
def form_of(
    message: str, what: Any, *, initial: object = None, meta: Mapping[str, Any] | None = None
) -> Form[Any]:
    """A question that can be put; raises QuestionRefused where it could never be shown."""
    is_kept = meta is None and isinstance(message, str) and len(message) <= _LONGEST_KEPT  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
    if is_kept and initial is None and isinstance(what, type):
        return _kept_of_type(message, what)
    fieldset: FieldSet[Any] = fieldset_of(what)
    if initial is not None:
        fieldset = fieldset.with_initial(initial)
    if is_kept:
        return _kept(message, fieldset)
    if meta is not None:
        examine_meta(meta)
    return _made(message, fieldset, meta)


@lru_cache(maxsize=_KEPT)
def _kept_of_type(message: str, what: type[Any]) -> Form[Any]:
    return _made(message, of_type(what), None)


@lru_cache(maxsize=_KEPT)
def _kept(message: str, fieldset: FieldSet[Any]) -> Form[Any]:
    return _made(message, fieldset, None)


def _made(message: str, fieldset: FieldSet[Any], meta: Mapping[str, Any] | None) -> Form[Any]:
    examine_message(message, fieldset)
    return Form(message=message, fieldset=fieldset, meta=meta)
