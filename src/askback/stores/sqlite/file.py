"""The file of a SQLite store: how it is created, opened and recognised, and what its errors mean to an operator.

A file that was there and is gone is not created again: an empty one would have forgotten what was already done.
"""

import os
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from askback.errors import StoreUnavailable

APPLICATION = 0x41736B62
"""Says whose file this is: "Askb"."""

STEPS: tuple[tuple[str, ...], ...] = (
    (
        # What was recorded last, and beside it what is being run: a release leaves the former as it was.
        # A row is looked at again no later than at `look_at`, which is left alone when `until` is put off: so a turn of
        # a known key touches no index.
        """CREATE TABLE claims (
            key TEXT NOT NULL PRIMARY KEY, look_at REAL NOT NULL, until REAL NOT NULL,
            turn INTEGER NOT NULL, digest TEXT NOT NULL, result BLOB,
            run_turn INTEGER, run_digest TEXT, token TEXT, alive_until REAL, noted BLOB NOT NULL)""",
        "CREATE TABLE settled (key TEXT NOT NULL PRIMARY KEY, until REAL NOT NULL, value BLOB NOT NULL)",
        "CREATE TABLE spent (key TEXT NOT NULL PRIMARY KEY, until REAL NOT NULL)",
        """CREATE TABLE vault (
            owner TEXT NOT NULL, name TEXT NOT NULL, until REAL, value BLOB NOT NULL, PRIMARY KEY (owner, name))""",
        "CREATE TABLE ledger (number INTEGER PRIMARY KEY, line BLOB NOT NULL)",
        "CREATE INDEX claims_look_at ON claims (look_at)",
        "CREATE INDEX settled_until ON settled (until)",
        "CREATE INDEX spent_until ON spent (until)",
        "CREATE INDEX vault_until ON vault (until) WHERE until IS NOT NULL",
    ),
    (
        "CREATE TABLE memory (epoch TEXT NOT NULL)",
        "INSERT INTO memory VALUES (lower(hex(randomblob(8))))",
    ),
    (
        # Rows of a kind that is capped, oldest first by their rowid; `capped` has what they weigh together, for each
        # holder and, where the holder is NULL, in all.
        "ALTER TABLE vault ADD COLUMN kind TEXT",
        "ALTER TABLE vault ADD COLUMN holder TEXT",
        "ALTER TABLE vault ADD COLUMN weight INTEGER",
        "CREATE INDEX vault_kind ON vault (kind) WHERE kind IS NOT NULL",
        "CREATE INDEX vault_holder ON vault (kind, holder) WHERE kind IS NOT NULL",
        "CREATE TABLE capped (kind TEXT NOT NULL, holder TEXT, weight INTEGER NOT NULL)",
        "CREATE UNIQUE INDEX capped_holder ON capped (kind, ifnull(holder, x''))",
        """CREATE TRIGGER vault_capped AFTER DELETE ON vault WHEN old.kind IS NOT NULL BEGIN
            UPDATE capped SET weight = weight - old.weight
            WHERE kind = old.kind AND ifnull(holder, x'') IN (x'', old.holder);
            DELETE FROM capped WHERE kind = old.kind AND ifnull(holder, x'') IN (x'', old.holder) AND weight <= 0;
        END""",
    ),
)
"""Each step leads from one number of the schema to the next; PRAGMA user_version says how many were taken."""

BUSY_TIMEOUT = 5.0
"""Seconds to wait for another process's lock; writes take well under a millisecond."""

UNWRITABLE = (
    "Let the user who runs the server write to the file and to its directory, where SQLite puts two more."
)
UNREADABLE = (
    "Name another file, or move this one away; without it, what was answered before counts as unanswered."
)

HOLDER = "perhaps by a backup or a shell left in a transaction."

ADVICE = {
    "SQLITE_BUSY": f"Its lock was held for {BUSY_TIMEOUT:g} seconds, {HOLDER}",
    "SQLITE_LOCKED": f"Its lock is held, {HOLDER}",
    "SQLITE_FULL": "Make room on its disk; the store goes on by itself.",
    "SQLITE_IOERR": "Look at its disk: space, quota, mount. The store goes on by itself when it can.",
    "SQLITE_READONLY": UNWRITABLE,
    "SQLITE_PERM": UNWRITABLE,
    "SQLITE_CANTOPEN": UNWRITABLE,
    "SQLITE_NOTADB": UNREADABLE,
    "SQLITE_CORRUPT": UNREADABLE,
}


