"""Texts that DuckDB has parsed, with what they name. The same text always has the same tree, so they are kept."""

from dataclasses import dataclass, field
from typing import Any, cast

from askback.guards.sql.engines.duckdb.session import DuckDBSession
from askback.guards.sql.engines.duckdb.size import is_too_large
from askback.guards.sql.engines.duckdb.syntax import SHAPES, Syntax, read_syntax
from askback.guards.sql.engines.duckdb.text import find_problem

MAX_KEPT = 256

MAX_KEPT_LENGTH = 10_000

ONLY_QUERIES = "not implemented"
"""The type of the error that `json_serialize_sql` gives for all but queries."""

COMPLEX = "the statement is too complex to be looked at"


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A text as DuckDB understands it."""

    syntax: Syntax | None = None
    """What it names, where it is exactly one query."""
    doubt: str = ""
    """Why it is not one."""
    is_statement: bool = False
    """Whether DuckDB parses it, but not as a query."""


@dataclass(slots=True)
class ParseCache:
    """Parses texts, and keeps what came of the last ones. Threads may share it."""

    _kept: dict[str, ParsedText] = field(default_factory=dict[str, ParsedText])

    def parse(self, session: DuckDBSession, text: str) -> ParsedText:
        if (kept := self._kept.get(text)) is not None:
            return kept
        parsed = _parse(session, text)
        if len(text) <= MAX_KEPT_LENGTH:
            if len(self._kept) >= MAX_KEPT:
                self._kept = {}
            self._kept[text] = parsed
        return parsed


def _parse(session: DuckDBSession, text: str) -> ParsedText:
    if problem := find_problem(text):
        return ParsedText(doubt=problem)
    tree = session.parse(text)
    if tree["error"]:
        if tree["error_type"] == ONLY_QUERIES:
            return ParsedText(is_statement=True)
        return ParsedText(doubt=COMPLEX if tree["error_type"] == "size" else "DuckDB cannot parse it")
    statements = cast("list[Any]", tree["statements"])
    if len(statements) != 1:
        return ParsedText(doubt="it is not exactly one statement")
    try:
        if is_too_large(statements[0]):
            return ParsedText(doubt=COMPLEX)
        return ParsedText(read_syntax(statements[0], len(text)))
    except SHAPES:
        return ParsedText(doubt="its syntax has a shape that is not known")
