"""Inspects statements on one SQLite connection of our own, and runs those that were approved."""

import math
import re
import sqlite3
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace

from askback.errors import ChangedSinceApproval
from askback.guards.sql.engines.engine import Inspection, SQLRows, cut_rows, doubt
from askback.guards.sql.engines.sqlite.authorizer import Authorizer
from askback.guards.sql.engines.sqlite.bounds import find_excess
from askback.guards.sql.engines.sqlite.bytecode import Instruction
from askback.guards.sql.engines.sqlite.catalogue import SQLiteSchema, load_schema
from askback.guards.sql.engines.sqlite.connection import ConnectionState
from askback.guards.sql.engines.sqlite.findings import SQLiteFindings
from askback.guards.sql.engines.sqlite.tokens import split_explain

UNREACHABLE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
    }
)
"""Errors that say something of the database and nothing of the statement."""

FAILURES = (sqlite3.Error, sqlite3.Warning, MemoryError, ValueError, OverflowError, LookupError)
"""What a statement can make the driver or the reading of its program raise."""

LIMITS = {
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 150_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 2_000,
}
"""Lower than SQLite's own where a statement could make a program that takes seconds to list."""

STEPS = 1_000
"""Instructions between two looks at the clock."""

COUNT = re.compile(r"uses (\d+)")
"""In the driver's message about missing parameters."""

NAMED = re.compile(r"[:@$#]|\?\d")
"""What a parameter with a name begins with."""

NOT_PREPARED = "SQLite does not accept it as one statement"


class Nulls(dict[str, None]):
    """NULL for each parameter, whatever its name."""

    def __missing__(self, name: str) -> None:
        return None


class SQLiteInspector:
    """Works on one connection, in one thread at a time."""

    def __init__(
        self, connection: sqlite3.Connection, *, timeout: float, schema: SQLiteSchema | None = None
    ) -> None:
        self.schema = schema
        """What an earlier connection found in the database. It is replaced where the database has changed."""
        self._connection, self._timeout, self._deadline = connection, timeout, math.inf
        self._text_factory = connection.text_factory
        connection.row_factory, connection.text_factory = None, str
        for limit, value in LIMITS.items():
            connection.setlimit(limit, min(value, connection.getlimit(limit)))
        connection.set_authorizer(None)
        connection.set_progress_handler(self._is_late, STEPS)

    def inspect(self, statement: str, state: ConnectionState) -> Inspection:
        """What a statement reads and changes. What was doubtful is looked at again: it may have been the moment."""
        excess = find_excess(statement)
        if excess is not None:
            return doubt(excess)
        with self._transaction():
            self.schema = schema = load_schema(self._connection, self.schema)
            found = None if state.has_temporary else schema.inspections.get(statement)
            if found is None:
                found = replace(self._inspect(statement, state, schema), schema=schema.token)
                if not (found.doubts or state.has_temporary):
                    schema.inspections.keep(statement, found)
            return found

    def run(
        self, statement: str, inspection: Inspection, state: ConnectionState, *, max_rows: int | None
    ) -> SQLRows:
        excess = find_excess(statement)
        with self._transaction(writes=bool(inspection.writes)):
            schema = load_schema(self._connection, self.schema)
            if (doubt(excess) if excess else self._inspect(statement, state, schema)) != inspection:
                raise ChangedSinceApproval
            rows = self._fetch(statement, max_rows)
            if inspection.writes and self._connection.in_transaction:
                self._connection.execute("COMMIT")
            return rows

    def _fetch(self, statement: str, max_rows: int | None) -> SQLRows:
        self._connection.text_factory = self._text_factory
        cursor = self._connection.execute(statement)
        try:
            names = tuple(str(column[0]) for column in cursor.description or ())
            rows = cursor.fetchall() if max_rows is None else cursor.fetchmany(max_rows + 1)
        finally:
            cursor.close()
        return cut_rows(names, rows, max_rows)

    @contextmanager
    def _transaction(self, *, writes: bool = False) -> Generator[None]:
        """One view of the database."""
        self._deadline = time.monotonic() + self._timeout
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        try:
            yield
        finally:
            self._deadline = math.inf
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _inspect(self, statement: str, state: ConnectionState, schema: SQLiteSchema) -> Inspection:
        explains, inner = split_explain(statement)
        authorizer = Authorizer()
        try:
            self._connection.set_authorizer(authorizer)
            listing = self._explain(inner)
            self._connection.set_authorizer(None)
            findings = SQLiteFindings(authorizer, schema, self._connection, state)
            return findings.conclude(listing, statement=inner, explains=explains)
        except FAILURES as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in UNREACHABLE:
                raise
            doubts = tuple(authorizer.refused) or (NOT_PREPARED,)
            return Inspection(writes=tuple(authorizer.writes), doubts=doubts)
        finally:
            self._connection.set_authorizer(None)

    def _explain(self, statement: str) -> Iterable[Instruction]:
        """The program of a statement, with NULL for its parameters.

        The comment keeps the driver from using a statement that it has prepared before, without our authorizer.
        """
        text = f"EXPLAIN /* to be inspected */ {statement}"
        try:
            return self._list_program(text)
        except sqlite3.ProgrammingError as error:
            count = COUNT.search(str(error))
            if count is None:
                raise
        try:
            return self._list_program(text, Nulls())
        except sqlite3.ProgrammingError:
            if NAMED.search(statement):
                raise
        return self._list_program(text, (None,) * int(count[1]))

    def _list_program(
        self, text: str, parameters: Mapping[str, None] | tuple[None, ...] = ()
    ) -> Iterable[Instruction]:
        """Not fetched at once: a long one would keep the garbage collector busy, and with it every thread."""
        cursor = self._connection.execute(text, parameters)
        if cursor.description is None or cursor.description[1][0] != "opcode":
            raise ValueError("no program")
        return cursor

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline
