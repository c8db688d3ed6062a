"""A field as an annotation: what pydantic says of a type, overlaid with what the field says. JSON Schema in and out."""

from collections.abc import Callable
from typing import Any

from askback.errors import QuestionRefused

Json = dict[str, Any]

_CHOOSING = frozenset({"enum", "enumNames", "const", "oneOf", "anyOf", "items"})
_NULL: Json = {"type": "null"}


CLASS_NOTES = "askback-class-notes"
"""Under this key stand the title and description that only the name and docstring of a class gave."""


def overlay_schema(plain: Json, own: Json, resolve: Callable[[Json], Json]) -> Json:
    """The field's keywords win; what only the type knows stays."""
    if _NULL in plain.get("anyOf", ()):
        inner = next(branch for branch in plain["anyOf"] if branch != _NULL)
        return {**plain, "anyOf": [overlay_schema(resolve(inner), own, resolve), _NULL]}
    _refuse_other_type(plain, own)
    plain = without_class_notes(plain)
    if "items" in own:
        items = _without_choices(resolve(plain.get("items", {})))
        own = {**own, "items": {**items, **own["items"]}}
    return {**(_without_choices(plain) if _CHOOSING & own.keys() else plain), **own}


def without_class_notes(plain: Json) -> Json:
    """They are for those who read the code, not for the person who is asked."""
    notes = plain.get(CLASS_NOTES, {})
    return {
        keyword: value
        for keyword, value in plain.items()
        if keyword != CLASS_NOTES and (keyword not in notes or value != notes[keyword])
    }


def _without_choices(plain: Json) -> Json:
    return {keyword: value for keyword, value in plain.items() if keyword not in _CHOOSING}


def _refuse_other_type(plain: Json, own: Json) -> None:
    is_choice = "enum" in plain or "const" in plain
    theirs = plain.get("type")
    if is_choice or theirs in {None, own["type"]} or (own["type"], theirs) == ("integer", "number"):
        return
    raise QuestionRefused(
        field=None,
        problem=f"a type that JSON Schema calls {theirs!r} is annotated with a field for {own['type']!r}",
        instead="annotate str with Text or Choice, int with Integer, float with Number, list[str] with Choices",
    )
