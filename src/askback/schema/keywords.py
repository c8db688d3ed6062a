"""Makes fields of restricted JSON Schema: the keywords that a form knows, and advice for the others.

Everything that is not written with field objects comes this way. Whether the fields make sense is checked in `rules`.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from math import ceil, floor
from typing import Any, cast

from askback.errors.questions import QuestionRefused, SecretInForm, require
from askback.model.fields import Json, without_class_notes
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
"""Keywords that a reply could violate. Any other keyword is a note, and passes."""

OPTIONS = "askback-options"
"""The key under which the choices stand when they are found: a list of pairs."""

ENUM_NAMES = "askback-enum-names"
"""Set where the titles came in the older spelling, which is then kept."""

Pair = tuple[Any, str | None]
"""What can be chosen, as JSON has it, and its title."""

_UNIONS = ("anyOf", "oneOf")
_MAX_DETOURS = 16
"""References and unions inside each other; more is a loop."""

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
    """A field, and what its form says about it."""

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
"""Keywords that a field takes although it has no attribute of that name."""


_NO_FIELD = {
    "object": (
        "a form is flat and cannot hold an object or dict",
        "ask for its parts as fields of their own, such as 'address_street'",
    ),
    "None": ("its type is left open", "use str, int, float or bool"),
}
"""Types of JSON Schema that have no field: the problem, and what to write instead."""


def _kind(name: str, whole: Json) -> type[Field[Any]]:
    kind, form = whole.get("type"), whole.get("format")
    refuse_password(name, form)
    found = KINDS.get((str(kind), form)) if form is None or isinstance(form, str) else None
    if found is not None:
        return found
    require(
        kind != "string",
        field=name,
        problem=f"{form!r} is not a format that forms know",
        instead=_INSTEAD_OF_FORMAT.get(str(form), "use email, uri, date or date-time, or Text(pattern=...)"),
    )
    other = f"a form has no field for {kind!r}", "use string, number, integer, boolean, or a list of choices"
    problem, instead = _NO_FIELD.get(str(kind), other)
    raise QuestionRefused(field=name, problem=problem, instead=instead)


def refuse_password(name: str, form: object) -> None:
    """Refuse the format whose name says that it is a secret."""
    require(
        form != "password",
        field=name,
        problem="it asks for a secret, and a form passes through the client and perhaps a model",
        instead="ask for it with secret(...), on a page where what is typed does not pass the client",
        error=SecretInForm,
    )


def _limits(name: str, kind: type[Field[Any]], whole: Json) -> Json:
    limits = {attribute: whole[keyword] for attribute, keyword in kind.limits.items() if keyword in whole}
    for keyword, (attribute, tighten, choose) in _INTEGER_BOUNDS.items() if kind is Integer else ():
        bound: Any = whole.get(keyword)
        require(
            bound is None or is_number(bound),
            field=name,
            problem=f"{keyword} {bound!r} is not a bound",
            instead="give a number",
        )
        if bound is not None:
            tightened = tighten(bound)
            limits[attribute] = choose(tightened, limits.get(attribute, tightened))
    return limits


_INTEGER_BOUNDS: Mapping[str, tuple[str, Callable[[float], int], Callable[[int, int], int]]] = {
    "minimum": ("minimum", ceil, lambda bound, _: bound),
    "exclusiveMinimum": ("minimum", lambda bound: floor(bound) + 1, max),
    "maximum": ("maximum", floor, lambda bound, _: bound),
    "exclusiveMaximum": ("maximum", lambda bound: ceil(bound) - 1, min),
}
"""By keyword: the attribute of the field, the first integer inside the bound, and which of two bounds counts."""


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
    """The attributes of every field but the default, which `rules` turns into the field's own type."""
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


# One property without its detours: references, nullability, and the five ways to list choices