class File:
    """One connection, opened when it is needed and again after an error. For one thread at a time."""

    def __init__(self, path: Path, *, identity: tuple[int, int] | None = None) -> None:
        self.path = path
        self.identity = identity
        """Device and inode of the file that was opened last; None if none was."""
        self.epoch = ""
        """Epoch of the file that was opened last."""
        self._connection: sqlite3.Connection | None = None

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    def open(self) -> None:
        """Before each job: open it, if it is not open or another file has come in its place."""
        if self._connection is None or self._identify() != self.identity:
            self.drop()
            self._connection = self._connect()

    def execute(self, statement: str, values: Any = ()) -> sqlite3.Cursor:
        assert self._connection is not None
        return self._connection.execute(statement, values)

    @contextmanager
    def transaction(self) -> Generator[None]:
        """After an error it is left open: the connection is then dropped, and the transaction with it."""
        self.execute("BEGIN IMMEDIATE")
        yield
        self.execute("COMMIT")

    def drop(self) -> None:
        """Close the connection; the next call opens another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def unavailable(self, problem: str, advice: str) -> StoreUnavailable:
        return StoreUnavailable(store=str(self.path), problem=problem, advice=advice)

    def explain(self, error: sqlite3.Error | OSError) -> StoreUnavailable:
        """What an error of SQLite or of the disk means, in an operator's words, with what helps."""
        if isinstance(error, OSError):
            return self.unavailable(error.strerror or str(error), UNWRITABLE)
        name = str(getattr(error, "sqlite_errorname", ""))
        advice = next((advice for kind, advice in ADVICE.items() if name.startswith(kind)), "")
        return self.unavailable(str(error), advice or "The store tries again with the next call.")

    def _identify(self) -> tuple[int, int]:
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            raise self.unavailable(
                "the file was there and is gone",
                "Put it back, and the store goes on. To begin with an empty one, restart every process that uses it.",
            ) from None
        return found.st_dev, found.st_ino

    def _require_former(self, *, is_empty: bool) -> None:
        if is_empty and self.identity is not None:
            raise self.unavailable(
                "the file was replaced by an empty one",
                "Put the former back, and the store goes on. To begin anew, restart every process that uses it.",
            )

    def _connect(self) -> sqlite3.Connection:
        if self.identity is None:
            self._create()
        identity = self._identify()
        # Before SQLite sees it, which would throw away what it has written beside the former one.
        self._require_former(is_empty=os.stat(self.path).st_size == 0)
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw",
            uri=True,
            timeout=BUSY_TIMEOUT,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("BEGIN")  # all that is read of it is of one moment
            version = self._read_version(connection)
            connection.execute("COMMIT")
            _switch_to_wal(connection, self)
            connection.execute("PRAGMA synchronous = NORMAL")
            if version < len(STEPS):
                self._bring_up_to_date(connection)
            self.epoch = str(connection.execute("SELECT epoch FROM memory").fetchone()[0])
        except BaseException:
            connection.close()
            raise
        self.identity = identity
        return connection

    def _create(self) -> None:
        if not self.path.parent.is_dir():
            raise self.unavailable(
                f"the directory {self.path.parent} does not exist", "Make it, or name another."
            )
        # Only where there is none: to open and close a file that SQLite has open would take its locks away.
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        version = self._read_version(connection)  # another process may have been faster
        for step in STEPS[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")
        connection.execute("COMMIT")

    def _read_version(self, connection: sqlite3.Connection) -> int:
        """How many steps were taken, in a file that is ours or empty."""
        version, whose = _read_number(connection, "user_version"), _read_number(connection, "application_id")
        is_empty = not _read_number(connection, "schema_version")
        if whose != APPLICATION and not (is_empty and whose == version == 0):
            raise self.unavailable("the file belongs to another program", "Name one for Askback alone.")
        self._require_former(is_empty=is_empty)
        if version > len(STEPS):
            raise self.unavailable(
                f"its schema has number {version}, and this version of Askback knows {len(STEPS)}",
                "It was written by a newer Askback: upgrade here too, or name another file.",
            )
        return version


def _read_number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _switch_to_wal(connection: sqlite3.Connection, file: File) -> None:
    deadline = time.monotonic() + BUSY_TIMEOUT
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError:
            # SQLite does not wait for this lock by itself: several processes may be opening a new file.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
            continue
        if mode != "wal":
            raise file.unavailable(
                "its disk cannot share memory between processes", "Put it on a local disk."
            )
