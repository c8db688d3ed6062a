"""Statements that are no query: what they do in words, and the query within them where there is one.

DuckDB gives no tree of these, so their beginning is read here. The query within is judged by DuckDB itself, and the
words decide nothing: every such statement counts as a change.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from askback.guards.sql.names import split_words

NAME = r'(?:[a-z_][a-z0-9_$]*|"(?:[^"]|"")*")'

TARGET = rf"(?P<target>{NAME}(?:\s*\.\s*{NAME}){{0,2}})"

COLUMNS = rf"(?:\(\s*{NAME}(?:\s*,\s*{NAME})*\s*\)\s*)?"

FLAGS = re.IGNORECASE | re.ASCII | re.DOTALL

QUERIES = (
    (rf"insert\s+into\s+{TARGET}\s*{COLUMNS}(?:by\s+(?:name|position)\b\s*)?(?P<rest>.+)", "{rest}"),
    (rf"delete\s+from\s+(?P<rest>{TARGET}(?:\s.*)?)", "SELECT 1 FROM {rest}"),
    (rf"update\s+{TARGET}\s+set\s+(?P<rest>.+)", "FROM {target} SELECT {rest}"),
    (
        rf"create\s+(?:or\s+replace\s+)?(?:temp\s+|temporary\s+)?(?:table|view)\s+(?:if\s+not\s+exists\s+)?"
        rf"{TARGET}\s*{COLUMNS}as\b(?P<rest>.+)",
        "{rest}",
    ),
)
"""How each kind begins, and the query that reads the same columns. In the query of an UPDATE, `a = 1` compares."""

PATTERNS = tuple((re.compile(pattern, FLAGS), query) for pattern, query in QUERIES)

CONFLICT = re.compile(r"\bconflict\b", re.IGNORECASE)
"""In a clause that reads more than the query within."""

RETURNING = re.compile(r"\breturning\b", re.IGNORECASE)

PIVOT = re.compile(
    rf"(?P<source>\s*pivot\s+(?:{NAME}(?:\.{NAME})*|\(.*\))\s+on\s+{NAME}(?:\.{NAME})*)(?P<rest>(?:\s+(?:using|group)\b.*)?)",
    FLAGS,
)

BEGINNING = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)

WORDS = re.compile(r"([a-z]+)(?:\s+(?:or\s+replace\s+)?(?:temp\s+|temporary\s+)?([a-z]+))?", FLAGS)

PAIRS = frozenset({"alter", "comment", "create", "drop", "export", "import"})
"""Statements whose second word says what they are about."""

SINGLE = split_words(
    "abort analyze attach begin call checkpoint commit copy deallocate delete detach end execute force insert install "
    "load merge pragma prepare reset rollback set start truncate update use vacuum"
)

ASKING = split_words("select from with values table describe desc show summarize pivot unpivot explain")

EXPLAIN = re.compile(r"\s*explain\s+(?=(?:select|from|with|values|table)\b)", FLAGS)


@dataclass(frozen=True, slots=True)
class DuckDBChange:
    """A statement that is no query."""

    words: str
    target: tuple[str, ...] = ()
    """The parts of the name of what it changes, as they are written."""
    queries: tuple[str, ...] = ()
    """Queries that read the same columns. Empty if no queries can stand for all that it reads."""
    is_plannable: bool = False
    """Whether DuckDB plans it: it does so for changes of rows."""


def read_change(statement: str) -> DuckDBChange | None:
    """Describe a statement that DuckDB does not take for a query; None for a PIVOT, which changes nothing."""
    text = statement[BEGINNING.match(statement).end() :]  # pyright: ignore[reportOptionalMemberAccess] # it can be empty
    for pattern, query in PATTERNS:
        if found := pattern.fullmatch(text):
            parts = tuple(map(_unquoted, re.findall(NAME, found["target"], FLAGS)))
            queries = () if CONFLICT.search(text) else tuple(_queries(query, found["rest"], found["target"]))
            return DuckDBChange(_verb(text), parts, queries, is_plannable="view" not in _verb(text))
    if ";" not in text.rstrip().rstrip(";") and _first(text) in ASKING and "pivot" in text.lower():
        return None
    return DuckDBChange(_verb(text))


def _queries(query: str, rest: str, target: str) -> Iterator[str]:
    """A query for what a change reads, and one for its RETURNING. DuckDB refuses both if the word is part of a text."""
    *before, after = RETURNING.split(rest)
    yield query.format(rest=" returning ".join(before) if before else after, target=target)
    if before:
        yield f"SELECT {after} FROM {target}"


def fill_pivot(statement: str) -> str | None:
    """A PIVOT that is given a value, so that it has a plan. DuckDB takes it only where the value was missing."""
    found = PIVOT.fullmatch(statement.rstrip().rstrip(";"))
    return f"{found['source']} IN (NULL) {found['rest']}" if found else None


def strip_explain(statement: str) -> str | None:
    """The query behind a plain EXPLAIN."""
    found = EXPLAIN.match(statement)
    return statement[found.end() :] if found else None


def _first(text: str) -> str:
    found = WORDS.match(text)
    return found[1].lower() if found else ""


def _verb(text: str) -> str:
    found, first = WORDS.match(text), _first(text)
    if found and first in PAIRS:
        return f"{first} {(found[2] or '').lower()[:20]}".strip()
    if first == "insert":
        return "insert into"
    if first == "delete":
        return "delete from"
    return first if first in SINGLE else "explain" if first == "explain" else "several statements"


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
