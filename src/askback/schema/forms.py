"""A Form from what an author asks with: a message, and a FieldSet made of types, fields or a JSON Schema.

Refused when it is made if it could never be shown. FieldSets are made once and cached. Everything that is not written
with field objects goes one way: JSON Schema, `keywords`, `rules`.
"""

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, cast, get_args, get_origin

from askback.errors.questions import QuestionRefused, require
from askback.errors.roots import AskbackWarning
from askback.model.fields import Json
from askback.model.form import digest_of
from askback.model.question import SINGLE, Choice, Choices, Field, FieldSet, Form
from askback.schema.adapter import ATTRIBUTES, describe_type, wire_name
from askback.schema.keywords import FieldEntry, definitions_of, entries_of, entry_of
from askback.schema.rules import URL, accept_title, examine_entries, fitting_default, refuse_suspicion
from askback.schema.secret_lint import suspect_message
from askback.schema.size import MAX_DEPTH, exceeds_depth
from askback.schema.values import as_default, from_wire, is_readable

MAX_MESSAGE_LENGTH = 10_000
"""Characters. A longer question is a document; nobody reads it in a dialog."""

MESSAGE_CACHE_SIZE = 128
"""Messages and forms that are cached: a body that is replayed asks the same questions again."""

MAX_SCHEMA_BYTES = 262_144
"""A hundred fields with long descriptions take a tenth of this."""

CACHE_SIZE = 512
"""FieldSets cached of each kind."""


def form_of(
    message: str, what: Any, *, initial: object = None, meta: Mapping[str, Any] | None = None
) -> Form[Any]:
    """A question that can be asked; raises `QuestionRefused` if it could never be shown."""
    fieldset: FieldSet[Any] = fieldset_of(what)
    require_message(message)
    if initial is None and meta is None and "://" not in message:
        return _form_of(message, fieldset)
    if initial is not None:
        fieldset = fill_in(fieldset, initial)
    return make_form(message, fieldset, meta, is_typed=_is_typed(fieldset))


@lru_cache(maxsize=MESSAGE_CACHE_SIZE)
def _form_of(message: str, fieldset: FieldSet[Any]) -> Form[Any]:
    return make_form(message, fieldset, None, is_typed=_is_typed(fieldset))


def _is_typed(fieldset: FieldSet[Any]) -> bool:
    """Whether something is typed into it that could be a secret."""
    return any(field.is_typed and field.not_a_secret is None for field in fieldset.fields.values())


def make_form(
    message: str, fieldset: FieldSet[Any], meta: Mapping[str, Any] | None, *, is_typed: bool
) -> Form[Any]:
    """A form with this message, which may ask for a secret only if nothing is typed into the form."""
    if meta is not None:
        require_meta(meta)
    if "://" in message and URL.search(message):
        warnings.warn(
            "A form's message holds a URL, and a form is no place for links: clients should not make it clickable.",
            AskbackWarning,
            stacklevel=6,  # the code that awaits ask(...)
        )
    if is_typed:
        _refuse_fishing(message)
    return Form(message=message, fieldset=fieldset, meta=meta)


def require_message(message: Any) -> None:
    """Refuse a message that could not be shown."""
    _examine_message(message if isinstance(message, str) else "")


@lru_cache(maxsize=MESSAGE_CACHE_SIZE)
def _examine_message(message: str) -> None:
    require(
        message.strip(),
        problem="the message is not a text that says something",
        instead="say what is asked, and why",
    )
    require_readable(message)
    require(
        len(message) <= MAX_MESSAGE_LENGTH,
        problem=f"the message has {len(message)} characters, and {MAX_MESSAGE_LENGTH} is the most",
        instead="ask for one thing, briefly",
    )


def require_readable(message: str) -> None:
    """Refuse a message that cannot be sent."""
    require(is_readable(message), problem="the message is not Unicode text", instead="decode it as UTF-8")


@lru_cache(maxsize=MESSAGE_CACHE_SIZE)
def _refuse_fishing(message: str) -> None:
    refuse_suspicion(None, suspect_message(message))


