"""The JSON Schema that a client is sent for a fieldset, in the dialect of its revision. Rendered once and cached.

`pattern`, `multipleOf`, exclusive bounds and the reasons for `not_a_secret` stay on the server. The schema of a host's
own call is sent as it was written. In the older dialect, the fields that it has no words for are rewritten.
"""

from enum import Enum
from functools import lru_cache
from typing import Any

from askback.model.fields import Json
from askback.model.question import SINGLE, Boolean, Choice, Choices, Field, FieldSet, Option

_OURS = frozenset({"pattern", "multipleOf", "exclusiveMinimum", "exclusiveMaximum", "notASecret"})

_CACHE_SIZE = 1024
"""FieldSets whose schema is cached, in each dialect."""


class Dialect(Enum):
    """Which words a revision has for a form."""

    TITLED = "titled choices, several choices, defaults"
    UNTITLED = "neither of these but a default for yes or no"


@lru_cache(maxsize=_CACHE_SIZE)
def render(fieldset: FieldSet[Any], dialect: Dialect) -> Json:
    """The schema to send. It is cached and shared: callers must not change it."""
    whole = _titled(fieldset) if fieldset.verbatim is None else dict(fieldset.verbatim)
    strange = {name: field for name, field in fieldset.fields.items() if needs_other_words(field)}
    if dialect is Dialect.TITLED or not strange:
        return whole
    properties: Json = {}
    for name, described in whole["properties"].items():
        properties |= _reworded(name, strange[name], described) if name in strange else {name: described}
    # A default that can only be told in words is taken by leaving the field empty, so it must be allowed to.
    required = [
        name
        for name in whole.pop("required", ())
        if name not in strange or (strange[name].default is None and not isinstance(strange[name], Choices))
    ]
    return {**whole, "properties": properties, **({"required": required} if required else {})}


def needs_other_words(field: Field[Any]) -> bool:
    """Whether the older dialect has no words for this field as it is."""
    if isinstance(field, Choices):
        return True
    has_titles = isinstance(field, Choice) and any(one.title is not None for one in field.options)
    return has_titles or (field.default is not None and not isinstance(field, Boolean))


def _titled(fieldset: FieldSet[Any]) -> Json:
    title = {} if fieldset.title is None else {"title": fieldset.title}
    properties = {name: _sendable(field) for name, field in fieldset.fields.items()}
    required = [name for name in fieldset.fields if name in fieldset.required]
    return {
        "type": "object",
        **title,
        "properties": properties,
        **({"required": required} if required else {}),
    }


def _sendable(field: Field[Any]) -> Json:
    whole = field.keywords()
    for exclusive, inclusive, tighter in (
        ("exclusiveMinimum", "minimum", max),
        ("exclusiveMaximum", "maximum", min),
    ):
        if exclusive in whole:
            whole[inclusive] = tighter(whole[exclusive], whole.get(inclusive, whole[exclusive]))
    return {keyword: value for keyword, value in whole.items() if keyword not in _OURS}


def _reworded(name: str, field: Field[Any], described: Json) -> Json:
    """The properties that stand for a field in the older dialect; an author's own keywords stay."""
    if isinstance(field, Choices):
        return {folded_name(name, option.value): _boolean(name, field, option) for option in field.options}
    whole = _sendable(field)
    default = whole.pop("default", None)
    titled = whole.pop("oneOf", None)
    if titled is not None:
        whole |= {"enum": [one["const"] for one in titled], "enumNames": [one["title"] for one in titled]}
    if default is not None:
        titles = {one.value: one.shown for one in field.options} if isinstance(field, Choice) else {}
        said = f"(default: {titles.get(default, default)})"
        whole["description"] = f"{field.description} {said}" if field.description else said
    return {name: whole | {keyword: one for keyword, one in described.items() if keyword.startswith("x-")}}


def _boolean(name: str, field: Choices, option: Option) -> Json:
    label = field.title or ("" if name == SINGLE else name)
    description = " ".join(filter(None, (field.description, _count(field))))
    return {
        "type": "boolean",
        "title": f"{label}: {option.shown}" if label else option.shown,
        **({"description": description} if description else {}),
        "default": option.value in (field.default or ()),
    }


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
