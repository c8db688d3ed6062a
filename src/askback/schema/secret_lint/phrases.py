"""Tables of phrases, and how to look them up in a text that has been read. Knows no table by name."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, Generic, TypeVar

from askback.schema.secret_lint.text import MARKS, FoldedText, read

T = TypeVar("T")

LONGEST_ENDING: Final = 4
"""Words; no phrase that has to stand directly before a place is longer."""

SURE_WHEN_CUT: Final = 8
"""Letters; a word this long does not come about by chance, wherever its pieces part."""

LIKELY_WHEN_CUT: Final = ((3, 1), (6, 3))
"""Least letters of a word, most letters of a piece: "c-v-v" and "a pi key" are meant, "P. W." are initials."""


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
        if self._cuts[joined].issuperset(stops[:-1]) or len(joined) >= SURE_WHEN_CUT:
            return True
        return any(len(joined) >= letters and longest <= piece for letters, piece in LIKELY_WHEN_CUT)


def _stretch(reading: FoldedText, start: int) -> Iterator[int]:
    """Places of words up to the next mark; a mark within a word, "pass+word" or "p, a, s, s", is passed over."""
    words = reading.words
    for place in range(start, len(words)):
        if words[place] not in MARKS:
            yield place
        elif place + 1 == len(words) or not (_is_tight(reading, place) or _is_spelled(words, place)):
            return


def _is_tight(reading: FoldedText, mark: int) -> bool:
    return reading.glued[mark] and reading.glued[mark + 1]


def _is_spelled(words: Sequence[str], mark: int) -> bool:
    return len(words[mark - 1]) <= 2 and len(words[mark + 1]) <= 2


def split_phrases(table: str) -> Iterator[str]:
    """The phrases of a table, which are parted by commas."""
    return (phrase.strip() for phrase in table.split(",") if phrase.strip())


def spellings(phrase: str) -> list[Sequence[str]]:
    """A phrase in words; in capitals too, where these look like other letters, as in Greek."""
    cases = {phrase} if phrase.isascii() else {phrase, phrase.lower(), phrase.upper(), phrase.capitalize()}
    return [read(case).words for case in cases]


@cache
def words_of(*tables: str) -> frozenset[str]:
    """For tables of single words."""
    return frozenset(
        "".join(words) for table in tables for phrase in split_phrases(table) for words in spellings(phrase)
    )


@cache
def phrases_of(*tables: str) -> PhraseTable[None]:
    """For tables whose phrases have several words and mean one thing."""
    return PhraseTable((phrase, None) for table in tables for phrase in split_phrases(table))


@cache
def _endings_of(table: str) -> tuple[str, ...]:
    return tuple(" " + " ".join(words) for phrase in split_phrases(table) for words in spellings(phrase))


def stands_before(words: Sequence[str], place: int, table: str) -> bool:
    """Whether a phrase of the table ends directly before `place`."""
    return (" " + " ".join(words[max(0, place - LONGEST_ENDING) : place])).endswith(_endings_of(table))