def require_meta(meta: Mapping[str, Any]) -> None:
    """Refuse what cannot be sent beside a question."""
    require(
        not exceeds_depth(meta),
        problem=f"meta is nested too deeply, over {MAX_DEPTH} levels",
        instead="give a flatter dict of JSON values",
    )
    try:
        json.dumps(meta, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise QuestionRefused(
            field=None,
            problem=f"meta cannot be written as JSON: {error}",
            instead="give a dict of JSON values",
        ) from error


# The fields


def fieldset_of(what: Any) -> FieldSet[Any]:
    """The fields for a type, a field, a mapping of fields or a JSON Schema; the same object while it is cached."""
    if isinstance(what, FieldSet):
        return cast("FieldSet[Any]", what)
    if isinstance(what, Field):
        return _cached(_of_field, what)
    if isinstance(what, Mapping):
        return _of_mapping(cast("Mapping[Any, Any]", what))
    # Literals in another order are equal, but show their choices in another order: that is part of the key.
    return _cached(_of_type, what, get_args(what) if get_origin(what) is Literal else repr(what))


def _of_mapping(what: Mapping[Any, Any]) -> FieldSet[Any]:
    strange = next((name for name, one in what.items() if not isinstance(one, Field)), None)
    if strange is None:
        return _cached(_of_fields, tuple(what.items()))
    require(
        what.get("type") == "object" or "properties" in what,
        field=str(strange),
        problem=f"{what[strange]!r} is not a field",
        instead=(
            "write Text(), Integer(), Choice([...]) or another field; as JSON Schema, write that of an object: "
            "{'type': 'object', 'properties': {...}}"
        ),
    )
    return of_schema(what)


def of_schema(schema: Mapping[Any, Any]) -> FieldSet[Any]:
    """A restricted JSON Schema; the value is a dict as on the wire."""
    return _of_schema(json_of(schema))


def json_of(schema: Mapping[Any, Any]) -> str:
    """A schema as JSON; raises `QuestionRefused` if it is not JSON, or too large."""
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
    return _fieldset({SINGLE: _entry(field)}, lambda values: from_wire(field, values.get(SINGLE)))


@lru_cache(maxsize=CACHE_SIZE)
def _of_fields(items: tuple[tuple[str, Field[Any]], ...]) -> FieldSet[Any]:
    return _fieldset(
        {name: _entry(field) for name, field in items},
        lambda values: {name: from_wire(field, values.get(name)) for name, field in items},
        attributes={name: name for name, _ in items},
    )


@lru_cache(maxsize=CACHE_SIZE)
def _of_schema(canonical: str) -> FieldSet[Any]:
    schema = json.loads(canonical)
    entries = entries_of(schema)
    fieldset = _fieldset(entries, deepcopy, attributes={name: name for name in entries})
    return replace(fieldset, title=accept_title(schema.get("title")))


def _titled(entries: Mapping[str, FieldEntry]) -> dict[str, FieldEntry]:
    """Entries with titles made of their names, which an author wrote for readers of the code."""
    return {
        name: entry
        if entry.field.title is not None
        else replace(entry, field=entry.field.altered(title=name.replace("_", " ").title().strip() or None))
        for name, entry in entries.items()
    }


def _entry(field: Field[Any]) -> FieldEntry:
    return FieldEntry(field=field, is_required=not field.optional and field.default is None)


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
        meanings={name: entry.meanings for name, entry in known.items() if entry.meanings},
        nulls=tuple(name for name, entry in known.items() if entry.is_null_when_empty),
        digest=_digest_of(fields, required),
    )


def _digest_of(fields: Mapping[str, Field[Any]], required: frozenset[str]) -> str:
    """A digest of what is asked, in its order; reasons why it is not a secret are left out."""
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
    return replace(fieldset, fields=MappingProxyType(fields), digest=_digest_of(fields, fieldset.required))


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
    else:
        require(
            any(hasattr(values, attribute) for attribute in attributes.values()),
            problem=f"the initial values came as {type(values).__name__}",
            instead=f"give a dict with the names {', '.join(attributes)}, or an instance of what is asked for",
        )
        yield from ((name, getattr(values, attribute, None)) for name, attribute in attributes.items())


def fieldset_of_options(
    options: Mapping[Any, str] | Iterable[Any], *, multiple: bool, least: int | None, most: int | None
) -> FieldSet[Any]:
    """A field to choose one of the options, or several of them; the value is the option, as in a `Literal`."""
    values = () if isinstance(options, str) else tuple(options)
    require(
        values and all(isinstance(value, str | int | Enum) for value in values),
        problem=f"{options!r} is not a list of options",
        instead="give a list of strings, whole numbers or Enum members, or a dict of them with their titles",
    )
    spellings = [wire_name(value) for value in values]
    require(
        len(set(spellings)) == len(spellings),
        problem=f"{options!r} offers the same option twice",
        instead="name each option once",
    )
    titles = cast("Mapping[Any, str]", options).values() if isinstance(options, Mapping) else None
    named = spellings if titles is None else dict(zip(spellings, titles, strict=True))
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
