"""Connections of our own to one file, kept open between statements."""

import os
import sqlite3
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from askback.guards.sql.engines.sqlite.inspector import SharedSchema, SQLiteInspector

MAX_IDLE = 4
"""Connections that are kept while nobody uses them."""


def open_file(path: str | os.PathLike[str], *, timeout: float, read_only: bool = True) -> sqlite3.Connection:
    """A connection to a file that is already there. Foreign keys are enforced, so that what they change is seen."""
    address = f"{Path(path).absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
    connection = sqlite3.connect(
        address, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class SQLitePool:
    """Lends witnesses that only read. One whose file was replaced by another is not lent again."""

    def __init__(self, path: str | os.PathLike[str], *, timeout: float) -> None:
        self._path, self._timeout = path, timeout
        self._idle: deque[SQLiteInspector] = deque()
        self._shared = SharedSchema()
        self._file: tuple[int, int] | None = None
        self._is_closed = False

    @contextmanager
    def borrow(self) -> Generator[SQLiteInspector]:
        file = self._identity()
        if file != self._file:
            self._begin_anew(file)
        witness = self._take(file)
        try:
            yield witness
        except BaseException:
            witness.close()
            raise
        self._give_back(witness, file)

    def _take(self, file: tuple[int, int] | None) -> SQLiteInspector:
        try:
            witness = self._idle.popleft()
        except IndexError:
            return self._open()
        try:
            is_outdated = witness.is_outdated
        except BaseException:
            witness.close()
            raise
        if not is_outdated:
            return witness
        witness.close()
        self._begin_anew(file)
        return self._open()

    def _open(self) -> SQLiteInspector:
        connection = open_file(self._path, timeout=self._timeout)
        try:
            return SQLiteInspector(connection, timeout=self._timeout, shared=self._shared)
        except BaseException:
            connection.close()
            raise

    def _begin_anew(self, file: tuple[int, int] | None) -> None:
        """Forget what was found out about another file, or with other statistics."""
        self._empty()
        self._file, self._shared = file, SharedSchema()

    def _give_back(self, witness: SQLiteInspector, file: tuple[int, int] | None) -> None:
        if self._is_closed or file != self._file or len(self._idle) >= MAX_IDLE:
            witness.close()
        else:
            self._idle.append(witness)

    def close(self) -> None:
        """Close what is idle now, and what is in use as soon as it is given back."""
        self._is_closed = True
        self._empty()

    def _empty(self) -> None:
        while self._idle:
            self._idle.popleft().close()

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None  # SQLite says what is wrong
        return found.st_dev, found.st_ino
