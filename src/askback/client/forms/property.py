"""One property of a stranger's schema without its detours: references and ways to say "or nothing"."""

from collections.abc import Mapping
from typing import Any, Final, cast

Json = dict[str, Any]

_MOST_DETOURS: Final = 8
"""References and unions inside each other; an honest form has two."""

_MOST_KEYWORDS: Final = 60
"""All that JSON Schema has; and a reference copies what it points to."""

_MOST_BRANCHES: Final = 10
"""Of a union that may mean one thing or nothing."""

_UNIONS: Final = ("anyOf", "oneOf", "allOf")


class Unshowable(Exception):
    """Why a field cannot be shown, in words for the one who is asked."""


def resolve_property(described: Any, definitions: Mapping[str, Any]) -> Json:
    """The property itself; Unshowable where it is none."""
    whole = _mapping(described)
    for _ in range(_MOST_DETOURS):
        if "$ref" in whole:
            whole = _dereferenced(whole, definitions)
        elif (only := _only_branch(whole)) is not None:
            union, branch = only
            whole = {**_mapping(branch), **{key: value for key, value in whole.items() if key != union}}
        else:
            return _typed(whole)
    raise Unshowable("its description leads in circles")


def definitions_of(schema: Mapping[str, Any]) -> Json:
    """What references inside the schema can point to."""
    found = [schema.get(keyword) for keyword in ("definitions", "$defs")]
    return {name: one for names in found if type(names) is dict for name, one in cast("Json", names).items()}


def _mapping(described: Any) -> Json:
    if type(described) is not dict or len(cast("Json", described)) > _MOST_KEYWORDS:
        raise Unshowable("its description cannot be read")
    return cast("Json", described)


def _dereferenced(whole: Json, definitions: Mapping[str, Any]) -> Json:
    reference = whole["$ref"]
    place, _, key = reference.rpartition("/") if type(reference) is str else ("", "", "")
    if place not in {"#/$defs", "#/definitions"} or key not in definitions:
        raise Unshowable("its description refers to something that did not come with the form")
    return {**_mapping(definitions[key]), **{name: value for name, value in whole.items() if name != "$ref"}}


def _only_branch(whole: Json) -> tuple[str, Json] | None:
    """The one thing that a union offers beside null; None where it is a list of choices, or there is no union."""
    for union in _UNIONS:
        rest = [branch for branch in _branches(whole.get(union)) if branch.get("type") != "null"]
        if len(rest) == 1 and "const" not in rest[0]:
            return union, rest[0]
    return None


def _branches(union: Any) -> list[Json]:
    listed = cast("list[Any]", union) if type(union) is list else []
    if len(listed) > _MOST_BRANCHES:
        return []  # a list of choices, if anything
    return [cast("Json", branch) for branch in listed if type(branch) is dict]


def _typed(whole: Json) -> Json:
    kinds = whole.get("type")
    if type(kinds) is not list:
        return whole
    named = [kind for kind in cast("list[Any]", kinds) if kind != "null"]
    if len(named) != 1:
        raise Unshowable("it may be of several types, and a form asks for one")
    return {**whole, "type": named[0]}
