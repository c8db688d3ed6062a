"""Forms of the hosts' own calls (`ctx.elicit`, `elicit_form`, returned rounds), which take more than `ask` does.

Their schemas are sent as the host wrote them, and replies go to the host as the client sent them. If fields can be made
of a schema, a reply has to fit them; otherwise it is not checked. A form that asks for a secret is refused in both
cases.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from askback.errors.questions import QuestionRefused, SecretInForm, require
from askback.model.form import digest_of
from askback.model.question import FieldSet, Form
from askback.schema.forms import json_of, make_form, of_schema, require_readable
from askback.schema.keywords import VALIDATING, refuse_password
from askback.schema.rules import accept_title, refuse_suspicion
from askback.schema.secret_lint import suspect_field

_CACHE_SIZE = 512
"""Schemas whose form is cached."""

MAX_DEPTH = 200
"""Objects and lists inside each other; pydantic, and so the SDK, cannot write many more."""

_UNIONS = ("oneOf", "anyOf")
_DEFINITIONS = ("$defs", "definitions")
_OPEN = ("additionalProperties", "unevaluatedProperties")
"""Keywords that let a person add properties of any name."""

_UNNAMED = "value"
"""Stands for a name that the schema leaves open."""

_EXCUSE = "notASecret"
"""The author's reason why a field asks for no secret; it is not sent."""

_SILENT = frozenset(
    {"title", "description", "default", "$schema", "$id", "$comment", "$anchor", "enumNames", _EXCUSE}
)
"""Notes that are searched on their own, or that no client shows."""


def host_form_of(message: str, schema: Mapping[str, Any], *, meta: Mapping[str, Any] | None) -> Form[Any]:
    """The form that a host asks with; raises `SecretInForm`, or `QuestionRefused` if it cannot be sent."""
    canonical = json_of(schema)
    says_so = not schema.keys().isdisjoint(("type", "properties"))
    properties = schema.get("properties", {})
    require(
        says_so and schema.get("type", "object") == "object" and isinstance(properties, Mapping),
        problem="the JSON Schema is not that of an object with properties, and no client can show another",
        instead="write {'type': 'object', 'properties': {...}}",
    )
    fieldset, is_typed = _read(canonical)
    require_readable(message)
    return make_form(message, fieldset, meta, is_typed=is_typed)


@lru_cache(maxsize=_CACHE_SIZE)
def _read(canonical: str) -> tuple[FieldSet[Any], bool]:
    """The fieldset of a schema, and whether anything is typed into it."""
    schema: dict[str, Any] = json.loads(canonical)
    schema.setdefault("type", "object")
    schema.setdefault("properties", {})
    if accept_title(schema.get("title")) is None:
        schema.pop("title", None)
    sent = _without_excuses(schema)
    fieldset = _with_fields(schema) or FieldSet(fields={}, make=dict)
    is_typed = _search(_beside(fieldset, schema))
    return replace(fieldset, verbatim=sent, digest=digest_of(json.dumps(sent, sort_keys=True))), is_typed


def _with_fields(schema: Mapping[str, Any]) -> FieldSet[Any] | None:
    """The fields that replies are checked with; None if there are none, or if their options are not plain texts."""
    try:
        fieldset = of_schema(schema)
    except SecretInForm:
        raise
    except QuestionRefused:
        return None
    return None if fieldset.meanings else fieldset


def _beside(fieldset: FieldSet[Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema without what the rules of fields have accepted: choices, and fields that are no secret."""
    if not fieldset.fields:
        return schema
    typed = {name for name, field in fieldset.fields.items() if field.is_typed and field.not_a_secret is None}
    properties = {name: one for name, one in schema["properties"].items() if name in typed}
    # The rules have seen each definition in the fields that refer to it.
    kept = {keyword: value for keyword, value in schema.items() if keyword not in _DEFINITIONS}
    return {**kept, "properties": properties}


def _search(schema: Mapping[str, Any]) -> bool:
    """Whether anything is typed into the form; raises `SecretInForm` if that is a secret."""
    typed = [(name, described) for name, described in _described(schema) if _is_typed(described)]
    is_typed = any(name for name, _ in typed)
    for name, described in typed if is_typed else ():
        refuse_password(name, described.get("format"))
        refuse_suspicion(
            name, suspect_field(name, _text(described, "title"), _text(described, "description"))
        )
        for text in _notes(described):
            refuse_suspicion(name, suspect_field(name, None, text))
    return is_typed


def _notes(described: Mapping[str, Any]) -> Iterator[str]:
    """Texts in other keywords, such as examples, that a client may show."""
    for keyword, value in described.items():
        if keyword not in VALIDATING and keyword not in _SILENT:
            listed = cast("Iterable[Any]", value) if isinstance(value, list) else (value,)
            yield from (one for one in listed if isinstance(one, str))


def _described(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All schemas inside a schema, each with the name of the property that it is part of, if any."""
    waiting: list[tuple[str, Any]] = [("", schema)]
    while waiting:
        name, item = waiting.pop()
        if isinstance(item, list):
            waiting.extend((name, one) for one in cast("list[Any]", item))
        elif isinstance(item, dict):
            described = cast("dict[str, Any]", item)
            for keyword, value in described.items():
                waiting.extend(_members(keyword, value) or [(name, value)])
            yield name, described


def _members(keyword: str, value: Any) -> list[tuple[str, Any]]:
    """The schemas that a keyword holds, each under the name that a person is shown, if any."""
    if keyword in _OPEN:
        return [(_UNNAMED, _written_out(value))]
    if keyword not in _NAMED or not isinstance(value, dict):
        return []
    named = cast("dict[str, Any]", value).items()
    return [(_NAMED[keyword](name) or _UNNAMED, _written_out(one)) for name, one in named]


_NAMED: Mapping[str, Callable[[str], str]] = {
    "properties": str,
    "patternProperties": lambda pattern: pattern.strip("^$"),
    **dict.fromkeys(_DEFINITIONS, lambda _: "definition"),
}
"""Keywords that hold schemas by name, and the name that a person is shown for each."""


def _written_out(schema: Any) -> Any:
    """A schema that is `true` allows anything, as one without keywords does."""
    return {} if schema is True else schema


def _is_typed(described: Mapping[str, Any]) -> bool:
    """Whether a person may type there and no reason says that it is no secret; for a union, in one of its branches."""
    if described.get("type") in ("boolean", "null") or (_text(described, _EXCUSE) or "").strip():
        return False
    if "const" in described or described.get("enum"):
        return False
    unions = (described[union] for union in _UNIONS if isinstance(described.get(union), list))
    branches = [branch for union in unions for branch in cast("list[Any]", union)]
    return not branches or any(isinstance(one, dict) and _is_typed(cast("Any", one)) for one in branches)


def _text(described: Mapping[str, Any], keyword: str) -> str | None:
    text = described.get(keyword)
    return text if isinstance(text, str) else None


def _without_excuses(value: Any, depth: int = 0) -> Any:
    require(
        depth <= MAX_DEPTH, problem="the JSON Schema is nested too deeply", instead="ask for less at a time"
    )
    match value:
        case dict():
            named = cast("dict[str, Any]", value).items()
            kept = (one for one in named if one[0] != _EXCUSE or not isinstance(one[1], str))
            return {key: _without_excuses(one, depth + 1) for key, one in kept}
        case list():
            return [_without_excuses(one, depth + 1) for one in cast("list[Any]", value)]
        case _:
            return value
