"""From a stranger's schema to a ReceivedForm. Never raises; what cannot be shown is left out with its reason.

The caps come first, then each property loses its detours, gets a label that no other has, becomes a FormEntry with its
check and default, and is judged by its words.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from askback.client.forms.field import describe_field, shape_of, within_reach
from askback.client.forms.form import (
    MAX_JUDGED_LENGTH,
    MAX_LABEL_LENGTH,
    MAX_OPTIONS_IN_FORM,
    MAX_QUOTED_LENGTH,
    MAX_TYPED_LENGTH,
    TOO_MUCH,
    UNSAFE_INTEGER,
    EntryKind,
    FormEntry,
    LeftOut,
    ReceivedForm,
    Said,
    can_be_named,
    cut,
    objection,
    suspicion_beside,
    suspicion_of_field,
    suspicion_of_wishes,
)
from askback.client.forms.property import (
    Json,
    Unshowable,
    definitions_of,
    distinguish_titles,
    resolve_property,
)
from askback.model.form import Meanings
from askback.model.question import (
    SINGLE,
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Email,
    Field,
    Integer,
    Number,
    Option,
    Text,
    Url,
)
from askback.model.safe import has_hidden_characters, quote_safely, safe_line
from askback.model.texts import Problem, Words
from askback.schema.rules import MAX_DESCRIPTION_LENGTH
from askback.schema.validation import Check, check_of
from askback.schema.values import as_default, to_wire

_KINDS: Final[Mapping[type[Field[Any]], EntryKind]] = {
    Text: "text",
    Email: "email",
    Url: "uri",
    Date: "date",
    DateTime: "date-time",
    Number: "number",
    Integer: "integer",
    Boolean: "boolean",
    Choice: "choice",
    Choices: "choices",
}

_MAX_LENGTHS: Final = {"title": MAX_LABEL_LENGTH, "description": MAX_DESCRIPTION_LENGTH}


def entry_of(
    name: str,
    label: str,
    whole: Json,
    definitions: Mapping[str, Any],
    *,
    is_required: bool,
) -> FormEntry:
    """The property under the label that was found for it; Unshowable where a form has no field for it."""
    shape = shape_of(whole, definitions)
    title, hint = words_of(whole, "title"), words_of(whole, "description")
    field = shape.field.altered(title=title or None, description=hint or None, optional=not is_required)
    check = _check_of(name, label, field)
    default, why_not = _default_of(field, whole.get("default"), shape.meanings, check)
    return FormEntry(
        name=name,
        field=field if default is None else field.altered(default=as_default(field, default)),
        label=label,
        hint=hint,
        kind=_KINDS[type(field)],
        is_required=is_required,
        expects="; ".join([describe_field(field), *shape.notes, *why_not]),
        suspicion=suspicion_of_wishes(whole.get("format"), whole.get("pattern")) if field.is_typed else None,
        default=default,
        check=check,
        meanings=shape.meanings,
    )


def words_of(whole: Json, keyword: str) -> str:
    """The server's own title or description, cut; empty where it says nothing."""
    text = whole.get(keyword)
    return cut(text, _MAX_LENGTHS[keyword]) if type(text) is str and text.strip() else ""


def _check_of(name: str, label: str, field: Field[Any]) -> Check:
    """The check whose problems name the field as it is shown, so that its sentences are safe to print."""
    spoken = field.altered(title=safe_line(label, MAX_QUOTED_LENGTH))
    if isinstance(spoken, Integer):
        spoken = within_reach(spoken)
    if isinstance(spoken, Choice | Choices):
        shown = tuple(Option(one.value, safe_line(one.shown, MAX_QUOTED_LENGTH)) for one in spoken.options)
        spoken = spoken.altered(options=shown)
    check = check_of(name, spoken)
    return _exactly(name, spoken, check) if isinstance(spoken, Number) else check


def _exactly(name: str, field: Number, check: Check) -> Check:
    """A whole number is sent to the digit or not at all, also where any number may stand."""
    most = UNSAFE_INTEGER - 1
    too_high = Problem(code="too_high", field=name, title=field.title, facts={"most": most})
    too_low = Problem(code="too_low", field=name, title=field.title, facts={"least": -most})

    def exact(value: Any) -> Any:
        if type(value) is not int or abs(value) <= most:
            return check(value)
        return too_high if value > 0 else too_low

    return exact


def _default_of(
    field: Field[Any], default: Any, meanings: Meanings, check: Check
) -> tuple[Any, tuple[str, ...]]:
    """The default as it is filled in, or why it is not."""
    if default is None:
        return None, ()
    kept = check(to_wire(field, default, meanings))
    if type(kept) is Problem or (type(kept) is str and len(kept) > MAX_TYPED_LENGTH):
        return None, ("the server's own suggestion does not fit and is not filled in",)
    # A person cannot agree to send what they cannot see.
    if type(field) is Text and has_hidden_characters(kept):
        return None, (
            "the server's own suggestion holds characters that cannot be seen and is not filled in",
        )
    return kept, ()


def read_form(schema: Any) -> ReceivedForm:
    """Read a schema from outside, which may hold anything, as a form."""
    if why := objection(schema):
        return ReceivedForm(refusal=why)
    names: object = schema.get("required")
    listed = cast("list[Any]", names) if type(names) is list else []
    required = dict.fromkeys(name for name in listed if type(name) is str)
    read = list(_read(schema, required))
    entries = tuple(_suspected(one for one in read if isinstance(one, FormEntry)))
    left_out = tuple(one for one in read if isinstance(one, LeftOut))
    is_typed = any(entry.field.is_typed for entry in entries)
    return ReceivedForm(
        entries=entries,
        left_out=left_out,
        refusal=_refusal(entries, left_out, required),
        # Where nothing is typed, words that ask for a secret get none.
        suspicion_beside=suspicion_beside(_beside(entries, left_out)) if is_typed else None,
    )


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
    for name in required:
        if name not in schema.get("properties", {}):
            yield LeftOut(name=cut(name, MAX_LABEL_LENGTH), why="the form does not say what it is")


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
    """The label of each field, no two alike; our own word for a field without a name."""
    if list(known) == [SINGLE] and not words_of(known[SINGLE], "title"):
        return [Words().answer]
    named = [
        (name, words_of(whole, "title") or name.strip() or "(a field without a name)")
        for name, whole in known.items()
    ]
    return distinguish_titles(named)


def _suspected(entries: Iterable[FormEntry]) -> Iterator[FormEntry]:
    """With what is suspected of those that are typed into, as far as a form of this length can be judged at all."""
    said = 0
    for entry in entries:
        said += len(entry.name) + len(entry.label) + len(entry.hint)
        if not entry.field.is_typed or entry.suspicion:
            yield entry
        elif said > MAX_JUDGED_LENGTH:
            yield replace(entry, suspicion=TOO_MUCH)
        else:
            suggestion = entry.default if type(entry.default) is str else ""
            found = suspicion_of_field(entry.name, entry.field.title or "", entry.hint, suggestion=suggestion)
            yield replace(entry, suspicion=found)


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
