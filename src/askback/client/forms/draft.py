"""A form while it is filled in: what stands in each field, what does not fit, what may be a key, what differs.

Checked at every change, so that nothing is found out only when it is sent. Knows no screen.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from askback.client.forms.form import MAX_QUOTED_LENGTH, MAX_TYPED_LENGTH, EntryKind, FormEntry, ReceivedForm
from askback.model.form import python_values
from askback.model.safe import safe_line
from askback.model.texts import Problem, Words
from askback.schema.secret_lint.shapes import recognize_key
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


_READERS: Final[Mapping[EntryKind, Callable[[FormEntry, str], Any]]] = {
    "text": lambda _, text: text,
    "email": lambda _, text: text,
    "uri": lambda _, text: text,
    "date": lambda _, text: text,
    "date-time": _moment,
    "number": _number,
    "integer": _number,
    "boolean": lambda _, text: _YES_AND_NO.get(text.casefold(), text),
    "choice": _choice,
    "choices": _choices,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field that is not as it came; both sides in words for a person, empty where nothing stands."""

    entry: FormEntry
    before: str
    after: str
    note: str = ""
    """What an empty field may lead to, in our words."""


class Draft:
    """Starts with the server's defaults filled in, then with `values`, which are JSON values by field name."""

    def __init__(self, blank: ReceivedForm, values: Mapping[str, Any] | None = None) -> None:
        self.blank = blank
        self._entries = {entry.name: entry for entry in blank.entries}
        self._came = {name: as_value(entry, entry.default) for name, entry in self._entries.items()}
        self._standing = dict(self._came)
        self._excused: dict[str, str] = {}
        for name, value in (values or {}).items():
            if name not in self._entries:
                there_are = ", ".join(safe_line(known, MAX_QUOTED_LENGTH) for known in self._entries)
                raise ValueError(f"The form has no field {name!r}. It has: {there_are}.")
            self.set(name, value)

    def text(self, name: str) -> str:
        """What stands in the box, as typed; options by their titles."""
        return self._standing[name].text

    def value(self, name: str) -> Any:
        """The JSON value, a choice by its option's `value`; None where it is empty or does not fit."""
        return self._standing[name].value

    def shown(self, name: str) -> str:
        """What would be sent, in words for a person: for the review."""
        standing = self._standing[name]
        return standing.text if standing.value is None else display_value(self._entries[name], standing.value)

    def write(self, name: str, text: str) -> str | None:
        """Put `text` into the box; gives the problem in words, None where it fits."""
        self._standing[name] = standing = as_typed(self._entries[name], text)
        return standing.problem

    def set(self, name: str, value: Any) -> str | None:
        """Put a JSON value, None to empty; gives the problem in words, None where it fits."""
        self._standing[name] = standing = as_value(self._entries[name], value)
        return standing.problem

    def problem(self, name: str) -> str | None:
        """Why this cannot be sent yet, as a sentence that is safe to print."""
        return self._standing[name].problem

    def problems(self) -> dict[str, str]:
        """All of them in the form's order; a needed field that is empty is one."""
        return {name: one.problem for name, one in self._standing.items() if one.problem is not None}

    def pasted_key(self, name: str) -> str | None:
        """Why what stands there looks like a secret; it stops the sending until excused. A default is no paste."""
        text = self._standing[name].text
        is_typed = self._entries[name].field.is_typed and text != self._came[name].text
        return recognize_key(text) if is_typed else None

    def excuse(self, name: str) -> None:
        """The person says that it may be sent all the same; holds until something else stands there."""
        self._excused[name] = self._standing[name].text

    def stops(self) -> dict[str, str]:
        """What looks like a secret and is not excused, with the reason, in the form's order."""
        unexcused = [name for name in self._entries if self._excused.get(name) != self.text(name)]
        return {name: why for name in unexcused if (why := self.pasted_key(name)) is not None}

    def differences(self) -> list[Difference]:
        """What is not as the form came, in the form's order."""
        return [found for name in self._entries if (found := self.difference(name)) is not None]

    def difference(self, name: str) -> Difference | None:
        """How this field is not as it came; None where it is."""
        if self._standing[name] == self._came[name]:
            return None
        entry = self._entries[name]
        is_left_empty = entry.default is not None and not self.problem(name) and self._sent(entry) is None
        return Difference(
            entry=entry,
            before=display_value(entry, entry.default),
            after=self.shown(name),
            note="left empty, the server may take its own suggestion again" if is_left_empty else "",
        )

    def content(self) -> dict[str, Any]:
        """What is sent: everything that is filled in. Raises ValueError while there are problems or stops."""
        if self.blank.refusal is not None:
            raise ValueError(self.blank.refusal)
        stopped = [
            f"{safe_line(self._entries[name].label, MAX_QUOTED_LENGTH)} {why}."
            for name, why in self.stops().items()
        ]
        if waiting := [*self.problems().values(), *stopped]:
            raise ValueError(f"This cannot be sent yet. {' '.join(waiting)}")
        sent = {name: self._sent(entry) for name, entry in self._entries.items()}
        return {name: value for name, value in sent.items() if value is not None}

    def _sent(self, entry: FormEntry) -> Any:
        value = self._standing[entry.name].value
        if value is None and entry.kind == "text" and entry.default and type(entry.check("")) is str:
            return ""  # left out, it would be the default again
        if value == [] and not entry.is_required and not entry.default:
            return None
        return python_values(value, entry.meanings) if entry.meanings and value is not None else value
