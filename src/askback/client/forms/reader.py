"""From a stranger's schema to a Blank. Never raises; what cannot be shown is left out with its reason.

The caps come first (`caps`), then each property loses its detours (`plain`), gets a label that no other has
(`choosing`), becomes an Entry (`entering`) and is judged by its words (`suspicion`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from askback.client.forms.caps import MAX_LABEL_LENGTH, MAX_OPTIONS_IN_FORM, can_be_named, cut, objection
from askback.client.forms.entering import MAX_QUOTED_LENGTH, entry_of, words_of
from askback.client.forms.form import FormEntry, LeftOut, ReceivedForm
from askback.client.forms.options import distinguish_titles
from askback.client.forms.property import Json, Unshowable, definitions_of, resolve_property
from askback.client.forms.suspicion import (
    MAX_JUDGED_LENGTH,
    TOO_MUCH,
    Said,
    suspicion_beside,
    suspicion_of_field,
)
from askback.model.question import SINGLE
from askback.model.safe import quote_safely
from askback.model.texts import Words

_NAMELESS: Final = "(a field without a name)"


def read_form(schema: Any) -> ReceivedForm:
    """The form behind a schema from outside, whatever that holds."""
    if why := objection(schema):
        return ReceivedForm(refusal=why)
    required = _required(schema)
    read = [*_read(schema, required), *_dangling(schema, required)]
    entries = tuple(_suspected(one for one in read if isinstance(one, FormEntry)))
    left_out = tuple(one for one in read if isinstance(one, LeftOut))
    return ReceivedForm(
        entries=entries,
        left_out=left_out,
        refusal=_refusal(entries, left_out, required),
        suspicion_beside=_suspicion_beside(entries, left_out),
    )


def _required(schema: Json) -> Mapping[str, None]:
    """The names that have to be filled in, in order and once each."""
    names = schema.get("required")
    listed = cast("list[Any]", names) if type(names) is list else []
    return dict.fromkeys(name for name in listed if type(name) is str)


def _dangling(schema: Json, required: Mapping[str, None]) -> Iterator[LeftOut]:
    for name in required:
        if name not in schema.get("properties", {}):
            yield LeftOut(name=cut(name, MAX_LABEL_LENGTH), why="the form does not say what it is")


def _read(schema: Json, required: Mapping[str, None]) -> Iterator[FormEntry | LeftOut]:
    definitions = definitions_of(schema)
    known: dict[str, Json] = {}
    for name, described in schema.get("properties", {}).items():
        try:
            if not can_be_named(name):
                raise Unshowable("its name is too long or cannot be read")
            known[name] = resolve_property(described, definitions)
        except Unshowable as error:
            yield LeftOut(name=cut(str(name), MAX_LABEL_LENGTH), why=str(error))
    yield from _entries(known, definitions, required)


def _entries(
    known: Mapping[str, Json], definitions: Mapping[str, Any], required: Mapping[str, None]
) -> Iterator[FormEntry | LeftOut]:
    offered = 0
    for (name, whole), label in zip(known.items(), _labels(known), strict=True):
        try:
            if offered > MAX_OPTIONS_IN_FORM:
                raise Unshowable("the form offers more than can be shown")
            entry = entry_of(name, label, whole, definitions, is_required=name in required)
        except Unshowable as error:
            yield LeftOut(name=name, why=str(error))
        else:
            offered += len(entry.options)
            yield entry


def _labels(known: Mapping[str, Json]) -> list[str]:
    """What each field is called, no two alike; a word of ours for one that nobody named."""
    if list(known) == [SINGLE] and not words_of(known[SINGLE], "title"):
        return [Words().answer]
    named = [(name, words_of(whole, "title") or name.strip() or _NAMELESS) for name, whole in known.items()]
    return distinguish_titles(named)


def _suspected(entries: Iterable[FormEntry]) -> Iterator[FormEntry]:
    """With what is suspected of those that are typed into, as far as a form of this length can be judged at all."""
    said = 0
    for entry in entries:
        said += len(entry.name) + len(entry.label) + len(entry.hint)
        if not entry.field.is_typed or entry.suspicion:
            yield entry
        else:
            yield replace(entry, suspicion=TOO_MUCH if said > MAX_JUDGED_LENGTH else _suspicion(entry))


def _suspicion(entry: FormEntry) -> str | None:
    suggestion = entry.default if type(entry.default) is str else ""
    return suspicion_of_field(entry.name, entry.field.title or "", entry.hint, suggestion=suggestion)


def _suspicion_beside(entries: tuple[FormEntry, ...], left_out: tuple[LeftOut, ...]) -> str | None:
    """Where nothing is typed, words that ask for a secret get none."""
    is_typed = any(entry.field.is_typed for entry in entries)
    return suspicion_beside(_beside(entries, left_out)) if is_typed else None


def _beside(entries: tuple[FormEntry, ...], left_out: tuple[LeftOut, ...]) -> Iterator[Said]:
    for entry in entries:
        if not entry.field.is_typed:
            yield "label", entry.label
            yield "hint", entry.hint
            for option in entry.options:
                yield "option", option.shown
    for one in left_out:
        yield "left out", one.name


def _refusal(
    entries: tuple[FormEntry, ...], left_out: tuple[LeftOut, ...], required: Mapping[str, None]
) -> str | None:
    demanded = {cut(name, MAX_LABEL_LENGTH) for name in required}
    missing = next((one for one in left_out if one.name in demanded), None)
    if missing is not None:
        return f"The field {quote_safely(missing.name, MAX_QUOTED_LENGTH)} has to be filled in, but {missing.why}."
    return "None of the fields can be shown." if left_out and not entries else None
