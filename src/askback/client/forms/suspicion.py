"""Why a field or message seems to ask for a secret, in words for the one who is asked. The judging is the lint's."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, Literal

from askback.client.forms.caps import MAX_LABEL_LENGTH
from askback.model.safe import MAX_BLOCK_LENGTH
from askback.schema.secret_lint import Suspicion, suspect_field, suspect_message

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

_MOST_SUGGESTION: Final = 500
"""Characters of a default that are read as a demand: the first lines in the box."""

MAX_JUDGED_LENGTH: Final = 25_000
"""Characters of a whole form that are looked through: a hundred fields with two sentences each."""

_MOST_BESIDE: Final = 100_000
"""Characters beside the boxes, each text once: a thousand options of a line each."""

_LONGEST_NAME: Final = 5
"""Words of what may be a mere name: "Basic (user name and password)" is a thing to choose, and asks for nothing."""

TOO_MUCH: Final = (
    "The form says more than can be looked through for traps. Read it with care, and type no secret."
)

_NEVER: Final = (
    "A form is no place for secrets: what is typed here can be read by this program and by a model."
)

_MASKED: Final = f"The server calls this a password field. {_NEVER}"


def suspicion_of_wishes(named: Any, pattern: Any) -> str | None:
    """For the format and pattern of a field that is typed into: a form shows them too."""
    if type(named) is str and is_masked(named):
        return _MASKED
    label = suspect_field(named[:MAX_LABEL_LENGTH], None, None) if type(named) is str else None
    prose = suspect_message(pattern[:MAX_LABEL_LENGTH]) if type(pattern) is str else None
    found = replace(label, where="format") if label else prose and replace(prose, where="pattern")
    return None if found is None else _sentence(found)


def is_masked(named: str) -> bool:
    """Whether the server would like dots in place of what is typed."""
    return named.strip().casefold() == "password"


def suspicion_of_field(name: str, title: str, hint: str, *, suggestion: str) -> str | None:
    """For a field that is typed into; `suggestion` is what stands in its box already."""
    found = suspect_field(name, title, hint) or _suspect_suggestion(suggestion)
    return None if found is None else _sentence(found)


def _suspect_suggestion(text: str) -> Suspicion | None:
    """What stands in the box already can ask too: "paste your token here"."""
    found = suspect_message(text[:_MOST_SUGGESTION]) if text else None
    return None if found is None else replace(found, where="suggestion")


def suspicion_of_message(message: str) -> str | None:
    """Of as much of the message as is shown."""
    found = suspect_message(message[:MAX_BLOCK_LENGTH])
    return None if found is None else _sentence(found)


def suspicion_beside(said: Iterable[Said]) -> str | None:
    """For what stands around a box with an innocent name: a tick, an option can say what to type into the next one."""
    room = _MOST_BESIDE
    for where, text in dict.fromkeys(said):
        room -= len(text)
        if room < 0:
            return TOO_MUCH
        if found := suspect_message(_as_part(text) if _is_name(where, text) else text):
            return _sentence(replace(found, where=where))
    return None


def _is_name(where: str, text: str) -> bool:
    return where != "hint" and len(text.split()) <= _LONGEST_NAME


def _as_part(name: str) -> str:
    # Alone, "API key" reads as a prompt. As a part of something it is named, and only a demand with it still asks.
    return f"of {name}"


def _sentence(found: Suspicion) -> str:
    # The kind and the word are from our own tables, never the server's text.
    named = found.kind if found.text.casefold() == found.kind.casefold() else f"{found.kind} (“{found.text}”)"
    return f"The {_PLACES[found.where]} seems to ask for a secret: {named}. {_NEVER}"
