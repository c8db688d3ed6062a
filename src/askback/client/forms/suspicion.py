"""Why a field or message seems to ask for a secret, in words for the one who is asked. The judging is the lint's."""

from dataclasses import replace
from typing import Final

from askback.client.safe import MOST_IN_BLOCK
from askback.schema.secrets import Suspicion, suspect_field, suspect_message

_PLACES: Final = {
    "name": "name",
    "title": "label",
    "description": "explanation",
    "message": "message",
    "suggestion": "text in the box",
}

_MOST_SUGGESTION: Final = 500
"""Characters of a default that are read as a demand: the first lines in the box."""

MOST_JUDGED: Final = 25_000
"""Characters of a whole form that are looked through: a hundred fields with two sentences each."""

TOO_MUCH: Final = (
    "The form says more than can be looked through for traps. Read it with care, and type no secret."
)

_NEVER: Final = (
    "A form is no place for secrets: what is typed here can be read by this program and by a model."
)


MASKED: Final = f"The server calls this a password field. {_NEVER}"


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
    found = suspect_message(message[:MOST_IN_BLOCK])
    return None if found is None else _sentence(found)


def _sentence(found: Suspicion) -> str:
    # The kind and the word are from our own tables, never the server's text.
    named = found.kind if found.text.casefold() == found.kind.casefold() else f"{found.kind} (“{found.text}”)"
    return f"The {_PLACES[found.where]} seems to ask for a secret: {named}. {_NEVER}"
