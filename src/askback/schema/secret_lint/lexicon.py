"""Every phrase that names a secret, in the languages people are asked in, and what it means. The phrases are data:
`words/secrets.txt` and `words/descriptions.txt`."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from askback.schema.secret_lint.tables import tables_of


class TermPosition(Enum):
    """Where a phrase has to stand in a label to ask for a secret."""

    ANYWHERE = auto()
    AS_HEAD = auto()
    ALONE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretTerm:
    """What a phrase asks for."""

    kind: str
    text: str
    stands: TermPosition


_GROUPS: Final = {
    "anywhere": TermPosition.ANYWHERE,
    "described": TermPosition.ANYWHERE,
    "as_head": TermPosition.AS_HEAD,
    "alone": TermPosition.ALONE,
}
"""Groups of tables. Where two have the same phrase, the first one counts."""


def secret_phrases() -> Iterator[tuple[str, SecretTerm]]:
    """Every phrase that names a secret, with its stars, and what it means."""
    for group, stands in _GROUPS.items():
        for kind, phrases in tables_of(group):
            for phrase in phrases:
                yield phrase, SecretTerm(kind=kind, text=phrase.strip("*"), stands=stands)
    for name, owners in tables_of("owned"):
        kind, things = name.split(": ")
        for thing in things.split(", "):
            for owner in owners:
                phrase = f"{owner} {thing}"
                yield phrase, SecretTerm(kind=kind, text=phrase, stands=TermPosition.ANYWHERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A secret named by the words from `start` to before `end`."""

    start: int
    end: int
    secret: SecretTerm
