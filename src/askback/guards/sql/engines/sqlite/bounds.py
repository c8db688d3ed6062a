"""Bounds on what SQLite may be given to prepare: preparation cannot be interrupted, so its size is limited before.

Preparation is fast, but a statement can make it double its work with each level: `WITH b AS (SELECT x + x AS x FROM a),
c AS (SELECT x + x AS x FROM b) ...`. Measured on SQLite 3.40 and 3.54, what is let through takes less than a second.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from askback.guards.sql.names import split_words
from askback.guards.sql.text import TOO_COMPLEX
from askback.guards.sql.text import find_excess as find_text_excess
from askback.guards.sql.threads import Turns

LETTERS = r"0-9A-Za-z_$\x80-\U0010ffff"

BLANK = r"(?>[ \t\n\f\r\ufeff]+|--[^\n]*\n|/\*.*?\*/)"

TOKEN = re.compile(
    r"(?P<blank>[ \t\n\f\r\ufeff]+|--[^\n]*|/\*(?:.*?\*/|.*))"
    r"|(?P<string>'[^']*(?:''[^']*)*'?)"
    r'|(?P<quoted>"[^"]*(?:""[^"]*)*"?|`[^`]*(?:``[^`]*)*`?|\[[^\]]*\]?)'
    r"|(?P<numbers>(?:[0-9]+[ \t\n]*,[ \t\n]*)+)"
    rf"|(?P<variable>[$@:#](?:[{LETTERS}]|::)+(?:\([^\s)]*\))?|\?[0-9]*)"
    rf"|(?P<word>[{LETTERS}]+)"
    r"|(?P<symbol>.)",
    re.DOTALL,
)
"""As `sqlite3GetToken` cuts. `$x(...)` is one variable, whatever stands in its parentheses. Numbers with commas behind
them are one token together, since there may be thousands of them."""

EXPLAIN = re.compile(
    rf"{BLANK}*+EXPLAIN(?![{LETTERS}])(?:{BLANK}++QUERY{BLANK}++PLAN(?![{LETTERS}]))?",
    re.DOTALL | re.IGNORECASE,
)


class SQLiteToken(NamedTuple):
    """A piece of a statement; `text` is without quotes, in small letters if it is a word."""

    kind: str
    text: str

    @property
    def is_name(self) -> bool:
        """Whether SQLite may take it for the name of something; it takes even strings."""
        return self.kind in {"word", "quoted", "string"} and not self.text[:1].isdigit()


def cut_tokens(statement: str) -> Iterator[SQLiteToken]:
    """The tokens of a statement in order, without blanks and comments."""
    turns = Turns()
    for match in TOKEN.finditer(statement):
        turns.take()
        kind = match.lastgroup or "symbol"
        if kind == "word":
            yield SQLiteToken(kind, match[0].lower())
        elif kind in {"string", "quoted"}:
            yield SQLiteToken(kind, _unquote(match[0]))
        elif kind != "blank":
            yield SQLiteToken(kind, match[0])


def split_explain(statement: str) -> tuple[bool, str]:
    """Whether a statement begins with EXPLAIN, and what stands behind it.

    A mistake here is harmless: SQLite refuses `EXPLAIN EXPLAIN`, and nothing but `EXPLAIN` is put before the rest.
    """
    match = EXPLAIN.match(statement)
    return (True, statement[match.end() :]) if match else (False, statement)


def _unquote(text: str) -> str:
    mark = text[0]
    end = "]" if mark == "[" else mark
    inner = text[1:-1] if len(text) > 1 and text.endswith(end) else text[1:]
    return inner if mark == "[" else inner.replace(mark * 2, mark)


MAX_DEPTH = 100
"""Nested parentheses. SQLite itself gave up at 100 for most of its life."""

MAX_TOKENS = 20_000
"""Ten thousand texts in a list. To cut up more would keep the interpreter from other threads. Numbers are free."""

MAX_WORDS = 8_000
"""Names and keywords."""

MAX_EXPRESSIONS = 50_000
"""Copies of one expression, if all levels multiply: 65,536 take SQLite 3.40 a fifth of a second."""

MAX_CTES = 2_000
"""Copies of one CTE: 8,192 take SQLite 3.54 most of a second."""

MAX_REPEATS = {"natural": 16, "using": 16, "over": 64}
"""Words whose repetition takes time that grows faster than the text: twenty NATURAL JOINs take a third of a second."""

SHORT, FEW_SELECTS = 1_000, 2
"""Characters and SELECTs that cannot multiply enough to matter. To cut up even a short text takes as long as to inspect
it."""

RESERVED = split_words(
    "all and as between by case collate create cross delete distinct else escape except exists from group having in "
    "inner insert intersect into is isnull join left limit natural not notnull null on or order outer select set table "
    "then to union update using values when where with"
)
"""Keywords that repeat in usual statements and cannot name a column without quotes."""

TOO_DEEP = "the statement is nested too deeply to inspect"


def find_excess(statement: str) -> str | None:
    """Why a statement is not given to SQLite; None if it can be."""
    if excess := find_text_excess(statement):
        return excess
    if _is_small(statement):
        return None
    tokens = list(islice(cut_tokens(statement), MAX_TOKENS + 1))
    if len(tokens) > MAX_TOKENS:
        return TOO_COMPLEX
    if _depth(tokens) > MAX_DEPTH:
        return TOO_DEEP
    words = Counter(token.text for token in tokens if token.kind == "word" and token.is_name)
    if words.total() > MAX_WORDS or any(words[word] > most for word, most in MAX_REPEATS.items()):
        return TOO_COMPLEX
    try:
        return TOO_COMPLEX if _multiplies(tokens) else None
    except RecursionError:  # a chain of hundreds of CTEs
        return TOO_COMPLEX


def _is_small(statement: str) -> bool:
    if len(statement) > SHORT or statement.count("(") > MAX_DEPTH:
        return False
    small = statement.lower()
    return small.count("select") <= FEW_SELECTS and all(
        small.count(word) <= most for word, most in MAX_REPEATS.items()
    )


def _multiplies(tokens: Sequence[SQLiteToken]) -> bool:
    names = _Expansion(tokens)
    if names.total() > MAX_EXPRESSIONS:
        return True
    return bool(names.defined) and _Expansion(tokens, among=names.defined.keys()).total() > MAX_CTES


def _depth(tokens: Sequence[SQLiteToken]) -> int:
    depth = deepest = 0
    for token in tokens:
        if token.kind == "symbol":
            depth += (token.text == "(") - (token.text == ")")
            deepest = max(deepest, depth)
    return deepest


@dataclass
class _BoundsScope:
    """A query in parentheses, or the statement itself."""

    defines: str | None = None
    is_query: bool = True
    counts: Counter[str] = field(default_factory=Counter[str])
    inner: int = 1
    most: int = 1
    names: set[str] = field(default_factory=set[str])

    def end_select(self) -> None:
        """One SELECT of a compound is over: the next begins at zero, and the larger of both counts."""
        repeated = max(self.counts.values(), default=1)
        self.most = max(self.most, repeated * self.inner)
        self.names |= self.counts.keys()
        self.counts, self.inner = Counter(), 1


class _Expansion:
    """Counts how often, at most, one expression is copied when names are replaced by what they stand for.

    A name that stands n times in a SELECT is replaced n times; SELECTs that stand inside one another multiply, and so
    do CTEs that use one another.
    """

    def __init__(self, tokens: Sequence[SQLiteToken], *, among: Collection[str] | None = None) -> None:
        self._tokens, self._among = tokens, among
        self.defined: dict[str, list[_BoundsScope]] = {}
        self._costs: dict[str, int] = {}

    def total(self) -> int:
        stack, turns = [_BoundsScope()], Turns()
        for place, token in enumerate(self._tokens):
            turns.take()
            if token.kind == "symbol" and token.text == "(":
                stack.append(self._open(place, stack[-1]))
            elif token.kind == "symbol" and token.text == ")" and len(stack) > 1:
                self._close(stack.pop(), stack[-1])
            elif token.kind == "word" and token.text in {"select", "values"}:
                stack[-1].end_select()
            elif self._counts(place, token):
                stack[-1].counts[token.text.lower()] += 1
        while len(stack) > 1:
            self._close(stack.pop(), stack[-1])
        stack[0].end_select()
        return self._cost_of(stack[0])

    def _open(self, place: int, around: _BoundsScope) -> _BoundsScope:
        following = self._at(place + 1)
        if following not in {"select", "with", "values"}:
            return _BoundsScope(is_query=False, counts=around.counts, names=around.names)
        return _BoundsScope(defines=self._name_before(place))

    def _close(self, scope: _BoundsScope, around: _BoundsScope) -> None:
        if not scope.is_query:
            around.inner = max(around.inner, scope.inner, scope.most)
            return
        scope.end_select()
        if scope.defines is not None:
            self.defined.setdefault(scope.defines, []).append(scope)
        else:
            around.inner = max(around.inner, scope.most)
            around.names |= scope.names

    def _counts(self, place: int, token: SQLiteToken) -> bool:
        if not token.is_name or (token.kind == "word" and token.text in RESERVED):
            return False
        if self._among is not None and token.text.lower() not in self._among:
            return False
        if (
            token.kind == "string"
            and self._at(place - 1) != "."
            and self._at(place - 1) not in {"from", "join", ","}
        ):
            return False
        return self._at(place + 1) not in {"(", "."}

    def _name_before(self, place: int) -> str | None:
        """The name of the CTE whose body begins here: `name (a, b) AS NOT MATERIALIZED (`."""
        place -= 1
        while self._at(place) in {"materialized", "not"}:
            place -= 1
        if self._at(place) != "as":
            return None
        place -= 1
        if self._at(place) == ")":
            while place >= 0 and self._at(place) != "(":
                place -= 1
            place -= 1
        return self._tokens[place].text.lower() if place >= 0 else None

    def _at(self, place: int) -> str:
        return self._tokens[place].text if 0 <= place < len(self._tokens) else ""

    def _cost_of(self, scope: _BoundsScope) -> int:
        used = (
            self._cost_of_name(name) for name in scope.names & self.defined.keys() if name != scope.defines
        )
        return min(scope.most * max(used, default=1), MAX_EXPRESSIONS + 1)

    def _cost_of_name(self, name: str) -> int:
        """The copies of all CTEs of that name together; one that uses itself is counted once."""
        if name not in self._costs:
            self._costs[name] = 1
            cost = 1
            for scope in self.defined[name]:
                cost *= self._cost_of(scope)
            self._costs[name] = min(cost, MAX_EXPRESSIONS + 1)
        return self._costs[name]
