"""A form while it is filled in: what stands in each field, what does not fit, what may be a key, what differs.

Checked at every change, so that nothing is found out only when it is sent. Knows no screen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from askback.client.forms.entering import MAX_QUOTED_LENGTH
from askback.client.forms.form import FormEntry, ReceivedForm
from askback.client.forms.typed import EnteredValue, as_typed, as_value, display_value
from askback.model.form import python_values
from askback.model.safe import safe_line
from askback.schema.secret_lint.shapes import recognize_key

_TAKEN_AGAIN: Final = "left empty, the server may take its own suggestion again"


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
        return self._put(name, as_typed(self._entries[name], text))

    def set(self, name: str, value: Any) -> str | None:
        """Put a JSON value, None to empty; gives the problem in words, None where it fits."""
        return self._put(name, as_value(self._entries[name], value))

    def _put(self, name: str, standing: EnteredValue) -> str | None:
        self._standing[name] = standing
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
            note=_TAKEN_AGAIN if is_left_empty else "",
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
