"""A look at a connection of the author's: which file it has open, and what it has that the file does not."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass

BUSY = "the connection is in a transaction, whose changes only it can see"
MEMORY = "the database is in memory, where only its own connection can look"
OTHER_THREAD = "the connection belongs to another thread, or is closed"


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """What one look has found. Without a path there is a doubt."""

    path: str | None = None
    doubt: str | None = None
    shadows: frozenset[str] = frozenset()
    """Names of temporary tables and views, in small letters: SQLite finds them before those of the file."""
    has_triggers: bool = False
    """Whether there are temporary triggers, which no other connection has."""


def read_state(connection: sqlite3.Connection) -> ConnectionState:
    """Reads the list of databases and the temporary schema, neither of which takes a lock on the file."""
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
    """Whatever the author's connection makes of text."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")
