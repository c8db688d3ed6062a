"""From what stands in a box to the JSON value it means. Knows one entry at a time, and no draft."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from askback.client.forms.caps import MAX_TYPED_LENGTH
from askback.client.forms.entering import MAX_QUOTED_LENGTH
from askback.client.forms.form import EntryKind, FormEntry
from askback.model.safe import safe_line
from askback.model.texts import Problem, Words
from askback.schema.values import to_wire

_WHOLE: Final = re.compile(r"[+-]?\d{1,300}")
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][+-]?\d{1,4})?")
_MOMENT: Final = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:\.\d+)?)? ?(.*)", re.ASCII)
"""A date and time as people write it: with a space, and perhaps without seconds."""

_YES_AND_NO: Final = {
    **dict.fromkeys(("yes", "y", "true", "on", "1"), True),
    **dict.fromkeys(("no", "n", "false", "off", "0"), False),
}
_SAY: Final = Words()


@dataclass(frozen=True, slots=True)
class EnteredValue:
    """What stands in a field: as typed, the value that fits, and the problem where none does."""

    text: str
    value: Any = None
    problem: str | None = None


def as_typed(entry: FormEntry, text: str) -> EnteredValue:
    """What a person typed; for yes-or-no and choices their words, titles or numbers are taken too."""
    if len(text) > MAX_TYPED_LENGTH:
        return EnteredValue(text, problem=_SAY.sentence(_problem(entry, "too_long", most=MAX_TYPED_LENGTH)))
    meant = text if entry.kind == "text" else text.strip()
    return _judged(entry, text, _READERS[entry.kind](entry, meant)) if meant else _emptied(entry, text)


def as_value(entry: FormEntry, value: Any) -> EnteredValue:
    """A JSON value, as a tick box, a list or a script gives it; None empties."""
    spelled = to_wire(entry.field, value, entry.meanings)
    if spelled is None or (spelled == "" and entry.kind != "choice"):
        return _emptied(entry, "")
    if type(spelled) is str and entry.kind == "text":
        return as_typed(entry, spelled)
    return _judged(entry, display_value(entry, spelled), spelled)


def display_value(entry: FormEntry, value: Any) -> str:
    """A value in words for a person; options by their titles, nothing for what is empty."""
    titles: Mapping[Any, str] = {option.value: option.shown for option in entry.options}
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(
                display_value(entry, one) for one in cast("list[Any]", value) if type(one) is str
            )
        case str():
            return titles.get(value, value)
        case _:
            return str(value)


def _emptied(entry: FormEntry, text: str) -> EnteredValue:
    """An empty box: a problem only where the field is needed."""
    if entry.kind == "choices":
        return _judged(entry, text, []) if entry.is_required or entry.default else EnteredValue(text, [])
    if entry.kind == "text" and entry.default == "":
        return EnteredValue(text, "")
    return EnteredValue(
        text, problem=_SAY.sentence(_problem(entry, "missing")) if entry.is_required else None
    )


def _judged(entry: FormEntry, text: str, value: Any) -> EnteredValue:
    kept = entry.check(value)
    return (
        EnteredValue(text, problem=_SAY.sentence(kept)) if type(kept) is Problem else EnteredValue(text, kept)
    )


def _problem(entry: FormEntry, code: str, **facts: object) -> Problem:
    return Problem(code=code, field=entry.name, title=safe_line(entry.label, MAX_QUOTED_LENGTH), facts=facts)


def _number(_: FormEntry, text: str) -> Any:
    plain = text.replace("\N{MINUS SIGN}", "-")
    if _WHOLE.fullmatch(plain):
        return int(plain)
    return float(plain) if _NUMBER.fullmatch(plain) else text


def _moment(_: FormEntry, text: str) -> str:
    found = _MOMENT.fullmatch(text)
    return f"{found[1]}T{found[2]}{found[3] or ':00'}{found[4]}" if found else text


def _boolean(_: FormEntry, text: str) -> Any:
    return _YES_AND_NO.get(text.casefold(), text)


def _choice(entry: FormEntry, text: str) -> str | None:
    """The option a person means by what they see of it, its title or its number; None where there is no such."""
    options = entry.options
    folded = text.casefold()
    exact = [one.value for one in options if one.shown == text]
    meant = exact or [one.value for one in options if one.shown.casefold() == folded]
    if len(meant) == 1:
        return meant[0]
    is_place = text.isdecimal() and len(text) < 6 and not any(one.shown.isdecimal() for one in options)
    place = int(text) - 1 if is_place else -1
    return options[place].value if 0 <= place < len(options) else None


def _choices(entry: FormEntry, text: str) -> list[str | None]:
    """One option, or several parted by commas."""
    whole = _choice(entry, text)
    if whole is not None:
        return [whole]
    parts = [part.strip() for part in text.split(",", len(entry.options) + 1)]
    return [_choice(entry, part) for part in parts if part]


def _as_it_is(_: FormEntry, text: str) -> str:
    return text


_READERS: Final[Mapping[EntryKind, Callable[[FormEntry, str], Any]]] = {
    "text": _as_it_is,
    "email": _as_it_is,
    "uri": _as_it_is,
    "date": _as_it_is,
    "date-time": _moment,
    "number": _number,
    "integer": _number,
    "boolean": _boolean,
    "choice": _choice,
    "choices": _choices,
}
