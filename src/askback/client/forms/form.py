"""A form as it came, ready to be shown and filled in. Frozen values; nothing here is typed in yet.

`label`, `hint` and option titles are the server's own text, cut to length: whoever shows them makes them safe there.
`expects`, `why`, `refusal` and `suspicion` are our sentences. In `expects` the server's format and pattern may stand
between quotes, made safe; they are judged like the rest of its words.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from askback.client.forms.suspicion import suspicion_of_message
from askback.model.question import Choice, Choices, Field, Option
from askback.schema.checks import Check

EntryKind = Literal[
    "text", "number", "integer", "boolean", "choice", "choices", "date", "date-time", "email", "uri"
]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FormEntry:
    """One field that can be shown."""

    name: str
    field: Field[Any]
    label: str
    hint: str
    kind: EntryKind
    is_required: bool
    expects: str
    """What fits, in our words, and what of the server's wishes could not be read."""
    suspicion: str | None = None
    """Why this seems to ask for a secret. Such a field is never masked: that would make it look like a good place."""
    default: Any = None
    """As the wire spells it; one that does not fit its own field is not kept."""
    check: Check = dataclasses.field(repr=False, compare=False)
    meanings: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    """What is sent for an option that is spelled with a number or a truth value."""

    @property
    def options(self) -> tuple[Option, ...]:
        """What can be chosen, in order; nothing where one types."""
        return self.field.options if isinstance(self.field, Choice | Choices) else ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A field that cannot be shown, and why."""

    name: str
    why: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedForm:
    """The fields in their order. With a `refusal` the form can only be declined or cancelled."""

    entries: tuple[FormEntry, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    refusal: str | None = None
    suspicion_beside: str | None = None
    """Why words beside the fields that are typed into seem to ask for a secret; the fields' own is theirs."""

    @property
    def suspicion(self) -> str | None:
        """Of the first field that seems to ask for a secret, or else of the words beside those that are typed into."""
        return self._of_fields or self.suspicion_beside

    def suspicion_of(self, message: str) -> str | None:
        """The same for the form together with the message above it; only where there is something to type into."""
        return self._of_fields or self.suspicion_around(message)

    def suspicion_around(self, message: str) -> str | None:
        """Of the words beside the fields or of the message: it holds for every field that is typed into."""
        if self.suspicion_beside is None and any(entry.field.is_typed for entry in self.entries):
            return suspicion_of_message(message)
        return self.suspicion_beside

    @property
    def _of_fields(self) -> str | None:
        return next((entry.suspicion for entry in self.entries if entry.suspicion), None)
