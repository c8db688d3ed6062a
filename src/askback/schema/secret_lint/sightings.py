"""Where a text names a secret, in any spelling. It does not say whether anybody asks for it."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Final, NamedTuple

from askback.schema.secret_lint.lexicon import (
    BOUNDS,
    MARKS,
    SIGNS,
    FoldedText,
    PhraseTable,
    SecretTerm,
    TermPosition,
    is_unspaced,
    joined_spellings,
    phrases_in,
    secret_phrases,
    words_of,
)

LEET: Final = ("0o1i2z3e4a5s6g7t8b9g@a$s!i|l+t", "0o1l2z3e4a5s6b7t8b9q@a$s!l|i+t")
"""Two readings of each digit and sign, because 1 is now i and now l."""

GENITIVES: Final = "の的의를는을은는"
"""May stand between a secret and what is asked about it, in scripts without spaces."""


MAX_STEM_LETTERS: Final = 12
"""No stem in the tables is longer."""

MAX_PHRASE_WORDS: Final = 6
"""No phrase in the table `otherwise` is longer."""

NEAR: Final = 10
"""Words within which those that describe a secret together stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A secret named by the words from `start` to before `end`."""

    start: int
    end: int
    secret: SecretTerm


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
        if found := _phrase_table().longest(reading, start):
            yield Sighting(start=start, end=found[0], secret=found[1])


def _inside(words: Sequence[str], runs: Iterable[tuple[int, int]]) -> Iterator[Sighting]:
    for start, end in runs:
        word = "".join(words[start:end])
        found = _parts_in(word, _parts(in_unspaced=False))
        # Each secret once: a long run of glued words may hold the same one ten thousand times.
        for secret in dict.fromkeys(one for _, stop, one in found if word[stop:] not in words_of("about")):
            yield Sighting(start=start, end=end, secret=secret)


def _unspaced(words: Sequence[str]) -> Iterator[Sighting]:
    places = [0, *accumulate(map(len, words))]
    run = "".join("\n" if word in MARKS else word for word in words)
    about_before = tuple(words_of("about_unspaced_before"))
    for begin, stop, secret in _parts_in(run, _parts(in_unspaced=True)):
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


@cache
def _parts(*, in_unspaced: bool) -> dict[str, list[_Part]]:
    """The spellings to be found inside words, or in scripts without spaces, by their first two letters."""
    parts: dict[str, list[_Part]] = {}
    for phrase, secret in secret_phrases():
        if is_unspaced(phrase) is in_unspaced and (in_unspaced or "*" in phrase):
            begins, ends = (not in_unspaced and phrase[end] != "*" for end in (0, -1))
            for spelling in joined_spellings(phrase):
                parts.setdefault(spelling[:2], []).append(_Part(spelling, begins, ends, secret))
    return parts


@cache
def _phrase_table() -> PhraseTable[SecretTerm]:
    """All phrases that stand alone, and the English plurals of those that ask wherever they stand."""
    return PhraseTable(
        (spelling, secret)
        for phrase, secret in secret_phrases()
        if "*" not in phrase and not is_unspaced(phrase)
        for spelling in (phrase, phrase + "s")
        if spelling == phrase or (phrase.isascii() and secret.stands == "anywhere")
    )


def _parts_in(run: str, parts: dict[str, list[_Part]]) -> Iterator[tuple[int, int, SecretTerm]]:
    for begin in range(len(run) - 1):
        for part in parts.get(run[begin : begin + 2], ()):
            stop = begin + len(part.spelling)
            is_misplaced = (part.begins and begin > 0) or (part.ends and stop < len(run))
            if run.startswith(part.spelling, begin) and not is_misplaced:
                yield begin, stop, part.secret


# Secrets that several words describe together: "the three digits on the back of your card"


Description = tuple[SecretTerm, Sequence[str]]
"""A secret, and the tables of which one word each describes it."""

_TOGETHER = ("together", "together_as_head")


@cache
def _descriptions(*tables: str) -> list[Description]:
    return [_description(row, table) for table in tables for row in phrases_in(table)]


def _description(row: str, table: str) -> Description:
    kind, _, joined = row.partition(": ")
    tables = joined.split(" + ")
    stands: TermPosition = "as_head" if table == "together_as_head" else "anywhere"
    return SecretTerm(kind=kind, text=phrases_in(tables[0])[0], stands=stands), tables


def described_together(reading: FoldedText) -> Iterator[Sighting]:
    """Places where one word of each table stands near the others in a sentence, in any order."""
    spaced = _descriptions(*_TOGETHER)
    last: dict[tuple[int, int], int] = {}
    for place, word in enumerate(reading.words):
        if word in BOUNDS:
            last.clear()
            continue
        roles = [*_roles_of(word), *_roles_of(_compound_at(reading, place))]
        for row, table in roles if roles and not _is_otherwise(reading, place) else ():
            last[row, table] = place
            secret, tables = spaced[row]
            places = [last.get((row, other), -NEAR) for other in range(len(tables))]
            if place - min(places) < NEAR:
                yield Sighting(start=places[0], end=place + 1, secret=secret)


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
    for row, (_, tables) in enumerate(_descriptions(*_TOGETHER)):
        for number, table in enumerate(tables):
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
    cards = [f"{other} {card}" for other in phrases_in("other_cards") for card in ("card", "card number")]
    return PhraseTable((phrase, None) for phrase in (*phrases_in("otherwise"), *cards))


def described_unspaced(words: Sequence[str]) -> Iterator[Sighting]:
    """Sentences in scripts without spaces that hold one word of each table."""
    begin = 0
    for place in range(len(words) + 1):
        if place == len(words) or words[place] in BOUNDS:
            sentence = "".join(words[begin:place])
            for secret, tables in _descriptions("together_unspaced"):
                if all(any(part in sentence for part in words_of(table)) for table in tables):
                    yield Sighting(start=begin, end=place, secret=secret)
            begin = place + 1
