"""The secret lint: do these words ask for what belongs on a page? Knows texts, not fields, forms or refusals.

A text is folded and cut into words (`text`), and looked up with the gaps ignored (`lexicon`), so that "API key",
`apiKey` and `a-p-i k_e_y` are one spelling; what it names (`sightings`) is then judged by how it asks (`verdict`).

A name or a short title is a label: a secret word in it asks, unless the words beside it talk *about* secrets. A
message or a description is prose: there a demand has to reach the secret, or the sentence has to be a mere label. The
lint reads what is written, so a determined author gets past it; it is for the careless one, and makes the other one lie
in writing.
"""

from dataclasses import dataclass

from askback.schema.secret_lint.lexicon import read
from askback.schema.secret_lint.verdict import (
    MAX_LABEL_WORDS,
    find_demand_in_label,
    find_demand_in_prose,
    is_path_of,
)

__all__ = ["Suspicion", "suspect_field", "suspect_message"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A text seems to ask for a secret; `text` is the phrase of our tables that was found in it."""

    kind: str
    where: str
    text: str


def suspect_field(name: str, title: str | None, description: str | None) -> Suspicion | None:
    """Whether the name, the title or the description asks for a secret; only for fields that a person types into."""
    label = title if title and len(title.split()) <= MAX_LABEL_WORDS else None
    for where, text, judge in (
        ("name", name, find_demand_in_label),
        ("title", title, find_demand_in_prose),
        ("title", label, find_demand_in_label),
        ("description", description, find_demand_in_prose),
    ):
        if text and (secret := judge(text)):
            is_name = where == "name" or read(text).words == read(name).words
            if is_name and is_path_of(secret, title, description):
                continue
            return Suspicion(kind=secret.kind, where=where, text=secret.text)
    return None


def suspect_message(message: str) -> Suspicion | None:
    """Whether the message asks for a secret; to mention secrets is no offence."""
    secret = find_demand_in_prose(message)
    return Suspicion(kind=secret.kind, where="message", text=secret.text) if secret else None
