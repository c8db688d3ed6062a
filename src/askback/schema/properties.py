"""One property of a JSON Schema without its detours: references, nullability, and the five ways to list choices."""

from collections.abc import Mapping
from typing import Any, cast

from askback.errors import QuestionRefused
from askback.errors.questions import require
from askback.model.annotation import Json, without_class_notes
from askback.schema.adapter import MEANINGS, wire_name

OPTIONS = "askback-options"
"""The key under which the choices stand when they are found: a list of pairs."""

ENUM_NAMES = "askback-enum-names"
"""Set where the titles came in the older spelling, which is then kept."""

Pair = tuple[Any, str | None]
"""What can be chosen, as JSON has it, and its title."""

_UNIONS = ("anyOf", "oneOf")
_MOST_DETOURS = 16
"""References and unions inside each other; more is a loop."""


def flatten_property(
    name: str, described: Any, definitions: Mapping[str, Any], *, detours: int = _MOST_DETOURS
) -> tuple[Json, bool]:
    """The property with its choices under OPTIONS, and whether it may be null."""
    whole = _dereferenced(name, described, definitions)
    require(detours != 0, field=name, problem="it refers to itself", instead="ask for a flat form")
    union = next((keyword for keyword in _UNIONS if keyword in whole), None)
    if union is None:
        return _chosen(name, *_typed(name, whole))
    others = {keyword: value for keyword, value in whole.items() if keyword != union}
    branches = [_dereferenced(name, branch, definitions) for branch in _listed(name, union, whole)]
    rest = [branch for branch in branches if branch.get("type") != "null"]
    is_nullable = len(rest) < len(branches)
    if rest and all("const" in branch or "enum" in branch for branch in rest):
        return _united(name, others, rest, is_nullable=is_nullable)
    if len(rest) == 1:
        inner, inner_nullable = flatten_property(name, rest[0], definitions, detours=detours - 1)
        return {**inner, **others}, is_nullable or inner_nullable
    if {"number", "string"} == {branch.get("type") for branch in rest}:
        raise QuestionRefused(
            field=name,
            problem="a number or a text (a Decimal, perhaps) is a union of two types, and a form wants one of them",
            instead="use float or Number(), or Text(pattern=...) and make the Decimal of it",
        )
    raise QuestionRefused(
        field=name,
        problem="a field has one type, and this one is a union of several",
        instead="ask for the type that most people will mean, or for two optional fields",
    )


def _dereferenced(name: str, described: Any, definitions: Mapping[str, Any]) -> Json:
    require(
        isinstance(described, Mapping),
        field=name,
        problem="its description is not an object",
        instead="write {'type': 'string'} or the like",
    )
    whole = without_class_notes(dict(cast("Mapping[str, Any]", described)))
    for _ in range(_MOST_DETOURS):
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


def _typed(name: str, whole: Json) -> tuple[Json, bool]:
    if not isinstance(whole.get("type"), list):
        return whole, False
    kinds = [kind for kind in whole["type"] if kind != "null"]
    require(len(kinds) == 1, field=name, problem="a field has one type", instead=f"choose one of {kinds}")
    return {**whole, "type": kinds[0]}, len(kinds) < len(whole["type"])


def _chosen(name: str, whole: Json, is_nullable: bool) -> tuple[Json, bool]:
    if "const" not in whole and "enum" not in whole:
        return whole, is_nullable
    others = {
        key: value for key, value in whole.items() if key not in {"const", "enum", "enumNames", "title"}
    }
    # The title of a property is its own, that of a branch belongs to the one thing it offers.
    titled = {"title": whole["title"]} if "title" in whole else {}
    older = {ENUM_NAMES: True} if "enumNames" in whole else {}
    return _united(name, {**others, **titled, **older}, [{**whole, "title": None}], is_nullable=is_nullable)


def _united(name: str, others: Json, branches: list[Json], *, is_nullable: bool) -> tuple[Json, bool]:
    pairs = [pair for branch in branches for pair in _pairs(name, branch)]
    known = {**others, "type": "string", OPTIONS: [pair for pair in pairs if pair[0] is not None]}
    if any(MEANINGS in branch for branch in branches):
        known[MEANINGS] = {
            spelling: value for branch in branches for spelling, value in _meanings(name, branch).items()
        }
    return known, is_nullable or any(value is None for value, _ in pairs)


def _meanings(name: str, branch: Json) -> Mapping[str, Any]:
    return (
        branch[MEANINGS] if MEANINGS in branch else {wire_name(one): one for one, _ in _pairs(name, branch)}
    )


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
