"""SQLite as an engine: where its database is, and which connection looks at a statement."""

import os
import sqlite3
import weakref
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from typing import cast

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from askback.errors import AuthorError
from askback.guards.sql.approval import approval_of
from askback.guards.sql.engines.engine import Inspection, SQLRows
from askback.guards.sql.engines.sqlite.connection import OTHER_THREAD, ConnectionState, read_state
from askback.guards.sql.engines.sqlite.inspector import SharedSchema, SQLiteInspector
from askback.guards.sql.engines.sqlite.pool import SQLitePool, open_file
from askback.guards.sql.names import Dialect

GRACE = 1.0
"""Seconds beyond the timeout until a thread is left behind: preparation cannot be interrupted by SQLite before 3.41."""

MAX_THREADS = 4
"""Inspections at a time on one event loop: more would only take the interpreter from one another, and from the loop."""

_limiters: RunVar[anyio.CapacityLimiter] = RunVar("askback_sqlite_inspections")

LATE = "SQLite took too long to prepare the statement"

Database = str | os.PathLike[str] | sqlite3.Connection | Callable[[], sqlite3.Connection]


class SQLiteEngine:
    """Of a file, of a connection to a file, or of a function that gives a new connection.

    It looks at statements on connections of its own: an authorizer on the author's would replace theirs. Databases in
    memory, temporary tables, and the author's own functions and collations are only seen on what a function gives,
    which is closed after each use. On connections to a file, foreign keys are enforced.
    """

    name: str = "SQLite"
    dialect: Dialect = "sqlite"

    def __init__(self, database: Database, *, timeout: float = 5.0, read_only: bool = True) -> None:
        self._database, self._timeout, self._read_only = database, timeout, read_only
        self._pools: dict[str, SQLitePool] = {}
        self._in_loop: bool | None = None
        self._finalizer = weakref.finalize(self, _close_all, self._pools)

    def close(self) -> None:
        """Close the connections that are kept open. The engine opens new ones if it is used again."""
        _close_all(self._pools)

    async def inspect(self, statement: str) -> Inspection:
        live = await self._look()
        if live.doubt is not None:
            return Inspection(doubts=(live.doubt,))
        with anyio.move_on_after(self._timeout + GRACE):
            return await anyio.to_thread.run_sync(
                self._inspect, statement, live, abandon_on_cancel=True, limiter=_limiter()
            )
        return Inspection(doubts=(LATE,))

    async def run(self, statement: str, *, max_rows: int | None = None) -> SQLRows:
        """Run a statement that `guard_sql` let pass in this call, in the transaction in which it is inspected again.

        Raises `ChangedSinceApproval` where it would now read or change something else; then nothing has run.
        """
        inspection = approval_of(statement).inspection
        live = await self._look()
        if live.doubt is not None:
            raise AuthorError(f"SQLiteEngine cannot run this: {live.doubt}. Give it a path or a function.")
        return await anyio.to_thread.run_sync(self._run, statement, inspection, max_rows, live)

    async def _look(self) -> ConnectionState:
        """Of a connection, in a thread if it allows that, else here; it may belong to the event loop's thread."""
        if not isinstance(self._database, sqlite3.Connection):
            return ConnectionState()
        if not self._in_loop:
            with anyio.move_on_after(self._timeout):
                live = await anyio.to_thread.run_sync(read_state, self._database, abandon_on_cancel=True)
                if live.doubt != OTHER_THREAD:
                    return live
        live = read_state(self._database)
        self._in_loop = live.doubt != OTHER_THREAD
        return live

    def _inspect(self, statement: str, live: ConnectionState) -> Inspection:
        with self._borrow(live) as witness:
            return witness.inspect(statement, live)

    def _run(
        self, statement: str, inspection: Inspection, max_rows: int | None, live: ConnectionState
    ) -> SQLRows:
        """On a connection that is closed afterwards, since an approved statement may change its settings."""
        with self._open(live, read_only=self._read_only) as witness:
            return witness.run(statement, inspection, live, max_rows=max_rows)

    @contextmanager
    def _borrow(self, live: ConnectionState) -> Generator[SQLiteInspector]:
        path = self._path(live)
        if path is None:
            with self._open(live, read_only=True) as witness:
                yield witness
            return
        pool = self._pools.get(path)
        if pool is None:
            pool = self._pools.setdefault(path, SQLitePool(path, timeout=self._timeout))
        with pool.borrow() as witness:
            yield witness

    @contextmanager
    def _open(self, live: ConnectionState, *, read_only: bool) -> Generator[SQLiteInspector]:
        path = self._path(live)
        if path is None:
            connection = cast("Callable[[], sqlite3.Connection]", self._database)()
        else:
            connection = open_file(path, timeout=self._timeout, read_only=read_only)
        with closing(connection):
            yield SQLiteInspector(connection, timeout=self._timeout, shared=SharedSchema())

    def _path(self, live: ConnectionState) -> str | None:
        if isinstance(self._database, sqlite3.Connection) or callable(self._database):
            return live.path
        return os.fspath(self._database)


def _limiter() -> anyio.CapacityLimiter:
    """That of the running event loop."""
    limiter = _limiters.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(MAX_THREADS)
        _limiters.set(limiter)
    return limiter


def _close_all(pools: dict[str, SQLitePool]) -> None:
    while pools:
        pools.popitem()[1].close()