def flatten_property(
    name: str, described: Any, definitions: Mapping[str, Any], *, detours: int = _MAX_DETOURS
) -> tuple[Json, bool]:
    """The property with its choices under OPTIONS, and whether it may be null."""
    whole = _dereferenced(name, described, definitions)
    require(detours != 0, field=name, problem="it refers to itself", instead="ask for a flat form")
    union = next((keyword for keyword in _UNIONS if keyword in whole), None)
    if union is None:
        return _chosen(name, whole)
    others = {keyword: value for keyword, value in whole.items() if keyword != union}
    branches = [_dereferenced(name, branch, definitions) for branch in _listed(name, union, whole)]
    rest = [branch for branch in branches if branch.get("type") != "null"]
    is_nullable = len(rest) < len(branches)
    if rest and all("const" in branch or "enum" in branch for branch in rest):
        return _united(name, others, rest, is_nullable=is_nullable)
    require(
        {"number", "string"} != {branch.get("type") for branch in rest},
        field=name,
        problem="a number or a text (a Decimal, perhaps) is a union of two types, and a form wants one of them",
        instead="use float or Number(), or Text(pattern=...) and make the Decimal of it",
    )
    require(
        len(rest) == 1,
        field=name,
        problem="a field has one type, and this one is a union of several",
        instead="ask for the type that most people will mean, or for two optional fields",
    )
    inner, inner_nullable = flatten_property(name, rest[0], definitions, detours=detours - 1)
    return {**inner, **others}, is_nullable or inner_nullable


def _dereferenced(name: str, described: Any, definitions: Mapping[str, Any]) -> Json:
    require(
        isinstance(described, Mapping),
        field=name,
        problem="its description is not an object",
        instead="write {'type': 'string'} or the like",
    )
    whole = without_class_notes(dict(cast("Mapping[str, Any]", described)))
    for _ in range(_MAX_DETOURS):
        if "$ref" not in whole:
            return whole
        reference = str(whole.pop("$ref"))
        place, _, key = reference.rpartition("/")
        target = definitions.get(key) if place in {"#/$defs", "#/definitions"} else None
        require(
            isinstance(target, Mapping),
            field=name,
            problem=f"{reference!r} is not among this schema's own definitions",
            instead="write the definition out",
        )
        whole = {**without_class_notes(dict(cast("Mapping[str, Any]", target))), **whole}
    raise QuestionRefused(field=name, problem="it refers to itself", instead="ask for a flat form")


def _listed(name: str, keyword: str, whole: Json) -> list[Any]:
    require(
        isinstance(whole[keyword], list),
        field=name,
        problem=f"{keyword!r} is not a list",
        instead="write it as a list",
    )
    return whole[keyword]


def _chosen(name: str, whole: Json) -> tuple[Json, bool]:
    kinds = whole["type"] if isinstance(whole.get("type"), list) else [whole.get("type")]
    known = [kind for kind in kinds if kind != "null"] if len(kinds) > 1 else kinds
    require(len(known) == 1, field=name, problem="a field has one type", instead=f"choose one of {known}")
    is_nullable = len(known) < len(kinds)
    if "const" not in whole and "enum" not in whole:
        return (whole if known == [None] else {**whole, "type": known[0]}), is_nullable
    # The title of a property is its own, that of a branch belongs to the one thing it offers.
    others = {key: value for key, value in whole.items() if key not in {"const", "enum", "enumNames"}}
    older = {ENUM_NAMES: True} if "enumNames" in whole else {}
    return _united(name, {**others, **older}, [{**whole, "title": None}], is_nullable=is_nullable)


def _united(name: str, others: Json, branches: list[Json], *, is_nullable: bool) -> tuple[Json, bool]:
    pairs = [pair for branch in branches for pair in _pairs(name, branch)]
    known = {**others, "type": "string", OPTIONS: [pair for pair in pairs if pair[0] is not None]}
    if any(MEANINGS in branch for branch in branches):
        own = [
            branch.get(MEANINGS) or {wire_name(one): one for one, _ in _pairs(name, branch)}
            for branch in branches
        ]
        known[MEANINGS] = {spelling: value for meanings in own for spelling, value in meanings.items()}
    return known, is_nullable or any(value is None for value, _ in pairs)


def _pairs(name: str, branch: Json) -> list[Pair]:
    values = [branch["const"]] if "const" in branch else _listed(name, "enum", branch)
    titles = branch.get("enumNames") or ([branch.get("title")] if "const" in branch else [None] * len(values))
    require(
        isinstance(titles, list) and len(cast("list[Any]", titles)) == len(values),
        field=name,
        problem="enumNames and enum differ in length",
        instead="give every option its title, in order",
    )
    for value in values:
        require(
            not isinstance(value, list | dict),
            field=name,
            problem="an option is a list or object",
            instead="use text or numbers",
        )
    return list(zip(values, cast("list[str | None]", titles), strict=True))
