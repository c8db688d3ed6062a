"""One SQLite connection of our own that says what statements read, and runs those that were approved."""

import math
import re
import sqlite3
import time
from collections.abc import Generator, Hashable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from askback.guards.sql.engines.engine import ChangedSinceApproval, Inspection, SQLRows
from askback.guards.sql.engines.sqlite.authorizer import Authorizer
from askback.guards.sql.engines.sqlite.bounds import find_excess
from askback.guards.sql.engines.sqlite.bytecode import Instruction
from askback.guards.sql.engines.sqlite.catalogue import SQLiteSchema
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

MAX_KEPT, MAX_KEPT_LENGTH = 256, 10_000
"""Statements whose inspection is kept, and their characters."""

NOT_PREPARED = "SQLite does not accept it as one statement"


class Nulls(dict[str, None]):
    """NULL for each parameter, whatever its name."""

    def __missing__(self, name: str) -> None:
        return None


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """What was found out about one version of the schema of a file."""

    version: int
    catalogue: SQLiteSchema
    token: Hashable = field(default_factory=object)
    inspections: dict[tuple[str, ConnectionState], Inspection] = field(
        default_factory=dict[tuple[str, ConnectionState], Inspection]
    )

    def keep(self, statement: str, live: ConnectionState, inspection: Inspection) -> None:
        """What was doubtful is looked at again: it may have been the moment and not the statement."""
        if len(statement) <= MAX_KEPT_LENGTH and not inspection.doubts:
            if len(self.inspections) >= MAX_KEPT:
                self.inspections.clear()
            self.inspections[statement, live] = inspection


@dataclass(slots=True)
class SharedSchema:
    """What the connections to one file share: the newest schema that one of them has seen."""

    schema: SchemaVersion | None = None


class SQLiteInspector:
    """Owns its connection. To be used by one thread at a time; `close` it."""

    def __init__(self, connection: sqlite3.Connection, *, timeout: float, shared: SharedSchema) -> None:
        self._connection, self._timeout, self._shared = connection, timeout, shared
        self._authorizer, self._deadline, self._turn = Authorizer(), math.inf, 0
        self._version: int | None = None
        self._text_factory = connection.text_factory
        connection.row_factory, connection.text_factory = None, str
        for limit, value in LIMITS.items():
            connection.setlimit(limit, min(value, connection.getlimit(limit)))
        connection.set_authorizer(self._authorizer)
        connection.set_progress_handler(self._is_late, STEPS)

        self._data = self._data_version()
        self._statistics = self._read_statistics()

    def close(self) -> None:
        self._connection.close()

    @property
    def is_outdated(self) -> bool:
        """Whether ANALYZE was run since: a connection plans by the statistics that it read when it was opened."""
        data = self._data_version()
        if data == self._data:
            return False
        self._data = data
        return self._read_statistics() != self._statistics

    def _data_version(self) -> int:
        """Another number after each change that another connection made."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return version

    def _read_statistics(self) -> list[object]:
        """All rows that ANALYZE has left."""
        query = "SELECT name FROM main.sqlite_master WHERE name IN ('sqlite_stat1', 'sqlite_stat4')"
        tables = self._connection.execute(query).fetchall()
        return [row for (name,) in tables for row in self._connection.execute(f"SELECT * FROM main.{name}")]

    def inspect(self, statement: str, live: ConnectionState) -> Inspection:
        excess = find_excess(statement)
        if excess is not None:
            return Inspection(doubts=(excess,))
        with self._transaction():
            schema = self._schema()
            found = schema.inspections.get((statement, live))
            if found is None:
                found = replace(self._inspect(statement, live, schema), schema=schema.token)
                schema.keep(statement, live, found)
            return found

    def run(
        self, statement: str, inspection: Inspection, live: ConnectionState, *, max_rows: int | None
    ) -> SQLRows:
        excess = find_excess(statement)
        with self._transaction(writes=bool(inspection.writes)):
            found = Inspection(doubts=(excess,)) if excess else self._inspect(statement, live, self._schema())
            if found != inspection:
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
            self._connection.text_factory = str
        kept = rows if max_rows is None else rows[:max_rows]
        return SQLRows(names, kept, has_more=len(kept) < len(rows))

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

    def _schema(self) -> SchemaVersion:
        """The schema as it is now. Where its number is another, a read makes SQLite itself notice and load it anew."""
        (version,) = self._connection.execute("PRAGMA schema_version").fetchone()
        if version != self._version:
            self._connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
            self._version = version
        schema = self._shared.schema
        if schema is None or schema.version != version:
            schema = self._shared.schema = SchemaVersion(version, SQLiteSchema(self._connection))
        return schema

    def _inspect(self, statement: str, live: ConnectionState, schema: SchemaVersion) -> Inspection:
        explains, inner = split_explain(statement)
        self._authorizer.clear()
        try:
            listing = self._explain(inner)
            self._authorizer.is_recording = False
            findings = SQLiteFindings(self._authorizer, schema.catalogue, self._connection, live)
            return findings.conclude(listing, statement=inner, explains=explains)
        except FAILURES as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in UNREACHABLE:
                raise
            doubts = tuple(self._authorizer.refused) or (NOT_PREPARED,)
            return Inspection(writes=tuple(self._authorizer.writes), doubts=doubts)
        finally:
            self._authorizer.is_recording = False

    def _explain(self, statement: str) -> Iterable[Instruction]:
        """The program of a statement. The number keeps the driver from using one that it has prepared before."""
        self._turn += 1
        text = f"EXPLAIN /*{self._turn}*/ {statement}"
        self._authorizer.is_recording = True
        try:
            return self._listing(text)
        except sqlite3.ProgrammingError as error:
            count = COUNT.search(str(error))
            if count is None:
                raise
        try:
            return self._listing(text, Nulls())
        except sqlite3.ProgrammingError:
            if NAMED.search(statement):
                raise
        return self._listing(text, (None,) * int(count[1]))

    def _listing(
        self, text: str, parameters: Mapping[str, None] | tuple[None, ...] = ()
    ) -> Iterable[Instruction]:
        """Not fetched at once: a long one would keep the garbage collector busy, and with it every thread."""
        cursor = self._connection.execute(text, parameters)
        if cursor.description is None or cursor.description[1][0] != "opcode":
            raise ValueError("no program")
        return cursor

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline
