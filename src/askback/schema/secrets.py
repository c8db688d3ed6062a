"""The secret lint: do these words ask for what belongs on a page? Knows texts, not fields, forms or refusals.

A text is folded (look-alikes, accents, invisible characters), cut into words, and looked up with the gaps ignored, so
that "API key", `apiKey` and `a-p-i k_e_y` are one spelling. A name or short title is a label: a secret word in it asks,
unless the words beside it talk *about* secrets. A message or description is prose: there a demand has to reach the
secret, or the sentence has to be a mere label.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple, TypeVar, assert_never

from askback.schema import secret_words as table
from askback.schema.secret_words import Secret, Stands, phrases
from askback.schema.spelling import BOUNDS, ENDS, MARKS, SIGNS, UNSPACED, Phrases, Reading, read, spellings

T = TypeVar("T")

LONGEST_KEPT = 1_000
"""Characters; longer texts are judged anew each time, so that the kept verdicts stay small."""

LONGEST_LABEL = 6
"""Words; a longer title is a sentence and read as one."""

REACH = 15
"""Words that a demand carries: "enter the following: name, mail, street, town and password"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """What a text seems to ask for; `text` is the word of our tables that it was read as."""

    kind: str
    where: str
    text: str


def suspect_field(name: str, title: str | None, description: str | None) -> Suspicion | None:
    """The first of the three that asks for a secret; only for fields that a person can type into."""
    is_label = title is not None and len(title.split()) <= LONGEST_LABEL
    for where, text, judge in (
        ("name", name, _in_label),
        ("title", title, _in_prose),
        ("title", title if is_label else None, _in_label),
        ("description", description, _in_prose),
    ):
        if text and (secret := judge(text)):
            return Suspicion(kind=secret.kind, where=where, text=secret.text)
    return None


def suspect_message(message: str) -> Suspicion | None:
    """Whether the message asks for a secret; to mention secrets is no offence."""
    secret = _in_prose(message)
    return Suspicion(kind=secret.kind, where="message", text=secret.text) if secret else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hit:
    """A secret in the words from `start` to before `end`."""

    start: int
    end: int
    secret: Secret


def _kept(judge: Callable[[str], T]) -> Callable[[str], T]:
    kept = lru_cache(maxsize=2_048)(judge)
    return lambda text: kept(text) if len(text) <= LONGEST_KEPT else judge(text)


@cache
def _set(text: str) -> frozenset[str]:
    return frozenset("".join(words) for phrase in phrases(text) for words in spellings(phrase))


@cache
def _endings(text: str) -> tuple[str, ...]:
    return tuple(" " + " ".join(words) for phrase in phrases(text) for words in spellings(phrase))


@cache
def _marker(*texts: str) -> Phrases[None]:
    return Phrases((phrase, None) for text in texts for phrase in phrases(text))


def _ends_with(words: Sequence[str], end: int, endings: tuple[str, ...]) -> bool:
    return (" " + " ".join(words[max(0, end - 4) : end])).endswith(endings)


class _Part(NamedTuple):
    """A spelling to be found inside a word, or only where the word begins or ends."""

    spelling: str
    begins: bool
    ends: bool
    secret: Secret


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """The secrets, by how they are looked up; parts by their first two letters."""

    whole: Phrases[Secret]
    parts: dict[str, list[_Part]]
    unspaced: dict[str, list[_Part]]


@cache
def _lexicon() -> _Lexicon:
    lexicon = _Lexicon(Phrases(_whole_phrases()), {}, {})
    for phrase, secret in table.secrets():
        is_unspaced = _is_unspaced(phrase)
        if not is_unspaced and "*" not in phrase:
            continue
        index = lexicon.unspaced if is_unspaced else lexicon.parts
        begins, ends = (False, False) if is_unspaced else (phrase[0] != "*", phrase[-1] != "*")
        for spelling in {"".join(words) for words in spellings(phrase)}:
            index.setdefault(spelling[:2], []).append(_Part(spelling, begins, ends, secret))
    return lexicon


def _is_unspaced(text: str) -> bool:
    return re.search(f"[{UNSPACED}]", text) is not None


def _whole_phrases() -> Iterator[tuple[str, Secret]]:
    for phrase, secret in table.secrets():
        if "*" not in phrase and not _is_unspaced(phrase):
            yield phrase, secret
            if phrase.isascii() and secret.stands is Stands.ANYWHERE:
                yield phrase + "s", secret


