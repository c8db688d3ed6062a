"""The words and phrases that the lint knows, read from the files in `words` and looked up in a folded text.

Tables are named by the headings in the files. What a phrase that names a secret asks for is a SecretTerm.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Generic, Literal, TypeVar

from askback.schema.secret_lint.text import MARKS, FoldedText, read

T = TypeVar("T")

MAX_ENDING_WORDS: Final = 4
"""No phrase that has to stand directly before a place is longer."""

MIN_SURE_LETTERS: Final = 8
"""A word this long does not come about by chance, wherever its pieces part."""

LIKELY_WHEN_CUT: Final = ((3, 1), (6, 3))
"""Least letters of a word, most letters of a piece: "c-v-v" and "a pi key" are meant, "P. W." are initials."""

_WORDS: Final = [
    (files("askback.schema.secret_lint") / "words" / name).read_text(encoding="utf-8")
    for name in ("secrets.txt", "descriptions.txt", "demands.txt")
]
"""Read at import, because the first question is asked on an event loop, which no file may hold up."""


@cache
def _tables() -> Mapping[str, Sequence[str]]:
    """The lines below each heading."""
    tables: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in "\n".join(_WORDS).split("\n"):
        if line.startswith("["):
            lines = tables.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return tables


def phrases_in(table: str) -> Sequence[str]:
    """The phrases of a table, as its file has them."""
    return _tables()[table]


def tables_of(group: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The tables of a group, whose headings read `[group: name]`, each with its name."""
    for heading, lines in _tables().items():
        if heading.startswith(f"{group}: "):
            yield heading.removeprefix(f"{group}: "), lines


def spellings(phrase: str) -> list[Sequence[str]]:
    """A phrase in words; in capitals too, where these look like other letters, as in Greek."""
    cases = {phrase} if phrase.isascii() else {phrase, phrase.lower(), phrase.upper(), phrase.capitalize()}
    return [read(case).words for case in cases]


def joined_spellings(phrase: str) -> set[str]:
    """The spellings of a phrase without their gaps."""
    return {"".join(words) for words in spellings(phrase)}


@cache
def words_of(*tables: str) -> frozenset[str]:
    """Every word of tables that hold single words."""
    return frozenset(
        spelling for table in tables for word in phrases_in(table) for spelling in joined_spellings(word)
    )


@cache
def phrases_of(*tables: str) -> "PhraseTable[None]":
    """A lookup for tables whose phrases have several words."""
    return PhraseTable((phrase, None) for table in tables for phrase in phrases_in(table))


@cache
def _endings_of(table: str) -> tuple[str, ...]:
    return tuple(" " + " ".join(words) for phrase in phrases_in(table) for words in spellings(phrase))


def stands_before(words: Sequence[str], place: int, table: str) -> bool:
    """Whether a phrase of the table ends directly before `place`."""
    return (" " + " ".join(words[max(0, place - MAX_ENDING_WORDS) : place])).endswith(_endings_of(table))


TermPosition = Literal["anywhere", "as_head", "alone"]
"""Where a phrase has to stand in a label to ask for a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretTerm:
    """What a phrase asks for."""

    kind: str
    text: str
    stands: TermPosition


_GROUPS: Final[Mapping[str, TermPosition]] = {
    "anywhere": "anywhere",
    "described": "anywhere",
    "as_head": "as_head",
    "alone": "alone",
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
                yield phrase, SecretTerm(kind=kind, text=phrase, stands="anywhere")


class PhraseTable(Generic[T]):
    """Meanings by joined words: a phrase, and a word spelled in pieces, are one lookup."""

    def __init__(self, meanings: Iterable[tuple[str, T]]) -> None:
        self._meanings: dict[str, T] = {}
        self._cuts: dict[str, set[int]] = {}
        for phrase, meaning in meanings:
            for words in spellings(phrase):
                joined = "".join(words)
                self._meanings.setdefault(joined, meaning)
                cuts = self._cuts.setdefault(joined, set())
                cuts.update(len("".join(words[:count])) for count in range(1, len(words)))
        self._beginnings = {joined[:size] for joined in self._meanings for size in range(1, len(joined) + 1)}

    def longest(self, reading: FoldedText, start: int) -> tuple[int, T] | None:
        """The end and the meaning of the longest phrase that begins at `start`."""
        if reading.words[start] not in self._beginnings:
            return None
        found = None
        joined = ""
        stops: list[int] = []
        for place in _stretch(reading, start):
            is_glued = place > start and reading.glued[place] and reading.words[place - 1] not in MARKS
            joined += reading.words[place]
            if joined not in self._beginnings:
                break
            stops = [*(stops[:-1] if is_glued else stops), len(joined)]
            if joined in self._meanings and self._is_meant(joined, stops):
                found = place + 1, self._meanings[joined]
        return found

    def _is_meant(self, joined: str, stops: list[int]) -> bool:
        """Whether it was cut like this on purpose: "pa ss wo rd" is a password, "to Ken" is not a token."""
        longest = max(stop - begin for begin, stop in zip([0, *stops], stops, strict=False))
        if self._cuts[joined].issuperset(stops[:-1]) or len(joined) >= MIN_SURE_LETTERS:
            return True
        return any(len(joined) >= letters and longest <= piece for letters, piece in LIKELY_WHEN_CUT)


def _stretch(reading: FoldedText, start: int) -> Iterator[int]:
    """Places of words up to the next mark that is not within a word."""
    last = len(reading.words) - 1
    for place in range(start, last + 1):
        if reading.words[place] not in MARKS:
            yield place
        elif place == last or not _is_within_word(reading, place):
            return


def _is_within_word(reading: FoldedText, mark: int) -> bool:
    """Whether a mark is passed over, as in "pass+word" or "p, a, s, s"."""
    is_tight = reading.glued[mark] and reading.glued[mark + 1]
    return is_tight or max(len(reading.words[mark - 1]), len(reading.words[mark + 1])) <= 2
