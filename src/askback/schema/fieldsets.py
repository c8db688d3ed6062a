"""How each kind of `what` becomes a FieldSet: its fields, and how their values are made. Made once and cached.

Everything that is not written with field objects goes one road: JSON Schema, `keywords`, `rules`.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, cast, get_args, get_origin

from askback.errors import QuestionRefused
from askback.model.annotation import Json
from askback.model.form import digest_of
from askback.model.question import SINGLE, Field, FieldSet
from askback.schema.adapter import ATTRIBUTES, describe_type
from askback.schema.keywords import FieldEntry, definitions_of, entries_of, entry_of
from askback.schema.refusals import require
from askback.schema.rules import accept_title, examine_entries, fitting_default
from askback.schema.values import Meanings, as_default, from_wire

MAX_SCHEMA_BYTES = 262_144
"""A hundred fields with long descriptions take a tenth of this."""

CACHE_SIZE = 512
"""FieldSets cached of each kind."""


def of_type(what: Any) -> FieldSet[Any]:
    """A pydantic model, dataclass, TypedDict or scalar type."""
    # Literals in another order are equal, but show their choices in another order: that is part of the key.
    return _cached(_of_type, what, get_args(what) if get_origin(what) is Literal else repr(what))


def of_field(field: Field[Any]) -> FieldSet[Any]:
    """One field; its value comes bare."""
    return _cached(_of_field, field)


def of_fields(fields: Mapping[Any, Field[Any]]) -> FieldSet[Any]:
    """Fields by name; the value is a dict that has every name."""
    return _cached(_of_fields, tuple(fields.items()))


def of_schema(schema: Mapping[Any, Any]) -> FieldSet[Any]:
    """A restricted JSON Schema; the value is a dict as on the wire."""
    return _of_schema(json_of(schema))


def has_text_options_only(schema: Mapping[Any, Any]) -> bool:
    """Whether each option of a JSON Schema is a text, so that a reply is the same in the form's words and in the
    author's."""
    return not any(_differ(entry.meanings) for entry in entries_of(schema).values())


def json_of(schema: Mapping[Any, Any]) -> str:
    """A schema as JSON; raises `QuestionRefused` where it is none, or too large."""
    try:
        written = json.dumps(schema, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise QuestionRefused(
            field=None,
            problem=f"the JSON Schema is not JSON: {error}",
            instead="use dicts, lists, texts and numbers",
        ) from error
    require(
        len(written.encode("utf-8", "surrogatepass")) <= MAX_SCHEMA_BYTES,
        problem=f"the JSON Schema is larger than {MAX_SCHEMA_BYTES} bytes",
        instead="ask for less at a time",
    )
    return written


def _cached(make: Any, *what: Any) -> FieldSet[Any]:
    try:
        return make(*what)
    except TypeError:  # what cannot be hashed is not cached
        return make.__wrapped__(*what)


@lru_cache(maxsize=CACHE_SIZE)
def _of_type(what: Any, _: object) -> FieldSet[Any]:
    schema, make = describe_type(what)
    definitions = definitions_of(schema)
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], "$defs": definitions}
    if schema.get("type") == "object":
        return _fieldset(_titled(entries_of(schema)), make, attributes=schema.get(ATTRIBUTES, {}))
    entries = {SINGLE: entry_of(SINGLE, schema, definitions, is_listed=True)}
    return _fieldset(entries, lambda values: make(values.get(SINGLE)))


@lru_cache(maxsize=CACHE_SIZE)
def _of_field(field: Field[Any]) -> FieldSet[Any]:
    return _fieldset(_entries({SINGLE: field}), lambda values: _value(field, values.get(SINGLE)))


@lru_cache(maxsize=CACHE_SIZE)
def _of_fields(items: tuple[tuple[str, Field[Any]], ...]) -> FieldSet[Any]:
    return _fieldset(
        _entries(dict(items)),
        lambda values: {name: _value(field, values.get(name)) for name, field in items},
        attributes={name: name for name, _ in items},
    )


@lru_cache(maxsize=CACHE_SIZE)
def _of_schema(canonical: str) -> FieldSet[Any]:
    schema = json.loads(canonical)
    entries = entries_of(schema)
    fieldset = _fieldset(entries, _copied, attributes={name: name for name in entries})
    return replace(fieldset, title=accept_title(schema.get("title")))


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


def _fieldset(
    entries: Mapping[str, FieldEntry],
    make: Callable[[Json], Any],
    *,
    attributes: Mapping[str, str] | None = None,
) -> FieldSet[Any]:
    known = examine_entries(entries)
    fields = {name: entry.field for name, entry in known.items()}
    required = frozenset(name for name, entry in known.items() if entry.is_required)
    return FieldSet(
        fields=MappingProxyType(fields),
        required=required,
        make=make,
        attributes=attributes,
        meanings={name: entry.meanings for name, entry in known.items() if _differ(entry.meanings)},
        nulls=tuple(name for name, entry in known.items() if entry.is_null_when_empty),
        digest=_digest_of(fields, required),
    )


def _differ(meanings: Meanings) -> bool:
    """Whether anything is meant but the spelling itself; plain text needs no translation."""
    return any(type(meaning) is not str or meaning != spelling for spelling, meaning in meanings.items())


def _digest_of(fields: Mapping[str, Field[Any]], required: frozenset[str]) -> str:
    """A digest of what is asked, in its order; excuses are no part of it."""
    asked = [
        [name, name in required, {key: one for key, one in field.keywords().items() if key != "notASecret"}]
        for name, field in fields.items()
    ]
    return digest_of(json.dumps(asked, sort_keys=True, separators=(",", ":")))


def fill_in(fieldset: FieldSet[Any], values: object) -> FieldSet[Any]:
    """The fields with this call's values for defaults: a mapping by name, an instance, or the bare value of a single
    field. What is required stays so."""
    fields = dict(fieldset.fields)
    for name, value in _named(fieldset.attributes, values):
        if value is not None:
            field, meanings = fields[name], fieldset.meanings.get(name, {})
            default = fitting_default(name, field, value, meanings, said="the initial value")
            fields[name] = field.altered(default=as_default(field, default))
    digest = _digest_of(fields, fieldset.required)
    return replace(fieldset, fields=MappingProxyType(fields), digest=digest)


def _named(attributes: Mapping[str, str] | None, values: Any) -> Iterator[tuple[str, Any]]:
    """Values by the names of their fields on the wire."""
    if attributes is None:
        yield SINGLE, values
    elif isinstance(values, Mapping):
        names = {attribute: name for name, attribute in attributes.items()}
        names |= {name: name for name in attributes}
        for given, value in cast("Mapping[Any, Any]", values).items():
            require(
                given in names,
                field=str(given),
                problem="there is an initial value for it, but no such field",
                instead=f"use the names {', '.join(attributes)}",
            )
            yield names[given], value
    elif any(hasattr(values, attribute) for attribute in attributes.values()):
        yield from ((name, getattr(values, attribute, None)) for name, attribute in attributes.items())
    else:
        raise QuestionRefused(
            field=None,
            problem=f"the initial values came as {type(values).__name__}",
            instead=f"give a dict with the names {', '.join(attributes)}, or an instance of what is asked for",
        )
