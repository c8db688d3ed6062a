"""Rules of a policy: which questions each names, and what becomes of those. Pure; knows no file and no person.

A server writes the texts that rules are compared with. A rule that answers compares them exactly, so that nothing else
is answered. A rule that declines or leaves a question to a person compares them as a reader would: letter case, width,
accents, invisible characters and look-alike letters make no difference, so that no spelling gets around it.

While several calls are open, nobody can tell which of them a question belongs to. A rule that answers has to name all
of them; for a rule that declines or leaves it to a person, one of them is enough.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from operator import eq
from typing import Any, Final, Literal

from askback.client.consent.link import TWINS
from askback.client.person import Asked, FormAsked
from askback.schema.secret_lint.lexicon import BLANKS, fold, look_alikes
from askback.schema.secret_lint.sightings import LEET


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWith:
    """Send these values; nothing else is sent unless the form's own defaults are asked for."""

    values: Mapping[str, Any]
    with_defaults: bool = False
    secrets: frozenset[str] = frozenset()
    """Fields that may be answered although they seem to ask for a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decline:
    """Say no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveToPerson:
    """Ask the person behind the policy."""


Outcome = AnswerWith | Decline | LeaveToPerson


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One rule. What it does not state holds for every question; in its texts, `*` stands for any text."""

    number: int
    outcome: Outcome
    name: str | None = None
    server: str | None = None
    """The label that the operator gave the server: the one word here that the server cannot choose."""
    purpose: str | None = None
    message: str | None = None
    fields: frozenset[str] = field(default=frozenset())
    """The form has these fields; it may have others."""
    question: Literal["form", "visit"] | None = None

    def names(self, asked: Asked) -> bool:
        """Whether this rule is about this question."""
        answers = isinstance(self.outcome, AnswerWith)
        if isinstance(asked, FormAsked):
            names = {entry.name for entry in asked.blank.entries}
            alike = (any(are_alike(name, field) for name in names) for field in self.fields)
            if self.question == "visit" or not (self.fields <= names if answers else all(alike)):
                return False
        elif self.question == "form" or self.is_about_forms:
            return False
        fits = is_like if answers else resembles
        calls = [fits(purpose, self.purpose) for purpose in asked.purposes]
        return (
            (self.purpose is None or (all(calls) if answers else any(calls)))
            and is_like(asked.asker.label, self.server)
            and fits(asked.message, self.message)
        )

    def can_settle(self, kind: Literal["form", "visit"]) -> bool:
        """Whether it could answer a question of this kind without a person."""
        if isinstance(self.outcome, LeaveToPerson) or (kind == "visit" and self.is_about_forms):
            return False
        return self.question in (None, kind)

    @property
    def is_about_forms(self) -> bool:
        """A visit has no fields, so a rule that speaks of any means forms."""
        return bool(self.fields) or isinstance(self.outcome, AnswerWith)

    def __str__(self) -> str:
        return f"rule {self.number} ({self.name})" if self.name else f"rule {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What an operator wrote: rules in order. The first that names a question decides."""

    file: str
    rules: tuple[PolicyRule, ...]

    def rule_for(self, asked: Asked) -> PolicyRule | None:
        return next((rule for rule in self.rules if rule.names(asked)), None)

    def word(self, rule: PolicyRule) -> str:
        """Who answers by this rule, for records."""
        return f"policy {self.file}, {rule}"


PAIRS: Final = tuple((pair, single) for pair, single in TWINS if len(pair) > 1)
"""Two letters that pass for one at a glance."""

FOLDS: Final[tuple[Callable[[str], str], ...]] = (
    fold,
    lambda text: fold(text, "drawn"),
    lambda text: fold(text, "drawn", "other"),
)
"""From strict to loose: what a reader may take for a Latin letter."""

_BLANKS: Final = re.compile(r"\s+")
_LETTERS: Final = tuple(str.maketrans(row[::2], row[1::2]) for row in LEET)


def is_like(text: str, pattern: str | None) -> bool:
    """Whether the whole text is as the pattern says, in one pass: the text may be long and meant to harm."""
    if pattern is None:
        return True
    head, *rest = pattern.split("*")
    if not rest:
        return text == head
    *middle, tail = rest
    place, end = len(head), len(text) - len(tail)
    if place > end or not text.startswith(head) or not text.endswith(tail):
        return False
    for part in middle:
        found = text.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True


def resembles(text: str, pattern: str | None) -> bool:
    """Whether a reader could take the text for one that the pattern names, whatever letters it is written in."""
    if pattern is None or is_like(text, pattern):
        return True
    signs = _signs_of(pattern)
    meant = tuple(map("*".join, zip(*(_folded(part, signs) for part in pattern.split("*")), strict=True)))
    return any(
        # A digit in the pattern means itself: only other digits may stand for letters in the text.
        is_like(_slim(folded), _slim(plain))
        or any(is_like(read, _slim(_joined(plain))) for read in _spelled_out(folded, without=plain))
        for seen in {text, text.translate(_drawn())}
        for folded, plain in zip(_folded(seen, signs), meant, strict=True)
    )


def are_alike(text: str, meant: str) -> bool:
    """Whether a reader could take the text for the one that is meant, in which no star has a meaning."""
    return any(
        _slim(read) == _slim(plain) or any(map(eq, _spelled_out(read), _spelled_out(plain)))
        for seen in {text, text.translate(_drawn())}
        for read, plain in zip(_folded(seen), _folded(meant), strict=True)
    )


def _signs_of(pattern: str) -> str:
    """The signs that mean themselves: those of a part that has no letter. A rule about `*€*` is not about every e."""
    parts = (part for part in pattern.split("*") if not any(map(str.isalnum, part)))
    return "".join(sorted({sign for part in parts for sign in part if not sign.isspace()}))


@cache
def _drawn() -> dict[int, str]:
    """What folding takes away and a reader may see: blanks as blanks, and the small letters that are drawn above
    others."""
    return str.maketrans(dict.fromkeys(BLANKS, " ") | {**look_alikes("above")})


@lru_cache(maxsize=64)
def _folded(text: str, signs: str = "") -> tuple[str, ...]:
    """Without its disguise, as it stands and in small letters: a Greek capital and its small letter look like two
    different letters of ours. Each by every way of folding: a digit of another script has a value and a look."""
    if not signs:
        return tuple(reading for read in FOLDS for reading in _readings(text, read))
    parts = [
        (part,) * (2 * len(FOLDS)) if part in signs else _folded(part)
        for part in re.split(f"([{re.escape(signs)}])", text)
    ]
    return tuple(map("".join, zip(*parts, strict=True)))


def _readings(text: str, read: Callable[[str], str]) -> Iterator[str]:
    """Folded again once it is small, because Cherokee has look-alikes among its capitals, and those are what its small
    letters become."""
    for folded in (read(read(text).casefold()), read(text.casefold())):
        yield _BLANKS.sub(" ", folded.casefold())


def _spelled_out(text: str, *, without: str = "") -> list[str]:
    """With letters for digits and signs, but for those that stand in `without`."""
    tables = ({sign: to for sign, to in letters.items() if chr(sign) not in without} for letters in _LETTERS)
    return [_slim(_joined(text.translate(table))) for table in tables]


def _slim(text: str) -> str:
    """With one letter for i and l: a capital I looks like a small l, and 1 and | like both."""
    return text.replace("i", "l")


def _joined(text: str) -> str:
    for pair, single in PAIRS:
        text = text.replace(pair, single)
    return text
