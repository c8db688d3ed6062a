"""Where a text names a secret, in any spelling. It does not say whether anybody asks for it."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Final, NamedTuple

from askback.schema.secret_lint.descriptions import described_together, described_unspaced
from askback.schema.secret_lint.lexicon import SecretTerm, Sighting, TermPosition, secret_phrases
from askback.schema.secret_lint.tables import PhraseTable, joined_spellings, words_of
from askback.schema.secret_lint.text import MARKS, SIGNS, FoldedText, is_unspaced

LEET: Final = ("0o1i2z3e4a5s6g7t8b9g@a$s!i|l+t", "0o1l2z3e4a5s6b7t8b9q@a$s!l|i+t")
"""Two readings of each digit and sign, because 1 is now i and now l."""

GENITIVES: Final = "の的의를는을은는"
"""May stand between a secret and what is asked about it, in scripts without spaces."""


def sightings(reading: FoldedText) -> list[Sighting]:
    """Every place that may name a secret, plainly spelled or with digits and signs for letters."""
    words = reading.words
    seen = [*_as_phrases(reading), *_inside(words, ((place, place + 1) for place in range(len(words))))]
    if not all(map(str.isascii, words)):
        seen += [*described_unspaced(words), *_unspaced(words)]
    seen += described_together(reading)
    if any(_stands_in(reading, place) for place in range(len(words))):
        seen += _in_leet(reading)
    return seen


def _as_phrases(reading: FoldedText) -> Iterator[Sighting]:
    for start in range(len(reading.words)):
        if found := _index().phrases.longest(reading, start):
            yield Sighting(start=start, end=found[0], secret=found[1])


def _inside(words: Sequence[str], runs: Iterable[tuple[int, int]]) -> Iterator[Sighting]:
    for start, end in runs:
        for secret in _secrets_inside("".join(words[start:end])):
            yield Sighting(start=start, end=end, secret=secret)


def _secrets_inside(word: str) -> Iterable[SecretTerm]:
    """Each secret once: a long run of glued words may hold the same one ten thousand times."""
    found = _parts_in(word, _index().parts)
    return dict.fromkeys(secret for _, stop, secret in found if word[stop:] not in words_of("about"))


def _unspaced(words: Sequence[str]) -> Iterator[Sighting]:
    places = [0, *accumulate(map(len, words))]
    run = "".join("\n" if word in MARKS else word for word in words)
    about_before = tuple(words_of("about_unspaced_before"))
    for begin, stop, secret in _parts_in(run, _index().unspaced):
        is_about = is_about_unspaced(run[stop : stop + 8])
        if not is_about and not run[max(0, begin - 12) : begin].endswith(about_before):
            start, end = bisect_right(places, begin) - 1, bisect_right(places, stop - 1)
            yield Sighting(start=start, end=end, secret=secret)


def is_about_unspaced(after: str) -> bool:
    """Whether what follows a secret, in a script without spaces, asks about it: "の長さ", "的路径"."""
    return after.lstrip(GENITIVES).startswith(tuple(words_of("about_unspaced")))


# Digits and signs for letters


def _in_leet(reading: FoldedText) -> Iterator[Sighting]:
    for leet in LEET:
        letters = str.maketrans(leet[::2], leet[1::2])
        plain = FoldedText([word.translate(letters) for word in reading.words], reading.glued)
        for sighting in (*_as_phrases(plain), *_inside(plain.words, _runs(reading))):
            if _is_leet("".join(reading.words[sighting.start : sighting.end])):
                yield sighting


def _stands_in(reading: FoldedText, place: int) -> bool:
    """Whether a digit or sign is part of a word, or beside a single letter: "p4ss", "p 4 s s", but not "5 pizzas"."""
    words = reading.words
    if not (words[place] in SIGNS or words[place].isdecimal()):
        return False
    before = words[place - 1] if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    is_before = before.isalpha() and (reading.glued[place] or len(before) == 1)
    return is_before or (after.isalpha() and (reading.glued[place + 1] or len(after) == 1))


def _runs(reading: FoldedText) -> Iterator[tuple[int, int]]:
    """Stretches of words without a gap between them."""
    start = 0
    for place in range(1, len(reading.words) + 1):
        if place == len(reading.words) or not reading.glued[place]:
            yield start, place
            start = place


def _is_leet(spelled: str) -> bool:
    """Whether some letters, but not most, are digits and signs: 55N is a latitude and no SSN."""
    letters = sum(map(str.isalpha, spelled))
    return letters < len(spelled) and letters * 5 >= len(spelled) * 2


# The tables, ready for looking up


class _Part(NamedTuple):
    """A spelling to be found inside a word, or only where the word begins or ends."""

    spelling: str
    begins: bool
    ends: bool
    secret: SecretTerm


@dataclass(frozen=True, slots=True)
class _Index:
    """All secrets, by how they are found; parts are filed by their first two letters."""

    phrases: PhraseTable[SecretTerm]
    parts: dict[str, list[_Part]]
    unspaced: dict[str, list[_Part]]


@cache
def _index() -> _Index:
    index = _Index(PhraseTable(_phrases()), {}, {})
    for phrase, secret in secret_phrases():
        if is_unspaced(phrase):
            _file(index.unspaced, phrase, secret, begins=False, ends=False)
        elif "*" in phrase:
            _file(index.parts, phrase, secret, begins=phrase[0] != "*", ends=phrase[-1] != "*")
    return index


def _file(
    parts: dict[str, list[_Part]], phrase: str, secret: SecretTerm, *, begins: bool, ends: bool
) -> None:
    for spelling in joined_spellings(phrase):
        parts.setdefault(spelling[:2], []).append(_Part(spelling, begins, ends, secret))


def _phrases() -> Iterator[tuple[str, SecretTerm]]:
    for phrase, secret in secret_phrases():
        if "*" not in phrase and not is_unspaced(phrase):
            yield phrase, secret
            if phrase.isascii() and secret.stands is TermPosition.ANYWHERE:
                yield phrase + "s", secret


def _parts_in(run: str, parts: dict[str, list[_Part]]) -> Iterator[tuple[int, int, SecretTerm]]:
    for begin in range(len(run) - 1):
        for part in parts.get(run[begin : begin + 2], ()):
            stop = begin + len(part.spelling)
            is_misplaced = (part.begins and begin > 0) or (part.ends and stop < len(run))
            if run.startswith(part.spelling, begin) and not is_misplaced:
                yield begin, stop, part.secret
