"""Where a text names a secret, whatever the disguise. Knows words, not whether anybody asks for it."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import Final, NamedTuple, TypeVar

from askback.schema.secret_lint import demands, descriptions, lexicon
from askback.schema.secret_lint.lexicon import SecretTerm, TermPosition
from askback.schema.secret_lint.phrases import PhraseTable, spellings, split_phrases, words_of
from askback.schema.secret_lint.text import BOUNDS, MARKS, SIGNS, FoldedText, is_unspaced, read

T = TypeVar("T")

LONGEST_STEM: Final = 12
"""Letters of the longest stem in the tables of descriptions."""

LONGEST_OTHERWISE: Final = 6
"""Words of the longest phrase in `descriptions.OTHERWISE`."""

NEAR: Final = 10
"""Words within which those that describe a secret together stand."""


def cached_if_short(*, most: int, longest: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Remember the verdicts on so many texts; longer ones are judged anew, so that what is kept stays small."""

    def keep(judge: Callable[[str], T]) -> Callable[[str], T]:
        remembered = lru_cache(maxsize=most)(judge)
        return lambda text: remembered(text) if len(text) <= longest else judge(text)

    return keep


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
    seen += _unspaced(words)
    seen += _together(reading)
    if any(_stands_in(reading, place) for place in range(len(words))):
        seen += _in_leet(reading)
    return seen


def _as_phrases(reading: FoldedText) -> Iterator[Sighting]:
    for start in range(len(reading.words)):
        if found := _lexicon().phrases.longest(reading, start):
            yield Sighting(start=start, end=found[0], secret=found[1])


def _inside(words: Sequence[str], runs: Iterable[tuple[int, int]]) -> Iterator[Sighting]:
    for start, end in runs:
        for secret in _secrets_inside("".join(words[start:end])):
            yield Sighting(start=start, end=end, secret=secret)


@cached_if_short(most=4_096, longest=40)
def _secrets_inside(word: str) -> tuple[SecretTerm, ...]:
    """Each secret once: a long run of glued words may hold the same one ten thousand times."""
    found = _parts_in(word, _lexicon().parts)
    return tuple({secret: None for _, stop, secret in found if word[stop:] not in words_of(demands.ABOUT)})


def _unspaced(words: Sequence[str]) -> Iterator[Sighting]:
    if all(map(str.isascii, words)):
        return
    places = [0, *accumulate(map(len, words))]
    run = "".join("\n" if word in MARKS else word for word in words)
    about_before = tuple(words_of(demands.ABOUT_UNSPACED_BEFORE))
    yield from _together_unspaced(words)
    for begin, stop, secret in _parts_in(run, _lexicon().unspaced):
        is_about = is_about_unspaced(run[stop : stop + 8])
        if not is_about and not run[max(0, begin - 12) : begin].endswith(about_before):
            start, end = bisect_right(places, begin) - 1, bisect_right(places, stop - 1)
            yield Sighting(start=start, end=end, secret=secret)


def is_about_unspaced(after: str) -> bool:
    """Whether what follows a secret, in a script without spaces, asks about it: "の長さ", "的路径"."""
    return after.lstrip(demands.GENITIVES).startswith(_about_unspaced())


@cache
def _about_unspaced() -> tuple[str, ...]:
    return tuple(words_of(demands.ABOUT_UNSPACED))


# Several words that describe a secret


def _together(reading: FoldedText) -> Iterator[Sighting]:
    """ "The three digits on the back of your card": one word of each table, near each other in a sentence."""
    last: dict[tuple[int, int], int] = {}
    for place, word in enumerate(reading.words):
        if word in BOUNDS:
            last.clear()
        elif (roles := _roles_of(word) + _roles_of_compound(reading, place)) and not _is_otherwise(
            reading, place
        ):
            for rule, table in roles:
                last[rule, table] = place
                secret, count = _descriptions()[rule]
                places = [last.get((rule, other), -NEAR) for other in range(count)]
                if place - min(places) < NEAR:
                    yield Sighting(start=places[0], end=place + 1, secret=secret)


def _together_unspaced(words: Sequence[str]) -> Iterator[Sighting]:
    """The same in scripts without spaces, for a whole sentence."""
    begin = 0
    for place in range(len(words) + 1):
        if place < len(words) and words[place] not in BOUNDS:
            continue
        sentence = "".join(words[begin:place])
        for secret, tables in _descriptions_unspaced():
            if all(any(part in sentence for part in table) for table in tables):
                yield Sighting(start=begin, end=place, secret=secret)
        begin = place + 1