# Finding: every place where a text may name a secret.


def _hits(reading: Reading) -> list[_Hit]:
    words = reading.words
    hits = [*_whole_hits(reading), *_part_hits(words, ((place, place + 1) for place in range(len(words))))]
    hits += _unspaced_hits(words)
    if not any(_stands_in(reading, place) for place in range(len(words))):
        return hits
    for leet in table.LEET:
        letters = str.maketrans(leet[::2], leet[1::2])
        disguised = Reading([word.translate(letters) for word in words], reading.glued)
        found = [*_whole_hits(disguised), *_part_hits(disguised.words, _runs(reading))]
        hits += [hit for hit in found if _is_leet("".join(words[hit.start : hit.end]))]
    return hits


def _whole_hits(reading: Reading) -> Iterator[_Hit]:
    for start in range(len(reading.words)):
        if found := _lexicon().whole.longest(reading, start):
            yield _Hit(start=start, end=found[0], secret=found[1])


def _part_hits(words: Sequence[str], runs: Iterable[tuple[int, int]]) -> Iterator[_Hit]:
    for start, end in runs:
        for secret in _secrets_within("".join(words[start:end])):
            yield _Hit(start=start, end=end, secret=secret)


@_kept
def _secrets_within(run: str) -> tuple[Secret, ...]:
    found = _parts_in(run, _lexicon().parts)
    return tuple(secret for _, stop, secret in found if run[stop:] not in _set(table.ABOUT))


def _unspaced_hits(words: Sequence[str]) -> Iterator[_Hit]:
    if all(map(str.isascii, words)):
        return
    places = [0, *accumulate(map(len, words))]
    run = "".join("\n" if word in MARKS else word for word in words)
    for begin, stop, secret in _parts_in(run, _lexicon().unspaced):
        after = run[stop : stop + 8].lstrip(table.GENITIVES)
        is_about = after.startswith(tuple(_set(table.ABOUT_UNSPACED)))
        if not is_about and not run[max(0, begin - 12) : begin].endswith(
            tuple(_set(table.ABOUT_UNSPACED_BEFORE))
        ):
            yield _Hit(
                start=bisect_right(places, begin) - 1, end=bisect_right(places, stop - 1), secret=secret
            )


def _parts_in(run: str, parts: dict[str, list[_Part]]) -> Iterator[tuple[int, int, Secret]]:
    for begin in range(len(run) - 1):
        for part in parts.get(run[begin : begin + 2], ()):
            stop = begin + len(part.spelling)
            if run.startswith(part.spelling, begin) and not (
                (part.begins and begin > 0) or (part.ends and stop < len(run))
            ):
                yield begin, stop, part.secret


def _runs(reading: Reading) -> Iterator[tuple[int, int]]:
    """Stretches of words without a gap between them."""
    start = 0
    for place in range(1, len(reading.words) + 1):
        if place == len(reading.words) or not reading.glued[place]:
            yield start, place
            start = place


def _stands_in(reading: Reading, place: int) -> bool:
    """Whether a digit or sign stands between letters, or beside a single one: "p4ss", "p 4 s s", but not "5 pizzas"."""
    words = reading.words
    if not (words[place] in SIGNS or words[place].isdecimal()):
        return False
    is_before = place > 0 and words[place - 1].isalpha() and (reading.glued[place] or len(words[place - 1]) == 1)
    follower = words[place + 1] if place + 1 < len(words) else "."
    return is_before or (follower.isalpha() and (reading.glued[place + 1] or len(follower) == 1))


def _is_leet(spelled: str) -> bool:
    """Whether digits and signs stand in for some letters, but not for most: 55N is a latitude."""
    letters = sum(map(str.isalpha, spelled))
    return letters < len(spelled) and letters * 5 >= len(spelled) * 2


# Judging: does it ask for the secret?


@_kept
def _in_label(text: str) -> Secret | None:
    words = read(text)
    return next((hit.secret for hit in _hits(words) if _asks_alone(words.words, hit)), None)


@_kept
def _in_prose(text: str) -> Secret | None:
    reading = read(text)
    hits = [hit for hit in _hits(reading) if _asks_alone(reading.words, hit) and not _is_denied(reading, hit)]
    if not hits:
        return None
    reached = _reached(reading)
    for hit in hits:
        is_asked = hit.start in reached or _is_which(reading.words, hit) or _is_asked_after(reading, hit)
        if is_asked or _is_asked_as_it(reading, hit) or _is_mere_label(reading, hit):
            return hit.secret
    return _asked_unspaced(reading.words, hits)


