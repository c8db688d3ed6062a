"""What a client is sent for a fieldset: the restricted JSON Schema of its dialect. Rendered once and kept.

`pattern`, `multipleOf`, exclusive bounds and excuses are the server's business and are not sent. The schema of a host's
own call is sent as it was written; on the older dialect only those fields are rewritten that it has no words for.
"""

from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from typing import Any

from askback.model.annotation import Json
from askback.model.question import SINGLE, Boolean, Choice, Choices, Field, FieldSet

_OURS = frozenset({"pattern", "multipleOf", "exclusiveMinimum", "exclusiveMaximum", "notASecret"})

_KEPT = 1024
"""FieldSets whose schema is kept; beyond, the one used longest ago is rendered anew."""


class Dialect(Enum):
    """Which words a revision has for a form."""

    TITLED = "titled choices, several choices, defaults"
    UNTITLED = "neither of these but a default for yes or no"


def render(fieldset: FieldSet[Any], dialect: Dialect) -> Json:
    """The schema to send. It is kept and shared: callers must not change it."""
    if fieldset.verbatim is not None:
        return dict(fieldset.verbatim) if dialect is Dialect.TITLED else _reworded(fieldset)
    return _titled(fieldset) if dialect is Dialect.TITLED else _untitled(fieldset)


@lru_cache(maxsize=_KEPT)
def _reworded(fieldset: FieldSet[Any]) -> Json:
    """A host's schema for the older dialect: titled choices, several choices and defaults in its words, the rest as it
    was written."""
    written = dict(fieldset.verbatim or {})
    strange = {name: field for name, field in fieldset.fields.items() if needs_other_words(field)}
    if not strange:
        return written
    properties: Json = {}
    for name, described in written["properties"].items():
        field = strange.get(name)
        if isinstance(field, Choices):
            properties |= _booleans(name, field)
        else:
            properties[name] = described if field is None else _plain(field) | _notes(described)
    required = [
        name
        for name in written.pop("required", ())
        if name not in strange or _is_demanded(fieldset, name, strange[name])
    ]
    return {**written, "properties": properties, **({"required": required} if required else {})}


def needs_other_words(field: Field[Any]) -> bool:
    """Whether the older dialect has no words for this field as it is."""
    if isinstance(field, Choices):
        return True
    has_titles = isinstance(field, Choice) and any(one.title is not None for one in field.options)
    return has_titles or (field.default is not None and not isinstance(field, Boolean))


def _notes(described: Json) -> Json:
    """An author's own keywords."""
    return {keyword: value for keyword, value in described.items() if keyword.startswith("x-")}


@lru_cache(maxsize=_KEPT)
def _titled(fieldset: FieldSet[Any]) -> Json:
    properties = {name: _sendable(field) for name, field in fieldset.fields.items()}
    return _object(fieldset, properties, (name for name in fieldset.fields if name in fieldset.required))


@lru_cache(maxsize=_KEPT)
def _untitled(fieldset: FieldSet[Any]) -> Json:
    properties: Json = {}
    for name, field in fieldset.fields.items():
        if isinstance(field, Choices):
            properties |= _booleans(name, field)
        else:
            properties[name] = _plain(field)
    return _object(
        fieldset,
        properties,
        (name for name, field in fieldset.fields.items() if _is_demanded(fieldset, name, field)),
    )


def _is_demanded(fieldset: FieldSet[Any], name: str, field: Field[Any]) -> bool:
    # A default that can only be told in words is taken by leaving the field empty, so it must be allowed to.
    return name in fieldset.required and field.default is None and not isinstance(field, Choices)


def _object(fieldset: FieldSet[Any], properties: Json, required: Iterable[str]) -> Json:
    named = list(required)
    titled = {} if fieldset.title is None else {"title": fieldset.title}
    return {"type": "object", **titled, "properties": properties, **({"required": named} if named else {})}


def _sendable(field: Field[Any]) -> Json:
    whole = field.keywords()
    for exclusive, inclusive, tighter in (
        ("exclusiveMinimum", "minimum", max),
        ("exclusiveMaximum", "maximum", min),
    ):
        if exclusive in whole:
            whole[inclusive] = tighter(whole[exclusive], whole.get(inclusive, whole[exclusive]))
    return {keyword: value for keyword, value in whole.items() if keyword not in _OURS}


def _plain(field: Field[Any]) -> Json:
    if isinstance(field, Boolean):
        return _sendable(field)
    whole = _sendable(field)
    default = whole.pop("default", None)
    titled = whole.pop("oneOf", None)
    if titled is not None:
        whole |= {"enum": [one["const"] for one in titled], "enumNames": [one["title"] for one in titled]}
    if default is not None:
        _describe(whole, f"(default: {_shown(field, default)})")
    return whole


def _shown(field: Field[Any], default: object) -> object:
    if isinstance(field, Choice):
        return next(option.shown for option in field.options if option.value == default)
    return default


def _describe(whole: Json, addition: str) -> None:
    whole["description"] = f"{whole['description']} {addition}" if "description" in whole else addition


def _booleans(name: str, field: Choices) -> Json:
    return {folded_name(name, option.value): _boolean(name, field, option.value) for option in field.options}


def _boolean(name: str, field: Choices, value: str) -> Json:
    shown = next(option.shown for option in field.options if option.value == value)
    label = field.title or ("" if name == SINGLE else name)
    whole: Json = {"type": "boolean", "title": f"{label}: {shown}" if label else shown}
    if field.description is not None:
        whole["description"] = field.description
    if count := _count(field):
        _describe(whole, count)
    return {**whole, "default": value in (field.default or ())}


def _count(field: Choices) -> str:
    match field.least or None, field.most:
        case None, None:
            return ""
        case least, None:
            return f"(choose {least} or more)"
        case None, most:
            return f"(choose {most} at most)"
        case least, most:
            return f"(choose {least})" if least == most else f"(choose {least} to {most})"


def folded_name(name: str, value: str) -> str:
    """The yes-or-no field that stands for one of several choices."""
    return f"{name}.{value}"