def _is_otherwise(reading: FoldedText, place: int) -> bool:
    """Whether the word there is part of a phrase that means another thing: "library card", "send back"."""
    starts = range(max(0, place + 1 - LONGEST_OTHERWISE), place + 1)
    found = (_otherwise().longest(reading, start) for start in starts)
    return any(phrase is not None and phrase[0] > place for phrase in found)


@cache
def _otherwise() -> PhraseTable[None]:
    cards = (
        f"{other} {card}"
        for other in split_phrases(descriptions.OTHER_CARDS)
        for card in ("card", "card number")
    )
    return PhraseTable((phrase, None) for phrase in (*split_phrases(descriptions.OTHERWISE), *cards))


def _roles_of_compound(reading: FoldedText, place: int) -> tuple[tuple[int, int], ...]:
    """For names that are written in humps or with digits, and so read as two words: MetaMask, BIP39."""
    if not place or not reading.glued[place] or reading.words[place - 1] in MARKS:
        return ()
    return _roles_of(reading.words[place - 1] + reading.words[place])


@cached_if_short(most=4_096, longest=40)
def _roles_of(word: str) -> tuple[tuple[int, int], ...]:
    """Which description a word can belong to, and as which part of it."""
    stems = (f"{word[:size]}*" for size in range(2, min(len(word), LONGEST_STEM) + 1))
    return tuple(role for spelling in (word, *stems) for role in _roles().get(spelling, ()))


@cache
def _roles() -> dict[str, list[tuple[int, int]]]:
    roles: dict[str, list[tuple[int, int]]] = {}
    for rule, (_, *tables) in enumerate((*descriptions.TOGETHER, *descriptions.TOGETHER_AS_HEAD)):
        for number, table in enumerate(tables):
            for entry in split_phrases(table):
                star = "*" * entry.endswith("*")
                for spelling in {"".join(words) + star for words in spellings(entry.rstrip("*"))}:
                    roles.setdefault(spelling, []).append((rule, number))
    return roles


@cache
def _descriptions() -> list[tuple[SecretTerm, int]]:
    """What each stands for, and of how many parts it is, in the order of `_roles`."""
    return [
        (SecretTerm(kind=kind, text=next(split_phrases(tables[0])), stands=stands), len(tables))
        for stands, rules in (
            (TermPosition.ANYWHERE, descriptions.TOGETHER),
            (TermPosition.AS_HEAD, descriptions.TOGETHER_AS_HEAD),
        )
        for kind, *tables in rules
    ]


@cache
def _descriptions_unspaced() -> list[tuple[SecretTerm, list[list[str]]]]:
    return [
        (
            SecretTerm(kind=kind, text=next(split_phrases(tables[0])), stands=TermPosition.ANYWHERE),
            [["".join(read(part).words) for part in split_phrases(table)] for table in tables],
        )
        for kind, *tables in descriptions.TOGETHER_UNSPACED
    ]


# Digits and signs for letters


def _in_leet(reading: FoldedText) -> Iterator[Sighting]:
    for leet in lexicon.LEET:
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
class _Lexicon:
    """All secrets, by how they are found; parts are filed by their first two letters."""

    phrases: PhraseTable[SecretTerm]
    parts: dict[str, list[_Part]]
    unspaced: dict[str, list[_Part]]


@cache
def _lexicon() -> _Lexicon:
    index = _Lexicon(PhraseTable(_phrases()), {}, {})
    for phrase, secret in lexicon.secrets():
        if is_unspaced(phrase):
            _file(index.unspaced, phrase, secret, begins=False, ends=False)
        elif "*" in phrase:
            _file(index.parts, phrase, secret, begins=phrase[0] != "*", ends=phrase[-1] != "*")
    return index


def _file(
    parts: dict[str, list[_Part]], phrase: str, secret: SecretTerm, *, begins: bool, ends: bool
) -> None:
    for spelling in {"".join(words) for words in spellings(phrase)}:
        parts.setdefault(spelling[:2], []).append(_Part(spelling, begins, ends, secret))


def _phrases() -> Iterator[tuple[str, SecretTerm]]:
    for phrase, secret in lexicon.secrets():
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