def _asks_alone(words: Sequence[str], hit: _Hit) -> bool:
    """Whether these words, without a demand, name a secret and nothing about it."""
    match hit.secret.stands:
        case Stands.ANYWHERE:
            stands = True
        case Stands.AS_HEAD:
            stands = _ends_phrase(words, hit.end)
        case Stands.ALONE:
            rest = (
                [*words[: hit.start], *words[hit.end : hit.end + LONGEST_LABEL]]
                if hit.start < LONGEST_LABEL
                else [""]
            )
            stands = all(word in _set(table.FILLERS) or word in MARKS or word.isdecimal() for word in rest)
        case _:
            assert_never(hit.secret.stands)
    return stands and not _is_about(words, hit) and not _is_innocent(words, hit)


def _ends_phrase(words: Sequence[str], end: int) -> bool:
    following = words[end] if end < len(words) else "."
    is_filler = following in _set(table.FILLERS) and following not in _set(table.ARTICLES)
    return following in MARKS or following.isdecimal() or is_filler or following in _set(table.FOLLOWERS)


def _is_about(words: Sequence[str], hit: _Hit) -> bool:
    """Whether something is asked about the secret: `password_min_length`, "name of your new API key"."""
    about = _set(table.ABOUT)
    following = words[hit.end : hit.end + 4]
    named = next((word for word in following if word not in _set(table.MODIFIERS)), "")
    if named in about or (following and following[0] in about):
        return True
    for place in range(hit.start - 1, max(hit.start - 6, 0), -1):
        if words[place] in MARKS or words[place] in _set(table.JOINERS):
            return False
        if words[place] in _set(table.LINKS):
            is_many = words[hit.end - 1].endswith("s") and words[place - 1] in _set(table.ABOUT_MANY)
            return is_many or words[place - 1] in about
    return False


def _is_innocent(words: Sequence[str], hit: _Hit) -> bool:
    """Whether the word before makes it something else: a public key, a library card number, tokens to count."""
    last = hit.secret.text.lower().split()[-1]
    others = table.INNOCENT_BEFORE.get(table.ALIKE_LAST.get(last, last), "")
    is_other = hit.start > 0 and words[hit.start - 1] in _set(others)
    return is_other or _ends_with(words, hit.start, _endings(table.QUANTITIES))


def _is_denied(reading: Reading, hit: _Hit) -> bool:
    """Whether it is just the secret that is not wanted: "your name, not your password"."""
    place = _before_articles(reading.words, hit.start)
    is_denied_after = hit.end < len(reading.words) and _marker(table.NO_SECRET_AFTER).longest(
        reading, hit.end
    )
    return bool(is_denied_after) or _ends_with(reading.words, place, _endings(table.NO_SECRET))


def _before_articles(words: Sequence[str], place: int) -> int:
    articles = _set(table.ARTICLES)
    return next(
        (at for at in range(place, max(0, place - 3), -1) if words[at - 1] not in articles), max(0, place - 3)
    )


def _reached(reading: Reading) -> set[int]:
    """The places that a demand reaches. A clause of its own suspends it, a comma or a "but" takes it up again."""
    reached: set[int] = set()
    until = suspended = refused = place = 0
    while place < len(reading.words):
        word = reading.words[place]
        if place < until:
            reached.add(place)
        if demand := _demand_at(reading, place):
            place, is_meant = demand
            until, suspended, refused = (place + REACH, 0, 0) if is_meant else (0, 0, place + REACH)
            continue
        if word in ENDS:
            until = suspended = refused = 0
        elif word in _set(table.BUT):
            until = max(until, suspended, refused)
        elif word == ",":
            until = max(until, suspended)
        elif reading.is_whole(place) and _marker(table.CLAUSES, table.MENTIONS).longest(reading, place):
            until, suspended = 0, max(until, suspended)
        place += 1
    return reached


