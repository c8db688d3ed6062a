"""How each kind of `what` becomes a Sheet: its fields, and how their values are built. Made once and kept.

All but field objects go one road: JSON Schema, `keywords`, `rules`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, Literal, cast, get_args, get_origin

from askback.errors import QuestionRefused
from askback.model.annotation import Json
from askback.model.question import SINGLE, Field, Sheet
from askback.schema.adapter import ATTRIBUTES, describe_type
from askback.schema.initial import digest_of_fields, fill_in_defaults
from askback.schema.keywords import FieldEntry, definitions_of, entries_of, entry_of
from askback.schema.rules import accept_title, examine_entries
from askback.schema.size import exceeds_bytes
from askback.schema.values import Meanings, from_wire, python_values

Make = Callable[[Json], Any]
"""Values by name, the choices' meanings already in place; out comes what the author gets."""

MAX_SCHEMA_BYTES = 262_144
"""A hundred fields with long descriptions take a tenth of this."""

_KEPT = 512
"""Sheets kept of each kind; beyond, the one used longest ago is made anew."""


def of_type(what: Any) -> Sheet[Any]:
    """A pydantic model, dataclass, TypedDict or scalar type."""
    if isinstance(what, type):
        return _of_type(what, "")
    # Literals in another order are equal, but show their choices in another order: that is part of the key.
    return _kept(_of_type, what, get_args(what) if get_origin(what) is Literal else repr(what))


def of_field(field: Field[Any]) -> Sheet[Any]:
    """One field; its value comes bare."""
    return _kept(_of_field, field)


def of_fields(fields: Mapping[Any, Field[Any]]) -> Sheet[Any]:
    """Fields by name; the value is a dict that has every name."""
    return _kept(_of_fields, tuple(fields.items()))


def of_schema(schema: Mapping[Any, Any]) -> Sheet[Any]:
    """A restricted JSON Schema; the value is a dict as on the wire."""
    return _of_schema(json_of(schema))


def has_text_options_only(schema: Mapping[Any, Any]) -> bool:
    """Whether each option of a JSON Schema is a text, so that a reply is the same in the form's words and in the
    author's."""
    return not any(_differ(entry.meanings) for entry in entries_of(schema).values())


def json_of(schema: Mapping[Any, Any]) -> str:
    """A schema as JSON; raises `QuestionRefused` where it is none, or too large."""
    if exceeds_bytes(dict(schema), MAX_SCHEMA_BYTES):
        raise QuestionRefused(
            field=None,
            problem=f"the JSON Schema is larger than {MAX_SCHEMA_BYTES} bytes",
            instead="ask for less at a time",
        )
    try:
        return json.dumps(schema)
    except (TypeError, ValueError, RecursionError) as error:
        raise QuestionRefused(
            field=None,
            problem=f"the JSON Schema is not JSON: {error}",
            instead="use dicts, lists, texts and numbers",
        ) from error


def _kept(make: Any, *what: Any) -> Sheet[Any]:
    try:
        return make(*what)
    except TypeError:  # what cannot be hashed is made anew each time
        return make.__wrapped__(*what)


@lru_cache(maxsize=_KEPT)
def _of_type(what: Any, _: object) -> Sheet[Any]:
    schema, make = describe_type(what)
    definitions = definitions_of(schema)
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], "$defs": definitions}
    if schema.get("type") == "object":
        return _sheet(_titled(entries_of(schema)), make, attributes=schema.get(ATTRIBUTES, {}))
    entries = {SINGLE: entry_of(SINGLE, schema, definitions, is_listed=True)}
    return _sheet(entries, lambda values: make(values.get(SINGLE)), attributes=None)


@lru_cache(maxsize=_KEPT)
def _of_field(field: Field[Any]) -> Sheet[Any]:
    return _sheet(
        _entries({SINGLE: field}), lambda values: _value(field, values.get(SINGLE)), attributes=None
    )


@lru_cache(maxsize=_KEPT)
def _of_fields(items: tuple[tuple[str, Field[Any]], ...]) -> Sheet[Any]:
    return _sheet(
        _entries(dict(items)),
        lambda values: {name: _value(field, values.get(name)) for name, field in items},
        attributes={name: name for name, _ in items},
    )


@lru_cache(maxsize=_KEPT)
def _of_schema(canonical: str) -> Sheet[Any]:
    schema = json.loads(canonical)
    entries = entries_of(schema)
    sheet = _sheet(entries, _copied, attributes={name: name for name in entries})
    return replace(sheet, title=accept_title(schema.get("title")))


def _titled(entries: Mapping[str, FieldEntry]) -> dict[str, FieldEntry]:
    """Names in code are for those who read it: people get words."""
    return {
        name: entry
        if entry.field.title is not None
        else replace(entry, field=entry.field.altered(title=name.replace("_", " ").title().strip() or None))
        for name, entry in entries.items()
    }


def _entries(fields: Mapping[str, Field[Any]]) -> dict[str, FieldEntry]:
    return {
        name: FieldEntry(field=field, is_required=not field.optional and field.default is None)
        for name, field in fields.items()
    }


def _value(field: Field[Any], value: Any) -> Any:
    return None if value is None else from_wire(field, value)


def _copied(values: Json) -> Json:
    return {
        name: list(cast("list[Any]", one)) if isinstance(one, list) else one for name, one in values.items()
    }


def _sheet(
    entries: Mapping[str, FieldEntry], make: Make, *, attributes: Mapping[str, str] | None
) -> Sheet[Any]:
    known = examine_entries(entries)
    fields = {name: entry.field for name, entry in known.items()}
    required = frozenset(name for name, entry in known.items() if entry.is_required)
    meanings = {name: entry.meanings for name, entry in known.items() if _differ(entry.meanings)}
    nulls = tuple(name for name, entry in known.items() if entry.is_null_when_empty)
    return Sheet(
        fields=MappingProxyType(fields),
        required=required,
        build=partial(_built, make, meanings, nulls),
        refill=partial(fill_in_defaults, (attributes, meanings)),
        digest=digest_of_fields(fields, required),
    )


def _differ(meanings: Meanings) -> bool:
    """Whether anything is meant but the spelling itself; plain text needs no translation."""
    return any(type(meaning) is not str or meaning != spelling for spelling, meaning in meanings.items())


def _built(
    make: Make, meanings: Mapping[str, Meanings], nulls: tuple[str, ...], content: Mapping[str, Any]
) -> Any:
    values = dict(content)
    for name in nulls:
        values.setdefault(name, None)
    for name, known in meanings.items():
        if values.get(name) is not None:
            values[name] = python_values(values[name], known)
    return make(values)
