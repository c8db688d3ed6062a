"""Secrets that several words describe together: "the three digits on the back of your card"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from askback.schema.secret_lint.lexicon import SecretTerm, Sighting, TermPosition
from askback.schema.secret_lint.tables import PhraseTable, joined_spellings, phrases_in
from askback.schema.secret_lint.text import BOUNDS, MARKS, FoldedText, read

MAX_STEM_LETTERS: Final = 12
"""No stem in the tables is longer."""

MAX_PHRASE_WORDS: Final = 6
"""No phrase in the table `otherwise` is longer."""

NEAR: Final = 10
"""Words within which those that describe a secret together stand."""


@dataclass(frozen=True, slots=True)
class Description:
    """A secret, and the tables of which one word each describes it."""

    secret: SecretTerm
    tables: Sequence[str]


@cache
def _descriptions(table: str, stands: TermPosition) -> list[Description]:
    found: list[Description] = []
    for row in phrases_in(table):
        kind, _, joined = row.partition(": ")
        tables = joined.split(" + ")
        secret = SecretTerm(kind=kind, text=phrases_in(tables[0])[0], stands=stands)
        found.append(Description(secret, tables))
    return found


def described_together(reading: FoldedText) -> Iterator[Sighting]:
    """Places where one word of each table stands near the others in a sentence, in any order."""
    spaced = _spaced()
    last: dict[tuple[int, int], int] = {}
    for place, word in enumerate(reading.words):
        if word in BOUNDS:
            last.clear()
            continue
        roles = [*_roles_of(word), *_roles_of(_compound_at(reading, place))]
        for row, table in roles if roles and not _is_otherwise(reading, place) else ():
            last[row, table] = place
            places = [last.get((row, other), -NEAR) for other in range(len(spaced[row].tables))]
            if place - min(places) < NEAR:
                yield Sighting(start=places[0], end=place + 1, secret=spaced[row].secret)


def _spaced() -> list[Description]:
    return [
        *_descriptions("together", TermPosition.ANYWHERE),
        *_descriptions("together_as_head", TermPosition.AS_HEAD),
    ]


def _compound_at(reading: FoldedText, place: int) -> str:
    """A name that is written in humps or with digits, and so read as two words: MetaMask, BIP39."""
    if not place or not reading.glued[place] or reading.words[place - 1] in MARKS:
        return ""
    return reading.words[place - 1] + reading.words[place]


def _roles_of(word: str) -> Iterator[tuple[int, int]]:
    """The rows of descriptions that a word can belong to, and as which part of each."""
    yield from _roles().get(word, ())
    for size in range(2, min(len(word), MAX_STEM_LETTERS) + 1):
        yield from _roles().get(f"{word[:size]}*", ())


@cache
def _roles() -> dict[str, list[tuple[int, int]]]:
    roles: dict[str, list[tuple[int, int]]] = {}
    for row, description in enumerate(_spaced()):
        for number, table in enumerate(description.tables):
            for entry in phrases_in(table):
                star = "*" * entry.endswith("*")
                for spelling in joined_spellings(entry.rstrip("*")):
                    roles.setdefault(spelling + star, []).append((row, number))
    return roles


def _is_otherwise(reading: FoldedText, place: int) -> bool:
    """Whether the word there is part of a phrase that means another thing: "library card", "send back"."""
    starts = range(max(0, place + 1 - MAX_PHRASE_WORDS), place + 1)
    found = (_otherwise().longest(reading, start) for start in starts)
    return any(phrase is not None and phrase[0] > place for phrase in found)


@cache
def _otherwise() -> PhraseTable[None]:
    others = phrases_in("other_cards")
    cards = [f"{other} {card}" for other in others for card in ("card", "card number")]
    return PhraseTable((phrase, None) for phrase in (*phrases_in("otherwise"), *cards))


def described_unspaced(words: Sequence[str]) -> Iterator[Sighting]:
    """Sentences in scripts without spaces that hold one word of each table."""
    begin = 0
    for place in range(len(words) + 1):
        if place == len(words) or words[place] in BOUNDS:
            sentence = "".join(words[begin:place])
            for description in _descriptions("together_unspaced", TermPosition.ANYWHERE):
                if all(_holds(sentence, table) for table in description.tables):
                    yield Sighting(start=begin, end=place, secret=description.secret)
            begin = place + 1


def _holds(sentence: str, table: str) -> bool:
    return any(part in sentence for part in _parts_of(table))


@cache
def _parts_of(table: str) -> list[str]:
    return ["".join(read(part).words) for part in phrases_in(table)]
