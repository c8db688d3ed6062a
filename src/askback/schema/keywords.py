"""From restricted JSON Schema to fields: which keywords a form understands, and advice for those it does not.

Everything that is not written with field objects comes this way. Whether the fields make sense is `rules`' question.
"""

import dataclasses
import re
from collections.abc import Mapping
from math import ceil, floor
from typing import Any, cast

from askback.errors import QuestionRefused, SecretInForm
from askback.errors.questions import require
from askback.model.annotation import Json
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
from askback.schema.adapter import MEANINGS, NAIVE, wire_name
from askback.schema.properties import ENUM_NAMES, OPTIONS, Pair, flatten_property
from askback.schema.values import NO_MEANINGS, Meanings

KINDS: Mapping[tuple[str, str | None], type[Field[Any]]] = {
    ("string", None): Text,
    ("string", "email"): Email,
    ("string", "uri"): Url,
    ("string", "date"): Date,
    ("string", "date-time"): DateTime,
    ("number", None): Number,
    ("integer", None): Integer,
    ("boolean", None): Boolean,
}

VALIDATING = frozenset(
    re.findall(
        r"\S+",
        """
        type enum const oneOf anyOf allOf not if then else format pattern minLength maxLength minimum
        maximum exclusiveMinimum exclusiveMaximum multipleOf items prefixItems additionalItems
        unevaluatedItems contains minContains maxContains minItems maxItems uniqueItems properties required
        additionalProperties unevaluatedProperties patternProperties propertyNames minProperties
        maxProperties dependencies dependentRequired dependentSchemas discriminator contentEncoding
        contentMediaType contentSchema $ref $dynamicRef $recursiveRef
        """,
    )
)
"""What JSON Schema gives a meaning that a reply could break. Any other keyword is a note, and passes."""

_ROOT = frozenset({"type", "properties", "required", "additionalProperties"})

_INSTEAD_OF_FORMAT = {
    NAIVE: "use datetime or AwareDatetime: a moment on the wire always has its offset",
    "time": "use Text(pattern=r'^\\d\\d:\\d\\d$')",
    "duration": "use Integer(title='... in minutes')",
    "uuid": "use Text(pattern='^[0-9a-f-]{36}$'), or a Choice of what there is",
    "path": "use Text()",
    "binary": "let a page of yours take the file",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FieldEntry:
    """A field with what the form around it says about it."""

    field: Field[Any]
    is_required: bool = False
    is_null_when_empty: bool = False
    meanings: Meanings = dataclasses.field(default_factory=dict[str, Any])


def entries_of(schema: Mapping[str, Any]) -> dict[str, FieldEntry]:
    """The fields of an object's schema, by their names on the wire."""
    definitions = definitions_of(schema)
    _refuse_unknown(None, schema, _ROOT)
    require(
        not isinstance(schema.get("additionalProperties"), Mapping),
        problem="a form has a fixed list of fields",
        instead="name each of them, not a dict of any names",
    )
    properties, required = _members(schema)
    return {
        name: entry_of(name, described, definitions, is_listed=name in required)
        for name, described in properties.items()
    }


def definitions_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the schema's own references can point to."""
    found = [schema.get(keyword) for keyword in ("definitions", "$defs")]
    known = [cast("Mapping[str, Any]", names) for names in found if isinstance(names, Mapping)]
    return {name: one for names in known for name, one in names.items()}


def _members(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Any]]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    require(
        isinstance(properties, Mapping) and isinstance(required, list),
        problem="'properties' is an object and 'required' a list of names",
        instead="{'type': 'object', 'properties': {'name': {'type': 'string'}}, 'required': ['name']}",
    )
    for name in cast("list[Any]", required):
        require(
            isinstance(name, str) and name in properties,
            field=str(name),
            problem="it is required but not among the properties",
            instead="add or unlist it",
        )
    return cast("Mapping[str, Any]", properties), cast("list[Any]", required)


def entry_of(name: str, described: Any, definitions: Mapping[str, Any], *, is_listed: bool) -> FieldEntry:
    """One property as a field."""
    whole, is_nullable = flatten_property(name, described, definitions)
    field, meanings = _field(name, whole, definitions)
    default = whole.get("default")
    is_required = is_listed and not is_nullable and default is None
    return FieldEntry(
        field=field.altered(default=default, optional=not is_required and default is None),
        is_required=is_required,
        is_null_when_empty=is_listed and is_nullable,
        meanings=meanings,
    )


def _field(name: str, whole: Json, definitions: Mapping[str, Any]) -> tuple[Field[Any], Meanings]:
    if OPTIONS in whole:
        _refuse_unknown(name, whole, frozenset({"type"}))
        options, meanings = _options(name, whole)
        return Choice(options, enum_names=ENUM_NAMES in whole, **_notes(whole)), meanings
    if whole.get("type") == "array":
        return _several(name, whole, definitions)
    kind = _kind(name, whole)
    _refuse_unknown(
        name, whole, frozenset({"type", *kind.shape, *kind.limits.values(), *_EXTRA.get(kind, ())})
    )
    return kind(**_limits(name, kind, whole), **_notes(whole)), NO_MEANINGS


