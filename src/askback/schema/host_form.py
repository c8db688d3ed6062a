"""Forms of the hosts' own calls (`ctx.elicit`, `elicit_form`, returned rounds), which take more than `ask` does.

A schema that no fields can be made of is sent as it was written, and its reply goes to the host unchecked, as without
Askback. What asks for a secret is refused in either case.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

from askback.errors import QuestionRefused, SecretInForm
from askback.question import Form, Sheet
from askback.question.form import digest_of
from askback.schema.keywords import refuse_password
from askback.schema.message import examine_host_message, examine_meta, is_typed_into
from askback.schema.read import sheet_of
from askback.schema.rules import refuse_secret, shown_title
from askback.schema.sheets import json_of

_KEPT = 512
"""Schemas kept that are sent as they were written; beyond, the one used longest ago is read again."""

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


def host_form_of(message: str, schema: Mapping[str, Any], *, meta: Mapping[str, Any] | None) -> Form[Any]:
    """The form that a host asks with; raises `SecretInForm`, and `QuestionRefused` for what cannot travel at all."""
    try:
        sheet: Sheet[Any] = sheet_of(schema)
        is_typed = is_typed_into(sheet)
    except SecretInForm:
        raise
    except QuestionRefused:
        canonical = json_of(schema)
        _require_object(schema)
        sheet, is_typed = _as_written(canonical)
    examine_host_message(message, is_typed=is_typed)
    if meta is not None:
        examine_meta(meta)
    return Form(message=message, sheet=sheet, meta=meta)


def _require_object(schema: Mapping[str, Any]) -> None:
    """Refuse what no client can read: the protocol has forms that are objects with properties."""
    says_so = not schema.keys().isdisjoint(("type", "properties"))
    properties = schema.get("properties", {})
    if not says_so or schema.get("type", "object") != "object" or not isinstance(properties, Mapping):
        raise QuestionRefused(
            field=None,
            problem="the JSON Schema is not that of an object with properties, and no client can show another",
            instead="write {'type': 'object', 'properties': {...}}",
        )


@lru_cache(maxsize=_KEPT)
def _as_written(canonical: str) -> tuple[Sheet[Any], bool]:
    """The sheet of a schema that is sent as it is, and whether anything is typed into it."""
    schema: dict[str, Any] = {"type": "object", "properties": {}, **json.loads(canonical)}
    if shown_title(schema.get("title")) is None:
        schema.pop("title", None)
    sent = _without_excuses(schema)
    typed = [(name, described) for name, described in _described(schema) if _is_typed(described)]
    is_typed = any(name for name, _ in typed)
    for name, described in typed if is_typed else ():
        refuse_password(name, described.get("format"))
        refuse_secret(name, _text(described, "title"), _text(described, "description"))
    sheet: Sheet[Any] = Sheet(
        fields={},
        required=frozenset(),
        build=lambda content: content,
        refill=lambda sheet, _: sheet,
        digest=digest_of(json.dumps(sent, sort_keys=True)),
        verbatim=sent,
    )
    return sheet, is_typed


def _described(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Whatever is described at any depth, each under the name of the property that it is part of, if any."""
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
    """What a keyword holds by names: those of properties are shown, those of definitions are not."""
    if keyword in _OPEN:
        return [(_UNNAMED, _written_out(value))]
    if not isinstance(value, dict):
        return []
    members = {name: _written_out(one) for name, one in cast("dict[str, Any]", value).items()}
    if keyword == "properties":
        return [(name or _UNNAMED, one) for name, one in members.items()]
    if keyword == "patternProperties":
        return [(pattern.strip("^$") or _UNNAMED, one) for pattern, one in members.items()]
    return [("definition", one) for one in members.values()] if keyword in _DEFINITIONS else []


def _written_out(schema: Any) -> Any:
    """A schema that is `true` allows anything, as one without keywords does."""
    return {} if schema is True else schema


def _is_typed(described: Mapping[str, Any]) -> bool:
    """Whether a person may type there, without an excuse; of a union, whether that is so for one of its branches."""
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
    if depth > MAX_DEPTH:
        raise QuestionRefused(
            field=None, problem="the JSON Schema is nested too deeply", instead="ask for less at a time"
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
