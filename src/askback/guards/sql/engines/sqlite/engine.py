"""SQLite as an engine: where its database is, and on which connection a statement is inspected or run."""

import os
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from typing import cast

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from askback.errors import AuthorError
from askback.guards.sql.approval import approval_of
from askback.guards.sql.engines.engine import Inspection, SQLRows, doubt
from askback.guards.sql.engines.sqlite.catalogue import SQLiteSchema
from askback.guards.sql.engines.sqlite.connection import (
    OTHER_THREAD,
    ConnectionState,
    open_file,
    read_state,
)
from askback.guards.sql.engines.sqlite.inspector import SQLiteInspector
from askback.guards.sql.names import Dialect

GRACE_SECONDS = 1.0
"""How long a thread may go on after the timeout: SQLite before 3.41 cannot interrupt preparation."""

MAX_THREADS = 4
"""Inspections at a time on one event loop: more would only take the interpreter from one another, and from the loop."""

_limiters: RunVar[anyio.CapacityLimiter] = RunVar("askback_sqlite_inspections")

LATE = "SQLite took too long to prepare the statement"

Database = str | os.PathLike[str] | sqlite3.Connection | Callable[[], sqlite3.Connection]


class SQLiteEngine:
    """A SQLite database, given as a file, as a connection to a file, or as a function that makes a new connection.

    It looks at statements on connections of its own: an authorizer on the author's would replace theirs. Databases in
    memory, temporary tables, and the author's own functions and collations are only seen on what a function gives.
    Each connection is closed after use. On connections to a file, foreign keys are enforced.
    """

    name: str = "SQLite"
    dialect: Dialect = "sqlite"

    def __init__(self, database: Database, *, timeout: float = 5.0, read_only: bool = True) -> None:
        self._database, self._timeout, self._read_only = database, timeout, read_only
        self._schema: SQLiteSchema | None = None
        self._in_loop: bool | None = None

    async def inspect(self, statement: str) -> Inspection:
        state = await self._look()
        if state.doubt is not None:
            return doubt(state.doubt)
        with anyio.move_on_after(self._timeout + GRACE_SECONDS):
            return await anyio.to_thread.run_sync(
                self._inspect, statement, state, abandon_on_cancel=True, limiter=_limiter()
            )
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
        if not self._in_loop:
            with anyio.move_on_after(self._timeout):
                state = await anyio.to_thread.run_sync(read_state, self._database, abandon_on_cancel=True)
                if state.doubt != OTHER_THREAD:
                    return state
        state = read_state(self._database)
        self._in_loop = state.doubt != OTHER_THREAD
        return state

    def _inspect(self, statement: str, state: ConnectionState) -> Inspection:
        with self._open(state) as inspector:
            inspection = inspector.inspect(statement, state)
            self._schema = inspector.schema
            return inspection

    def _run(
        self, statement: str, inspection: Inspection, max_rows: int | None, state: ConnectionState
    ) -> SQLRows:
        with self._open(state, read_only=self._read_only) as inspector:
            return inspector.run(statement, inspection, state, max_rows=max_rows)

    @contextmanager
    def _open(self, state: ConnectionState, *, read_only: bool = True) -> Generator[SQLiteInspector]:
        if isinstance(self._database, sqlite3.Connection) or callable(self._database):
            path = state.path
        else:
            path = os.fspath(self._database)
        if path is None:
            connection = cast("Callable[[], sqlite3.Connection]", self._database)()
        else:
            connection = open_file(path, timeout=self._timeout, read_only=read_only)
        with closing(connection):
            # A function may give connections that understand a statement differently each time.
            known = None if path is None else self._schema
            yield SQLiteInspector(connection, timeout=self._timeout, schema=known)


def _limiter() -> anyio.CapacityLimiter:
    """The limiter of the running event loop."""
    limiter = _limiters.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(MAX_THREADS)
        _limiters.set(limiter)
    return limiter
