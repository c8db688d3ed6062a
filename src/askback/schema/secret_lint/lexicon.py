"""Texts as plain words, out of any disguise, and the words and phrases that the lint knows.

Folding takes away accents, invisible characters and look-alikes from other scripts. Russian and Greek are folded like
everything else, so a table has to be read with the same eyes as the text that is looked up in it.

Tables are read from the files in `words` and named by the headings in them. What a phrase that names a secret asks for
is a SecretTerm.
"""
# ruff: noqa: RUF001 - marks that look like others are meant as they stand

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, Generic, Literal, TypeVar

PUNCTUATION: Final = {". ": "。।", "? ": "؟", ",": "、،", "σ": "ς"}
"""Marks of other scripts that part sentences as ours do, and the sigma that ends a word."""

BLANKS: Final = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters or symbols by their category, and yet nothing is drawn."""

UNSPACED: Final = "\u0590-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
"""Scripts written without spaces, or with articles and particles glued to the words."""

DOT_NAMES: Final = (
    "env", "netrc", "npmrc", "pypirc", "pgpass", "htpasswd", "git-credentials", "dockercfg", "docker", "kube", "ssh",
    "pem",
)  # fmt: skip
"""Files and folders of secrets whose dot is part of their name: ".env" is one, and "env" is any environment."""

SIGNS: Final = frozenset("@$|+!")
"""Marks that also stand in for letters."""
ENDS: Final = frozenset(".;?!")
BOUNDS: Final = ENDS | frozenset(":\n")
MARKS: Final = BOUNDS | SIGNS | frozenset(",()")

_PIECE = re.compile(rf"[{UNSPACED}]+|[^\x00-@\[-`{{-\x7f{UNSPACED}]+|[0-9]+|[,:;?()\n@$|+!]|\.(?!\S)")
_DOT_NAME = re.compile(rf"(?<![A-Za-z0-9_.])\.(?=(?:{'|'.join(DOT_NAMES)})(?![A-Za-z0-9]))", re.IGNORECASE)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class FoldedText:
    """Lower-case words and marks in order; `glued` says which follow the one before without a gap."""

    words: Sequence[str]
    glued: Sequence[bool]

    def is_whole(self, place: int) -> bool:
        """Whether it is a word by itself, and not the "open" of `OpenAI`."""
        after = place + 1
        is_glued_after = after < len(self.words) and self.glued[after] and self.words[after] not in MARKS
        return not self.glued[place] and not is_glued_after


def read(text: str) -> FoldedText:
    """Cut where a person sees a gap, a hump of camelCase, a digit or a mark."""
    words: list[str] = []
    glued: list[bool] = []
    end = -1
    folded = fold(text)
    for piece in _PIECE.finditer(_DOT_NAME.sub("dot", folded) if "." in folded else folded):
        humps = _HUMP.findall(piece[0]) if piece[0].isascii() and piece[0].isalpha() else [piece[0]]
        words += [hump.lower() for hump in humps]
        glued += [piece.start() == end] + [True] * (len(humps) - 1)
        end = piece.end()
    return FoldedText(words, glued)


def fold(text: str, *sections: str) -> str:
    """Plain letters in their case, ASCII digits, marks, and spaces for everything else that is seen.

    Letters of other scripts that look like Latin ones become those. Sections of `look_alikes.txt` add more: "drawn" has
    signs and letters of every script, "other" has alphabets that are used as decoration. They take too much for a
    letter, so use them only where a false alarm does no harm.
    """
    # Combining marks go before composing: to sort a long run of them takes quadratic time.
    seen = text if text.isascii() else unicodedata.normalize("NFC", "".join(filter(_is_seen, text)))
    return "".join(_fold_character(character, sections) for character in seen)


def is_unspaced(text: str) -> bool:
    """Whether it holds a script in which words are found inside others."""
    return _UNSPACED.search(text) is not None


@lru_cache(maxsize=4_096)
def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in ("Mn", "Me", "Cf") and character not in BLANKS


@lru_cache(maxsize=4_096)
def _fold_character(character: str, sections: tuple[str, ...]) -> str:
    table = _table_of(sections)
    is_hangul = "\uac00" <= character <= "\ud7a3"
    if is_hangul or character in table:
        return table.get(character, character)
    return "".join(_fold_part(part, table) for part in unicodedata.normalize("NFKD", character))


def _fold_part(part: str, table: Mapping[str, str]) -> str:
    category = unicodedata.category(part)
    if part in table:
        return table[part]
    if category == "Nd":
        return str(unicodedata.digit(part))
    if category[0] == "L" or category == "Mc" or part in MARKS:
        return part
    return " " if _is_seen(part) else ""


_TABLE = (files("askback.schema.secret_lint") / "look_alikes.txt").read_text(encoding="ascii").splitlines()
"""Read at import: the first question is asked on an event loop, which no file may hold up."""


@cache
def look_alikes(section: str) -> Mapping[str, str]:
    """What each character of that section of the table looks like."""
    rows = (line.split() for line in _TABLE if line.startswith(f"{section} "))
    return {chr(int(point, 16)): plain for _, plain, *points in rows for point in points}


@cache
def _table_of(sections: tuple[str, ...]) -> Mapping[str, str]:
    table = {
        **look_alikes("letters"),
        **{twin: plain for plain, twins in PUNCTUATION.items() for twin in twins},
    }
    for section in sections:
        table |= look_alikes(section)
    return table


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
