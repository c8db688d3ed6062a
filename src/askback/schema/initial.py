"""This call's defaults: a fieldset filled in with values that an author has at hand."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, cast

from askback.errors import QuestionRefused
from askback.model.form import digest_of
from askback.model.question import SINGLE, Field, FieldSet
from askback.schema.checks import checks_of
from askback.schema.rules import require_fitting
from askback.schema.values import NO_MEANINGS, Meanings, as_default, to_wire

Spelling = tuple[Mapping[str, str] | None, Mapping[str, Meanings]]
"""The author's name of each field, or None where a bare value is asked for; and the values behind their choices."""

_KEPT = 256


def fill_in_defaults(spelling: Spelling, fieldset: FieldSet[Any], values: object) -> FieldSet[Any]:
    """The fieldset with `values` for defaults; what is required stays so."""
    attributes, meanings = spelling
    checks = checks_of(fieldset)
    initial: dict[str, Any] = {}
    for name, value in _named(attributes, values):
        if value is not None:
            spelling = to_wire(fieldset.fields[name], value, meanings.get(name, NO_MEANINGS))
            initial[name] = require_fitting(name, spelling, checks[name], said="the initial value")
    return _kept(fieldset, json.dumps(initial)) if initial else fieldset


@lru_cache(maxsize=_KEPT)
def _kept(fieldset: FieldSet[Any], initial: str) -> FieldSet[Any]:
    values: Mapping[str, Any] = json.loads(initial)
    fields = {
        name: field.altered(default=as_default(field, values[name])) if name in values else field
        for name, field in fieldset.fields.items()
    }
    return replace(
        fieldset, fields=MappingProxyType(fields), digest=digest_of_fields(fields, fieldset.required)
    )


def _named(attributes: Mapping[str, str] | None, values: Any) -> Iterator[tuple[str, Any]]:
    if attributes is None:
        yield SINGLE, values
    elif isinstance(values, Mapping):
        names = {attribute: name for name, attribute in attributes.items()} | {
            name: name for name in attributes
        }
        for given, value in cast("Mapping[Any, Any]", values).items():
            if given not in names:
                raise QuestionRefused(
                    field=str(given),
                    problem="there is an initial value for it, but no such field",
                    instead=f"use the names {', '.join(attributes)}",
                )
            yield names[given], value
    elif any(hasattr(values, attribute) for attribute in attributes.values()):
        yield from ((name, getattr(values, attribute, None)) for name, attribute in attributes.items())
    else:
        raise QuestionRefused(
            field=None,
            problem=f"the initial values came as {type(values).__name__}",
            instead=f"give a dict with the names {', '.join(attributes)}, or an instance of what is asked for",
        )


def digest_of_fields(fields: Mapping[str, Field[Any]], required: frozenset[str]) -> str:
    """The same for fieldsets that ask the same in the same order; excuses are nobody's question."""
    asked = [
        [
            name,
            name in required,
            {key: value for key, value in field.keywords().items() if key != "notASecret"},
        ]
        for name, field in fields.items()
    ]
    return digest_of(json.dumps(asked, sort_keys=True, separators=(",", ":")))
