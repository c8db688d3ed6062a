"""Whether a text asks for the secrets it names: as a label, or as prose. Knows no fields and no forms."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from typing import Final

from askback.schema.secret_lint.lexicon import (
    BOUNDS,
    ENDS,
    MARKS,
    FoldedText,
    SecretTerm,
    is_unspaced,
    phrases_in,
    phrases_of,
    read,
    stands_before,
    tables_of,
    words_of,
)
from askback.schema.secret_lint.sightings import Sighting, is_about_unspaced, sightings

REACH: Final = 15
"""Words that a demand carries: "enter the following: name, mail, street, town and password"."""

MAX_LABEL_WORDS: Final = 6
"""Words; what is longer is a sentence and has to ask like one."""

MAX_ARTICLES, MAX_COUNT_WORDS = 3, 2
"""Words that may stand between what is said of a secret and its name."""


def find_demand_in_label(text: str) -> SecretTerm | None:
    """For a name or a short title, where to name a secret is to ask for it."""
    reading = read(text)
    return next((seen.secret for seen in sightings(reading) if _is_named(reading.words, seen)), None)


def find_demand_in_prose(text: str) -> SecretTerm | None:
    """For a message or a description, where a secret may be merely mentioned."""
    reading = read(text)
    named = [seen for seen in sightings(reading) if _is_named(reading.words, seen)]
    wanted = [seen for seen in named if not _is_denied(reading, seen)]
    if not named:
        return None
    reached = _reached(reading)
    for seen in wanted:
        if seen.start in reached or any(asks(reading, seen) for asks in _WAYS_TO_ASK):
            return seen.secret
    as_it = next((seen.secret for seen in named if _is_asked_as_it(reading, seen)), None)
    return as_it or _asked_unspaced(reading.words, wanted)


def is_path_of(secret: SecretTerm, *texts: str | None) -> bool:
    """Whether it is a file, and a text beside its name says that only the path is asked for: "Path of the file"."""
    if secret.text not in phrases_in("files"):
        return False
    readings = [read(text).words for text in texts if text]
    is_all = all(words_of("contents").isdisjoint(words) for words in readings)
    return is_all and any(map(_speaks_of_path, readings))


def _speaks_of_path(words: Sequence[str]) -> bool:
    """Whether it begins with a path, or is a label that ends with one: "Enter the full path of it", "Key path"."""
    small = words_of("articles", "demands", "path_kinds")
    first = next((word for word in words if word not in small), "")
    is_label = len(words) <= MAX_LABEL_WORDS and words_of("links").isdisjoint(words)
    return not words_of("paths").isdisjoint([first, *words[-1:]] if is_label else [first])


# Is it the secret itself that is named?


def _is_named(words: Sequence[str], seen: Sighting) -> bool:
    return _stands_well(words, seen) and not _is_about(words, seen) and not _is_something_else(words, seen)


def _stands_well(words: Sequence[str], seen: Sighting) -> bool:
    if seen.secret.stands == "as_head":
        return _ends_phrase(words, seen.end)
    others = [*words[: seen.start], *words[seen.end :]] if len(words) <= MAX_LABEL_WORDS else [""]
    return seen.secret.stands == "anywhere" or all(_is_small(word, "articles", "fillers") for word in others)


def _ends_phrase(words: Sequence[str], end: int) -> bool:
    """Whether no noun follows that would make the secret its adjective, as in "secret ingredient"."""
    return end == len(words) or _is_small(words[end], "fillers", "followers", "afters")


def _is_small(word: str, *tables: str) -> bool:
    return word in words_of(*tables) or word in MARKS or word.isdecimal()


def _is_about(words: Sequence[str], seen: Sighting) -> bool:
    """Whether something is asked about the secret: `password_min_length`, "name of your new API key"."""
    about = words_of("about")
    following = words[seen.end : seen.end + 4]
    noun = next((word for word in following if word not in words_of("modifiers")), "")
    if noun in about or noun in words_of("about_after") or (following and following[0] in about):
        return True
    if following and is_unspaced(following[0]):
        return is_about_unspaced("".join(following))
    for place in range(seen.start - 1, max(seen.start - 6, 0), -1):
        if words[place] in MARKS or words[place] in words_of("joiners"):
            return False
        if words[place] in words_of("links") and words[place - 1] not in words_of("links"):
            is_many = words[seen.end - 1].endswith("s") and words[place - 1] in words_of("about_many")
            return is_many or words[place - 1] in about
    return False


def _is_something_else(words: Sequence[str], seen: Sighting) -> bool:
    """Whether the word before makes it another thing: a public key, a library card number, tokens to count."""
    term, tables = seen.secret.text, _innocent_before()
    parts = term.split()
    others = next((tables[key] for key in (term, parts[-1], parts[0]) if key in tables), frozenset[str]())
    is_other = seen.start > 0 and words[seen.start - 1] in others
    return is_other or stands_before(words, seen.start, "about_before")


@cache
def _innocent_before() -> Mapping[str, frozenset[str]]:
    """By a term, its last word or its first one: the words that make it something else."""
    tables = tables_of("innocent_before")
    return {term: words_of(f"innocent_before: {name}") for name, _ in tables for term in name.split(", ")}


def _is_denied(reading: FoldedText, seen: Sighting) -> bool:
    """Whether it is just the secret that is not wanted: "your name, not your password"."""
    if stands_before(reading.words, _before_articles(reading.words, seen.start), "no_secret"):
        return True
    is_last = seen.end == len(reading.words)
    return not is_last and phrases_of("no_secret_after").longest(reading, seen.end) is not None


def _before_articles(words: Sequence[str], place: int) -> int:
    return _pass_back(words, place, MAX_ARTICLES, words_of("articles").__contains__)


def _pass_back(words: Sequence[str], place: int, most: int, is_passed: Callable[[str], bool]) -> int:
    """The place before so many words in front of `place` that are passed over."""
    return place - len(list(takewhile(is_passed, reversed(words[max(0, place - most) : place]))))


# Is it asked for?


def _reached(reading: FoldedText) -> set[int]:
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
        elif word in words_of("but"):
            until = max(until, suspended, refused)
        elif word == ",":
            until = max(until, suspended)
        elif reading.is_whole(place) and phrases_of("clauses", "mentions").longest(reading, place):
            until, suspended = 0, max(until, suspended)
        place += 1
    return reached


def _demand_at(reading: FoldedText, place: int) -> tuple[int, bool] | None:
    """Where a demand that begins here ends, and whether it is meant: not negated, and not said of ourselves."""
    words = reading.words
    if definition := phrases_of("definitions").longest(reading, place):
        return definition[0], False
    is_refused = stands_before(words, place, "negations")
    if want := phrases_of("wants").longest(reading, place):
        return want[0], not is_refused
    if demand := phrases_of("demands").longest(reading, place):
        end = demand[0]
        is_refused |= end < len(words) and words[end] in words_of("negated_after_demand")
        return end, not is_refused and not _is_ours(words, place)
    return None


def _is_ours(words: Sequence[str], place: int) -> bool:
    subject = place - 1 if place and words[place - 1] in words_of("auxiliaries") else place
    return subject > 0 and words[subject - 1] in words_of("ourselves")


def _is_asked_which(reading: FoldedText, seen: Sighting) -> bool:
    """Whether it is "which password do you use", and not "which API key shall I revoke"."""
    words = reading.words
    counted = words_of("counted")  # "which 12 words", "which last three digits"
    start = _pass_back(words, seen.start, MAX_COUNT_WORDS, lambda word: word in counted or word.isdecimal())
    place = _before_articles(words, start)
    is_asked = place > 0 and words[place - 1] in words_of("which")
    return is_asked and words_of("mentions").isdisjoint(words[seen.end : seen.end + REACH])


def _is_asked_after(reading: FoldedText, seen: Sighting) -> bool:
    """Whether the demand stands behind the secret: "Passwort eingeben", "API key required"."""
    words = reading.words
    begin = _begin(words, seen.start, ENDS)
    if begin is not None and words[begin] in words_of("question_starts"):
        return False
    halts = ENDS | words_of("no_secret", "mentions")
    for place in range(seen.end, min(len(words), seen.end + REACH)):
        if words[place] in halts:
            return False
        if phrases_of("afters").longest(reading, place):
            return True
    return False


def _is_asked_as_it(reading: FoldedText, seen: Sighting) -> bool:
    """Whether it is named first and then asked for, even by "not without": "Create a token. Paste it here."."""
    return any(
        phrases_of("it").longest(reading, place) is not None
        and not stands_before(reading.words, place, "negations")
        for place in range(seen.end, min(len(reading.words), seen.end + REACH))
    )


def _is_mere_label(reading: FoldedText, seen: Sighting) -> bool:
    """Whether the sentence is little more than the secret: "Password:", "GitHub token, please", "PIN for the door?"."""
    words = reading.words
    begin, stop = _segment(words, seen)
    if begin is None or is_unspaced(words[seen.end - 1]) or not _ends_phrase(words, seen.end):
        return False
    before, after = range(begin, seen.start), range(seen.end, stop)
    others = [at for at in before if not _is_small(words[at], "articles", "fillers")]
    is_task = any(words[at] in words_of("about") and words[at + 1] in words_of("articles") for at in others)
    is_sentence = _holds(reading, before, *_SENTENCE, *_PART) or _holds(reading, after, *_SENTENCE)
    return len(others) <= MAX_LABEL_WORDS // 2 and not is_task and not is_sentence


def _segment(words: Sequence[str], seen: Sighting) -> tuple[int | None, int]:
    """From mark to mark; before a colon or question mark a comma is enough: "Username, password:"."""
    ahead = range(seen.end, min(len(words), seen.end + REACH))
    stop = next((at for at in ahead if words[at] in BOUNDS), ahead.stop)
    is_prompt = stop < len(words) and words[stop] in (":", "?")
    return _begin(words, seen.start, BOUNDS | {","} if is_prompt else BOUNDS), stop


def _holds(reading: FoldedText, places: Iterable[int], *tables: str) -> bool:
    return any(reading.words[at] in words_of(*tables) and reading.is_whole(at) for at in places)


_SENTENCE: Final = ("states", "mentions")
_PART: Final = ("links", "prepositions", "clauses", "no_secret")
"""Before a secret, these make it a part of something, so that it is no label."""

_WAYS_TO_ASK: Final = (_is_asked_which, _is_asked_after, _is_mere_label)


def _begin(words: Sequence[str], place: int, bounds: frozenset[str]) -> int | None:
    """Where the sentence around `place` begins; None when that is out of sight."""
    farthest = max(0, place - REACH)
    return next((at for at in range(place, farthest, -1) if words[at - 1] in bounds), None if farthest else 0)


def _asked_unspaced(words: Sequence[str], seen: Iterable[Sighting]) -> SecretTerm | None:
    """For scripts without spaces: a demand, or little else, in the sentence that names the secret."""
    if all(map(str.isascii, words)):
        return None
    secrets = {one.start: one.secret for one in seen}
    begin = 0
    for place in range(len(words) + 1):
        if place == len(words) or words[place] in BOUNDS:
            secret = next((secrets[at] for at in range(begin, place) if at in secrets), None)
            if secret and _is_asked_unspaced("".join(words[begin:place]), secret):
                return secret
            begin = place + 1
    return None


def _is_asked_unspaced(sentence: str, secret: SecretTerm) -> bool:
    for clause in sentence.split(","):
        is_refused = any(word in clause for word in words_of("negated_unspaced"))
        if not is_refused and any(word in clause for word in words_of("asks_unspaced")):
            return True
    rest = sentence.replace("".join(read(secret.text).words), "")
    for filler in words_of("fillers_unspaced"):
        rest = rest.replace(filler, "")
    return len(rest) <= 2
