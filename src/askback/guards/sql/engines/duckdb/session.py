"""DuckDB's own syntax trees and plans, asked for on a connection of our own."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb

from askback.guards.sql.engines.duckdb.connection import Connection, Database, open_cursor

PARSE = "SELECT system.main.json_serialize_sql($1::VARCHAR)"
"""The syntax tree of queries, in which nothing is looked up. Functions are named in full: a macro can hide them."""

PLAN = "SELECT system.main.json_serialize_plan($1::VARCHAR, optimize := false)"
"""Binds a query and gives its plan; it runs nothing of it and changes no setting."""

PREPARE = f"PREPARE askback_parse AS {PARSE}; PREPARE askback_plan AS {PLAN}"
"""On a connection that is kept this takes three quarters off the time of both."""

MAX_TREE = 1_000_000
"""Characters of a tree as JSON. Python's parser holds the interpreter while it reads it, some 10 ms for this, and much
longer where its garbage collector has to look through the nodes."""

MAX_IDLE = 4

FAILED = {"error": True, "error_type": "size"}
"""In place of a tree that is too large or too deep to be read."""


@dataclass(frozen=True, slots=True)
class DuckDBSession:
    """A connection, on which trees and plans may be prepared."""

    cursor: Connection
    is_prepared: bool = False

    def parse(self, query: str) -> dict[str, Any]:
        """The tree of one or more queries, or one that says `error`."""
        return self._ask("EXECUTE askback_parse", PARSE, query)

    def plan(self, query: str) -> dict[str, Any]:
        """The plan of a query that is safe to bind, or a tree that says `error`."""
        return self._ask("EXECUTE askback_plan", PLAN, query)

    def _ask(self, prepared: str, written: str, query: str) -> dict[str, Any]:
        if self.is_prepared:
            quoted = query.replace("'", "''")
            answer = self.cursor.execute(f"{prepared}('{quoted}')")
        else:
            answer = self.cursor.execute(written, [query])
        text: str = answer.fetchall()[0][0]
        try:
            return json.loads(text) if len(text) <= MAX_TREE else FAILED
        except (RecursionError, ValueError):  # DuckDB writes NAN, which is no JSON
            return FAILED


@dataclass(slots=True)
class DuckDBSessions:
    """Sessions that are kept between inspections, for a database that is given as a connection.

    Closing that connection closes them too. Statements that were approved never run on them.
    """

    database: Database
    _idle: list[DuckDBSession] = field(default_factory=list[DuckDBSession])

    @contextmanager
    def borrow(self) -> Generator[DuckDBSession]:
        """A session for one inspection. It is not kept where something went wrong."""
        if not isinstance(self.database, duckdb.DuckDBPyConnection):
            with open_cursor(self.database) as cursor:
                yield DuckDBSession(cursor)
            return
        session = self._idle.pop() if self._idle else _prepare(self.database)
        try:
            yield session
        except BaseException:
            session.cursor.close()
            raise
        if len(self._idle) < MAX_IDLE:
            self._idle.append(session)
        else:
            session.cursor.close()


def _prepare(connection: Connection) -> DuckDBSession:
    cursor = connection.cursor()
    cursor.execute(PREPARE)
    return DuckDBSession(cursor, is_prepared=True)
