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
from askback.schema.rules import refuse_secret
from askback.schema.sheets import json_of

_KEPT = 512
"""Schemas kept that are sent as they were written; beyond, the one used longest ago is read again."""

_CHOOSING = frozenset({"enum", "const", "oneOf"})
"""Keywords that list choices: nothing is typed there."""

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
        sheet, is_typed = _verbatim(json_of(schema))
    examine_host_message(message, is_typed=is_typed)
    if meta is not None:
        examine_meta(meta)
    return Form(message=message, sheet=sheet, meta=meta)


@lru_cache(maxsize=_KEPT)
def _verbatim(canonical: str) -> tuple[Sheet[Any], bool]:
    """The sheet of a schema as it was written, and whether anything is typed into it."""
    schema = json.loads(canonical)
    typed = [(name, described) for name, described in _properties(schema) if _is_typed(described)]
    for name, described in typed:
        refuse_secret(name, _text(described, "title"), _text(described, "description"))
    sheet: Sheet[Any] = Sheet(
        fields={},
        required=frozenset(),
        build=lambda content: content,
        refill=lambda sheet, _: sheet,
        digest=digest_of(canonical),
        verbatim=_without_excuses(schema),
    )
    return sheet, bool(typed)


def _is_typed(described: Mapping[str, Any]) -> bool:
    return (
        described.get("type") != "boolean"
        and _CHOOSING.isdisjoint(described)
        and not isinstance(described.get(_EXCUSE), str)
    )


def _properties(schema: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every property at any depth, also of definitions."""
    waiting = [schema]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(cast("list[Any]", item))
        elif isinstance(item, dict):
            described = cast("dict[str, Any]", item)
            waiting.extend(described.values())
            for name, one in _named(described.get("properties")):
                refuse_password(name, one.get("format"))
                yield name, one


def _named(properties: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(properties, dict):
        for name, one in cast("dict[str, Any]", properties).items():
            if isinstance(one, dict):
                yield name, cast("dict[str, Any]", one)


def _text(described: Mapping[str, Any], keyword: str) -> str | None:
    text = described.get(keyword)
    return text if isinstance(text, str) else None


def _without_excuses(value: Any) -> Any:
    match value:
        case dict():
            named = cast("dict[str, Any]", value).items()
            kept = (one for one in named if one[0] != _EXCUSE or not isinstance(one[1], str))
            return {key: _without_excuses(one) for key, one in kept}
        case list():
            return [_without_excuses(one) for one in cast("list[Any]", value)]
        case _:
            return value
