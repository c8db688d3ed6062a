"""SQLite as an engine: its authorizer and its bytecode say what a statement reads, on connections of our own."""

import math
import os
import re
import sqlite3
import time
import weakref
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from typing import cast

import anyio
import anyio.to_thread

from askback.errors import AuthorError, ChangedSinceApproval
from askback.guards.sql.approval import approval_of
from askback.guards.sql.engines.engine import Inspection, SQLRows, cut_rows, doubt
from askback.guards.sql.engines.sqlite.bounds import find_excess, split_explain
from askback.guards.sql.engines.sqlite.bytecode import Instruction
from askback.guards.sql.engines.sqlite.catalogue import SQLiteSchema, load_schema
from askback.guards.sql.engines.sqlite.connection import (
    OTHER_THREAD,
    ConnectionState,
    Database,
    Make,
    open_file,
    read_state,
)
from askback.guards.sql.engines.sqlite.findings import Authorizer, SQLiteFindings
from askback.guards.sql.names import Dialect
from askback.guards.sql.threads import run_in_thread

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
"""Errors that a statement can make the driver or the reading of its program raise."""

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
"""The beginning of a parameter with a name."""

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
        """The schema as an earlier connection found it. The first inspection puts that of this connection here."""
        self._connection, self._timeout = connection, timeout
        self._deadline, self._turn = math.inf, 0
        self._text_factory = connection.text_factory
        connection.row_factory, connection.text_factory = None, str
        for limit, value in LIMITS.items():
            connection.setlimit(limit, min(value, connection.getlimit(limit)))
        connection.set_authorizer(None)
        connection.set_progress_handler(lambda: time.monotonic() > self._deadline, STEPS)

    def close(self) -> None:
        self._connection.close()

    def inspect(self, statement: str, state: ConnectionState) -> Inspection | None:
        """Find out what a statement reads and changes. None where the database has changed since the last time.

        SQLite reads the results of ANALYZE once for each connection, so then another connection has to be opened.
        """
        excess = find_excess(statement)
        if excess is not None:
            return doubt(excess)
        with self._transaction():
            schema = load_schema(self._connection, self.schema)
            if self._turn and schema is not self.schema:
                return None
            self.schema = schema
            self._turn += 1
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

        The number keeps the driver from using a statement that it has prepared before, without our authorizer.
        """
        text = f"EXPLAIN /* {self._turn} */ {statement}"
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


GRACE_SECONDS = 1.0
"""How long a thread may go on after the timeout: SQLite before 3.41 cannot interrupt preparation."""

MAX_IDLE = 4
"""Connections to one file that an engine keeps: to open one and read the schema takes longer than an inspection."""

File = tuple[str, int, int, int]
"""A path, the file that is there, and this process: SQLite's connections cannot be used in a forked one."""

LATE = "SQLite took too long to prepare the statement"


class SQLiteEngine:
    """A SQLite database, given as a file, as a connection to a file, or as a function that makes a new connection.

    It looks at statements on connections of its own: an authorizer on the author's would replace theirs. Databases in
    memory, temporary tables, and the author's own functions and collations are only seen on what a function gives.
    Connections to a file are kept for the next inspections, and foreign keys are enforced on them. What a function
    gives is closed after use.
    """

    name: str = "SQLite"
    dialect: Dialect = "sqlite"

    def __init__(self, database: Database, *, timeout: float = 5.0, read_only: bool = True) -> None:
        self._database, self._timeout, self._read_only = database, timeout, read_only
        self._schema: SQLiteSchema | None = None
        self._idle: list[tuple[File, SQLiteInspector]] = []
        weakref.finalize(self, _close_all, self._idle)

    async def inspect(self, statement: str) -> Inspection:
        state = await self._look()
        if state.doubt is not None:
            return doubt(state.doubt)
        with anyio.move_on_after(self._timeout + GRACE_SECONDS):
            return await run_in_thread(lambda: self._inspect(statement, state))
        return doubt(LATE)

    async def run(self, statement: str, *, max_rows: int | None = None) -> SQLRows:
        """Run a statement that `guard_sql` let pass in this call, in the transaction in which it is inspected again.

        Raises `ChangedSinceApproval` where it would now read or change something else; then nothing has run.
        """
        inspection = approval_of(statement).inspection
        state = await self._look()
        if state.doubt is not None:
            raise AuthorError(f"SQLiteEngine cannot run this: {state.doubt}. Give it a path or a function.")
        return await anyio.to_thread.run_sync(self._run, statement, inspection, max_rows, state)

    async def _look(self) -> ConnectionState:
        """Look at the author's connection, in a thread if it allows that, else here, where it may have been made."""
        if not isinstance(self._database, sqlite3.Connection):
            return ConnectionState()
        with anyio.move_on_after(self._timeout):
            state = await anyio.to_thread.run_sync(read_state, self._database, abandon_on_cancel=True)
            if state.doubt != OTHER_THREAD:
                return state
        return read_state(self._database)

    def _inspect(self, statement: str, state: ConnectionState) -> Inspection:
        path = self._path(state)
        file = None if path is None else _find_file(path)
        while True:
            inspector = self._take(file) or self._open(path)
            with ExitStack() as stack:
                stack.callback(inspector.close)
                found = inspector.inspect(statement, state)
                if file is not None:
                    self._schema = inspector.schema
                # A change or a doubt may have changed settings of the connection.
                is_harmless = found is not None and found.is_query and not found.doubts
                if file is not None and is_harmless and len(self._idle) < MAX_IDLE:
                    stack.pop_all()
                    self._idle.append((file, inspector))
            if found is not None:
                return found

    def _run(
        self, statement: str, inspection: Inspection, max_rows: int | None, state: ConnectionState
    ) -> SQLRows:
        with closing(self._open(self._path(state), read_only=self._read_only)) as inspector:
            return inspector.run(statement, inspection, state, max_rows=max_rows)

    def _path(self, state: ConnectionState) -> str | None:
        """The file of the database; None where a function gives connections."""
        if isinstance(self._database, sqlite3.Connection) or callable(self._database):
            return state.path
        return os.fspath(self._database)

    def _take(self, file: File | None) -> SQLiteInspector | None:
        """A connection that was kept for this very file."""
        with suppress(IndexError):
            while file is not None:
                kept, inspector = self._idle.pop()
                if kept == file:
                    return inspector
                inspector.close()
        return None

    def _open(self, path: str | None, *, read_only: bool = True) -> SQLiteInspector:
        if path is None:
            # A function may give connections that understand a statement differently each time.
            return SQLiteInspector(cast("Make", self._database)(), timeout=self._timeout)
        connection = open_file(path, timeout=self._timeout, read_only=read_only)
        return SQLiteInspector(connection, timeout=self._timeout, schema=self._schema)


def _find_file(path: str) -> File | None:
    with suppress(OSError):  # SQLite says what is wrong
        found = os.stat(path)
        return path, found.st_dev, found.st_ino, os.getpid()
    return None


def _close_all(idle: list[tuple[File, SQLiteInspector]]) -> None:
    while idle:
        idle.pop()[1].close()
