"""Connections of our own to an author's DuckDB, and work on them in a thread, within a time limit."""

import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from os import PathLike, fspath
from typing import Generic, TypeAlias, TypeVar, cast

import anyio
import anyio.to_thread
import duckdb

Connection: TypeAlias = duckdb.DuckDBPyConnection

Database: TypeAlias = "str | PathLike[str] | Connection | Callable[[], Connection]"
"""A file, which is opened read-only each time, a connection, or a function that gives one."""

RETRY_SECONDS = 0.05
"""Between two interruptions: one that falls between two calls of the engine is lost."""

GRACE_SECONDS = 0.5
"""How long an interrupted thread is waited for. Some of binding cannot be interrupted."""

Result = TypeVar("Result")


@contextmanager
def open_cursor(database: Database) -> Generator[Connection]:
    """A connection of our own to the same database; the author's one, its settings and transaction stay as they are."""
    if isinstance(database, str | PathLike):
        path = fspath(cast("str | PathLike[str]", database))
        with closing(duckdb.connect(path, read_only=True)) as connection:
            yield connection
        return
    connection = database if isinstance(database, duckdb.DuckDBPyConnection) else database()
    with closing(connection.cursor()) as cursor:
        yield cursor


class DuckDBJob(Generic[Result]):
    """One piece of work on a connection, which is interrupted when it is late or nobody waits for it any more."""

    def __init__(self, work: Callable[["DuckDBJob[Result]"], Result]) -> None:
        self._work = work
        self._done = threading.Event()
        self._is_interrupted = False
        self._cursor: Connection | None = None
        self._lock = threading.Lock()

    @property
    def is_done(self) -> bool:
        return self._done.is_set()

    @contextmanager
    def on(self, cursor: Connection) -> Generator[None]:
        """The connection to interrupt. It must not be closed inside: to interrupt one meanwhile can end the process."""
        self._cursor = cursor
        try:
            yield
        finally:
            with self._lock:
                self._cursor = None

    async def run(self, *, timeout: float) -> Result:
        """Do the work in a thread. Raises TimeoutError; the thread then ends as soon as the engine lets it."""
        try:
            with anyio.fail_after(timeout):
                return await anyio.to_thread.run_sync(self._run, abandon_on_cancel=True)
        except TimeoutError:
            self._start_interrupting()
            await anyio.to_thread.run_sync(self._done.wait, GRACE_SECONDS, abandon_on_cancel=True)
            raise
        finally:
            self._start_interrupting()

    def _run(self) -> Result:
        try:
            return self._work(self)
        finally:
            self._done.set()

    def _start_interrupting(self) -> None:
        if not self.is_done and not self._is_interrupted:
            self._is_interrupted = True
            threading.Thread(target=self._interrupt, daemon=True).start()

    def _interrupt(self) -> None:
        while not self._done.wait(RETRY_SECONDS):
            with self._lock, suppress(duckdb.Error):
                if self._cursor is not None:
                    self._cursor.interrupt()