_EXTRA: Mapping[type[Field[Any]], tuple[str, ...]] = {Integer: ("exclusiveMinimum", "exclusiveMaximum")}
"""Keywords a field takes though it has its own way of saying them."""


def _kind(name: str, whole: Json) -> type[Field[Any]]:
    kind, form = whole.get("type"), whole.get("format")
    refuse_password(name, form)
    found = KINDS.get((str(kind), form)) if form is None or isinstance(form, str) else None
    if found is not None:
        return found
    if kind == "string":
        raise QuestionRefused(
            field=name,
            problem=f"{form!r} is not a format that forms know",
            instead=_INSTEAD_OF_FORMAT.get(
                str(form), "use email, uri, date or date-time, or Text(pattern=...)"
            ),
        )
    raise _not_a_field(name, kind)


def refuse_password(name: str, form: object) -> None:
    """Refuse the format that says by itself that a secret is asked for."""
    if form == "password":
        raise SecretInForm(
            field=name,
            problem="it asks for a secret, and a form passes through the client and perhaps a model",
            instead="ask for it with secret(...), on a page where what is typed does not pass the client",
        )


def _not_a_field(name: str, kind: object) -> QuestionRefused:
    match kind:
        case "object":
            return QuestionRefused(
                field=name,
                problem="a form is flat and cannot hold an object or dict",
                instead=f"ask for its parts as fields of their own, such as '{name}_street'",
            )
        case None:
            return QuestionRefused(
                field=name, problem="its type is left open", instead="use str, int, float or bool"
            )
        case _:
            return QuestionRefused(
                field=name,
                problem=f"a form has no field for {kind!r}",
                instead="use string, number, integer, boolean, or a list of choices",
            )


def _limits(name: str, kind: type[Field[Any]], whole: Json) -> Json:
    limits = {attribute: whole[keyword] for attribute, keyword in kind.limits.items() if keyword in whole}
    if kind is not Integer:
        return limits
    lower = [*map(ceil, _bounds(name, whole, "minimum"))]
    lower += [floor(bound) + 1 for bound in _bounds(name, whole, "exclusiveMinimum")]
    upper = [*map(floor, _bounds(name, whole, "maximum"))]
    upper += [ceil(bound) - 1 for bound in _bounds(name, whole, "exclusiveMaximum")]
    tightest = {"minimum": max(lower, default=None), "maximum": min(upper, default=None)}
    return limits | tightest


def _bounds(name: str, whole: Json, keyword: str) -> list[float]:
    bound = whole.get(keyword)
    require(
        bound is None or is_number(bound),
        field=name,
        problem=f"{keyword} {bound!r} is not a bound",
        instead="give a number",
    )
    return [] if bound is None else [bound]


def is_number(value: Any) -> bool:
    """A finite number that is not a boolean in disguise."""
    return type(value) in {int, float} and abs(value) < float("inf")


def _several(name: str, whole: Json, definitions: Mapping[str, Any]) -> tuple[Field[Any], Meanings]:
    _refuse_unknown(name, whole, frozenset({"type", "items", "minItems", "maxItems", "uniqueItems"}))
    items, is_nullable = flatten_property(name, whole.get("items", {}), definitions)
    require(
        OPTIONS in items and not is_nullable,
        field=name,
        problem="a list in a form is a list of choices",
        instead="use list[Literal[...]], list of an Enum, or Choices([...]); for free text, one Text() per item",
    )
    _refuse_unknown(name, items, frozenset({"type"}))
    options, meanings = _options(name, items)
    return Choices(
        options, least=whole.get("minItems"), most=whole.get("maxItems"), **_notes(whole)
    ), meanings


def _options(name: str, whole: Json) -> tuple[list[Option], Meanings]:
    pairs: list[Pair] = whole[OPTIONS]
    meanings: Meanings = whole.get(MEANINGS) or {wire_name(value): value for value, _ in pairs}
    options = [Option(wire_name(value), title) for value, title in pairs]
    strange = next((option.value for option in options if option.value not in meanings), None)
    require(
        strange is None,
        field=name,
        problem=f"the option {strange!r} is not a value of its type",
        instead=f"use some of: {', '.join(map(repr, meanings))}",
    )
    is_plain = all(type(value) is str for value in meanings.values())
    return options, NO_MEANINGS if is_plain else meanings


def _notes(whole: Json) -> Json:
    """What every field has, but the default: `rules` turns that into the field's own type."""
    return {name: whole.get(keyword) for name, keyword in _NOTES.items()}


_NOTES = {"title": "title", "description": "description", "not_a_secret": "notASecret"}


def _refuse_unknown(name: str | None, whole: Mapping[str, Any], known: frozenset[str]) -> None:
    for keyword in whole:
        require(
            keyword not in VALIDATING or keyword in known,
            field=name,
            problem=f"a form has no words for {keyword!r} here",
            instead="leave it out, and check the answer in your code or in a validator of your model",
        )
