"""Connections to a file, and a look at a connection of the author's: which file it has, and what the file has not."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

Make = Callable[[], sqlite3.Connection]

Database = str | os.PathLike[str] | sqlite3.Connection | Make
"""A file, a connection to one, or a function that makes a new connection."""

BUSY = "the connection is in a transaction, whose changes only it can see"
MEMORY = "the database is in memory, where only its own connection can look"
OTHER_THREAD = "the connection belongs to another thread, or is closed"


def open_file(path: str | os.PathLike[str], *, timeout: float, read_only: bool = True) -> sqlite3.Connection:
    """Open a file that is already there. Foreign keys are enforced, so that what they change is seen."""
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


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """The file and the temporary objects of a connection. Without a path, the doubt says why."""

    path: str | None = None
    doubt: str | None = None
    shadows: frozenset[str] = frozenset()
    """Names of temporary tables and views, in small letters: SQLite finds them before those of the file."""
    has_triggers: bool = False
    """Whether there are temporary triggers, which no other connection has."""

    @property
    def has_temporary(self) -> bool:
        """Whether a statement may mean something else on this connection than on another one to the same file."""
        return bool(self.shadows) or self.has_triggers


def read_state(connection: sqlite3.Connection) -> ConnectionState:
    """Read the list of databases and the temporary schema, neither of which takes a lock on the file."""
    try:
        if connection.in_transaction:
            return ConnectionState(doubt=BUSY)
        with closing(connection.cursor()) as cursor:
            cursor.row_factory = None
            files = {
                _text(row[1]): _text(row[2]) for row in cursor.execute("PRAGMA database_list").fetchall()
            }
            temporary = cursor.execute("SELECT type, name FROM sqlite_temp_master").fetchall()
    except sqlite3.Error:
        return ConnectionState(doubt=OTHER_THREAD)
    if not files.get("main"):
        return ConnectionState(doubt=MEMORY)
    kinds = [(_text(kind), _text(name).lower()) for kind, name in temporary]
    return ConnectionState(
        path=files["main"],
        shadows=frozenset(name for kind, name in kinds if kind != "trigger"),
        has_triggers=any(kind == "trigger" for kind, _ in kinds),
    )


def _text(value: object) -> str:
    """Text, whatever the author's connection makes of it."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")
