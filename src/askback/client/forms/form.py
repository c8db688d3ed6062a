"""A form as it came, ready to be shown and filled in, and why its words seem to ask for a secret.

`label`, `hint` and option titles are the server's own text, cut to length: surfaces make them safe to show.
`expects`, `why`, `refusal` and `suspicion` are our sentences. In `expects` the server's format and pattern may stand
between quotes, made safe; they are judged like the rest of its words. The judging is the lint's.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, cast

from askback.model.question import Choice, Choices, Field, Option
from askback.model.safe import MAX_BLOCK_LENGTH
from askback.schema.forms import MAX_SCHEMA_BYTES
from askback.schema.rules import MAX_FIELDS, MAX_LABEL_LENGTH, MAX_OPTIONS
from askback.schema.secret_lint import Suspicion, suspect_field, suspect_message
from askback.schema.size import exceeds_bytes
from askback.schema.validation import Check
from askback.schema.values import is_readable

MAX_TYPED_LENGTH: Final = 50_000
"""Characters in one box: a long letter. Our own servers take little more for a whole form."""

MAX_OPTION_LENGTH: Final = 2_000
"""Characters of an option's value, which is sent as it came and so cannot be cut: a long address is shorter."""

MAX_OPTIONS_IN_FORM: Final = 10 * MAX_OPTIONS
"""Options of a whole form: references can make many of one list."""

MAX_QUOTED_LENGTH: Final = 60
"""Characters of a label or option inside a sentence of ours."""

UNSAFE_INTEGER: Final = 2**53
"""From here on a reader that has only doubles gets another number than was typed."""

_MAX_REQUIRED: Final = 10 * MAX_FIELDS
"""Names in `required`; a few too many are a slip, more are an attack."""


def objection(schema: Any) -> str | None:
    """Why the schema is not even read, as a sentence; None where it is of a size that people fill in."""
    if type(schema) is not dict:
        return "What the server sent is not a form."
    whole = cast("dict[str, Any]", schema)
    properties, required = whole.get("properties", {}), whole.get("required", [])
    if type(properties) is not dict or whole.get("type", "object") != "object":
        return "What the server sent has no list of fields."
    fields = len(cast("dict[str, Any]", properties))
    if fields > MAX_FIELDS:
        return f"The form has {fields:,} fields, and {MAX_FIELDS} are the most that can be shown."
    if type(required) is list and len(cast("list[Any]", required)) > _MAX_REQUIRED:
        return "The form demands more fields than it has."
    if exceeds_bytes(whole, MAX_SCHEMA_BYTES):
        return f"The form is too large to be shown: more than {MAX_SCHEMA_BYTES // 1024:,} KB."
    return None


def can_be_named(name: Any) -> bool:
    """Whether a name can be shown whole, and sent back."""
    return type(name) is str and len(name) <= MAX_LABEL_LENGTH and is_readable(name)


def cut(text: str, most: int) -> str:
    """The beginning, with an ellipsis where something is left out."""
    return text if len(text) <= most else text[: most - 1] + "…"


_PLACES: Final = {
    "name": "name",
    "title": "label",
    "description": "explanation",
    "message": "message",
    "suggestion": "text in the box",
    "format": "server's word for the format",
    "pattern": "pattern",
    "label": "label of another field",
    "hint": "explanation of another field",
    "option": "title of an option",
    "left out": "name of a field that cannot be shown",
}

Said = tuple[Literal["label", "hint", "option", "left out"], str]
"""Words beside the boxes that one types into, and where they stand."""

_MAX_SUGGESTION_LENGTH: Final = 500
"""Characters of a default that are read as a demand: the first lines in the box."""

MAX_JUDGED_LENGTH: Final = 25_000
"""Characters of a whole form that are looked through: a hundred fields with two sentences each."""

_MAX_LENGTH_BESIDE: Final = 100_000
"""Characters beside the boxes, each text once: a thousand options of a line each."""

_MAX_NAME_WORDS: Final = 5
"""Words of a text that may be only a name: "Basic (user name and password)" names a thing to choose."""

TOO_MUCH: Final = (
    "The form says more than can be looked through for traps. Read it with care, and type no secret."
)

_NEVER: Final = (
    "A form is no place for secrets: what is typed here can be read by this program and by a model."
)


def suspicion_of_wishes(named: Any, pattern: Any) -> str | None:
    """For the format and pattern of a field that is typed into: a form shows them too."""
    if type(named) is str and is_masked(named):
        return f"The server calls this a password field. {_NEVER}"
    label = suspect_field(named[:MAX_LABEL_LENGTH], None, None) if type(named) is str else None
    prose = suspect_message(pattern[:MAX_LABEL_LENGTH]) if type(pattern) is str else None
    found = (
        dataclasses.replace(label, where="format")
        if label
        else prose and dataclasses.replace(prose, where="pattern")
    )
    return None if found is None else _sentence(found)


def is_masked(named: str) -> bool:
    """Whether the server would like dots in place of what is typed."""
    return named.strip().casefold() == "password"


def suspicion_of_field(name: str, title: str, hint: str, *, suggestion: str) -> str | None:
    """For a field that is typed into; `suggestion` is what stands in its box already: it can ask too, as in "paste
    your token here"."""
    found = suspect_field(name, title, hint)
    if found is None and suggestion and (asks := suspect_message(suggestion[:_MAX_SUGGESTION_LENGTH])):
        found = dataclasses.replace(asks, where="suggestion")
    return None if found is None else _sentence(found)


def suspicion_beside(said: Iterable[Said]) -> str | None:
    """For what stands around a box with an innocent name: a tick, an option can say what to type into the next one."""
    room = _MAX_LENGTH_BESIDE
    for where, text in dict.fromkeys(said):
        room -= len(text)
        if room < 0:
            return TOO_MUCH
        is_name = where != "hint" and len(text.split()) <= _MAX_NAME_WORDS
        # Alone, "API key" reads as a prompt. As a part of something it is named, and only a demand with it still asks.
        if found := suspect_message(f"of {text}" if is_name else text):
            return _sentence(dataclasses.replace(found, where=where))
    return None


def _sentence(found: Suspicion) -> str:
    # The kind and the word are from our own tables, never the server's text.
    named = found.kind if found.text.casefold() == found.kind.casefold() else f"{found.kind} (“{found.text}”)"
    return f"The {_PLACES[found.where]} seems to ask for a secret: {named}. {_NEVER}"


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
        """Why the form seems to ask for a secret: its first such field, or else the words beside the fields."""
        return self._of_fields or self.suspicion_beside

    def suspicion_of(self, message: str) -> str | None:
        """Why the form or the message above it seems to ask for a secret; None where there is nothing to type into."""
        return self._of_fields or self.suspicion_around(message)

    def suspicion_around(self, message: str) -> str | None:
        """Why the message or the words beside the fields seem to ask for a secret."""
        if self.suspicion_beside is None and any(entry.field.is_typed for entry in self.entries):
            found = suspect_message(message[:MAX_BLOCK_LENGTH])  # as much of it as is shown
            return None if found is None else _sentence(found)
        return self.suspicion_beside

    @property
    def _of_fields(self) -> str | None:
        return next((entry.suspicion for entry in self.entries if entry.suspicion), None)