def _demand_at(reading: Reading, place: int) -> tuple[int, bool] | None:
    """Where a demand that begins here ends, and whether it is meant: not negated, and not said of ourselves."""
    words = reading.words
    if want := _marker(table.WANTS).longest(reading, place):
        return want[0], not _ends_with(words, place, _endings(table.NEGATIONS))
    demand = _marker(table.DEMANDS).longest(reading, place)
    if not demand:
        return None
    end = demand[0]
    is_negated = _ends_with(words, place, _endings(table.NEGATIONS)) or (
        end < len(words) and words[end] in _set(table.NEGATED_AFTER_DEMAND)
    )
    subject = place - 1 if place and words[place - 1] in _set(table.AUXILIARIES) else place
    is_ours = subject > 0 and words[subject - 1] in _set(table.OURSELVES)
    return end, not is_negated and not is_ours


def _is_which(words: Sequence[str], hit: _Hit) -> bool:
    """ "Which password do you use" asks for it; "which API key shall I revoke" does not."""
    place = _before_articles(words, hit.start)
    following = words[hit.end : hit.end + REACH]
    is_asked = place > 0 and words[place - 1] in _set(table.WHICH)
    return is_asked and _set(table.MENTIONS).isdisjoint(following)


def _is_asked_after(reading: Reading, hit: _Hit) -> bool:
    """ "Passwort eingeben", "API key required": the demand stands behind the secret."""
    words = reading.words
    begin = _begin(words, hit.start, ENDS)
    if begin is not None and words[begin] in _set(table.QUESTION_STARTS):
        return False
    halts = ENDS | _set(table.NO_SECRET) | _set(table.MENTIONS)
    for place in range(hit.end, min(len(words), hit.end + REACH)):
        if words[place] in halts:
            return False
        if _marker(table.AFTERS).longest(reading, place):
            return True
    return False


def _is_asked_as_it(reading: Reading, hit: _Hit) -> bool:
    """ "Create a token on GitHub. Paste it here." """
    places = range(hit.end, min(len(reading.words), hit.end + REACH))
    return any(
        _marker(table.IT).longest(reading, place)
        and not _ends_with(reading.words, place, _endings(table.NEGATIONS))
        for place in places
    )


def _is_mere_label(reading: Reading, hit: _Hit) -> bool:
    """Whether the sentence is little more than the secret: "Password:", "GitHub token, please", "PIN for the door?"."""
    words = reading.words
    stop = next((at for at in range(hit.end, min(len(words), hit.end + REACH)) if words[at] in BOUNDS), len(words))
    bounds = BOUNDS | {","} if words[stop : stop + 1] in ([":"], ["?"]) else BOUNDS
    begin = _begin(words, hit.start, bounds)
    if begin is None or _is_unspaced(words[hit.end - 1]) or not _ends_phrase(words, hit.end):
        return False
    sentence = _set(table.STATES) | _set(table.MENTIONS)
    clause = sentence | _set(table.LINKS) | _set(table.CLAUSES) | _set(table.NO_SECRET) | {","}
    before = [at for at in range(begin, hit.start) if words[at] not in _set(table.FILLERS) or words[at] in clause]
    after = range(hit.end, min(stop, hit.end + REACH))
    return (
        len(before) <= 3
        and not any(words[at] in clause and reading.is_whole(at) for at in before)
        and not any(words[at] in sentence and reading.is_whole(at) for at in after)
    )


def _begin(words: Sequence[str], place: int, bounds: frozenset[str]) -> int | None:
    """Where the sentence around `place` begins; None when that is out of sight."""
    nearest = max(0, place - REACH)
    return next((at for at in range(place, nearest, -1) if words[at - 1] in bounds), None if nearest else 0)


def _asked_unspaced(words: Sequence[str], hits: Iterable[_Hit]) -> Secret | None:
    """Prose without spaces: a demand, or little else, in the sentence that holds the secret."""
    if all(map(str.isascii, words)):
        return None
    starts = {hit.start: hit for hit in hits}
    begin = 0
    for place in range(len(words) + 1):
        if place == len(words) or words[place] in BOUNDS:
            found = next((starts[at] for at in range(begin, place) if at in starts), None)
            if found and _demands_unspaced("".join(words[begin:place]), found.secret):
                return found.secret
            begin = place + 1
    return None


def _demands_unspaced(sentence: str, secret: Secret) -> bool:
    for clause in sentence.split(","):
        is_negated = any(word in clause for word in _set(table.NEGATED_UNSPACED))
        if not is_negated and any(word in clause for word in _set(table.ASKS_UNSPACED)):
            return True
    bare = sentence.replace("".join(read(secret.text).words), "")
    for filler in _set(table.FILLERS_UNSPACED):
        bare = bare.replace(filler, "")
    return len(bare) <= 2
