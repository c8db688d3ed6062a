"""The findings about one statement: what the authorizer was asked, and what the program does."""

import sqlite3
from collections.abc import Iterable, Sequence

from askback.guards.sql.engines.engine import Inspection, join_columns
from askback.guards.sql.engines.sqlite.bounds import cut_tokens
from askback.guards.sql.engines.sqlite.bytecode import Instruction, Program, read_program
from askback.guards.sql.engines.sqlite.catalogue import INTERNAL, VIRTUAL, Column, SchemaEntry, SQLiteSchema
from askback.guards.sql.engines.sqlite.connection import ConnectionState
from askback.guards.sql.names import quote_name
from askback.guards.sql.system import harmless_functions

FUNCTIONS = harmless_functions("sqlite") | {
    "->",
    "->>",
    "match",
    "bm25",
    "highlight",
    "snippet",
    "matchinfo",
    "offsets",
}
"""Harmless functions. Those of full-text search read their own table, whose columns all count where it is read."""

SCHEMA_TABLES = frozenset({"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"})

CHANGES = {
    sqlite3.SQLITE_INSERT: "insert into",
    sqlite3.SQLITE_UPDATE: "update",
    sqlite3.SQLITE_DELETE: "delete from",
    sqlite3.SQLITE_CREATE_TABLE: "create table",
    sqlite3.SQLITE_CREATE_TEMP_TABLE: "create table",
}
"""Changes that can be prepared and inspected like a query."""

REFUSED = {
    sqlite3.SQLITE_PRAGMA: "pragma",
    sqlite3.SQLITE_ATTACH: "attach",
    sqlite3.SQLITE_DETACH: "detach",
    sqlite3.SQLITE_TRANSACTION: "transaction",
    sqlite3.SQLITE_SAVEPOINT: "savepoint",
    sqlite3.SQLITE_ANALYZE: "analyze",
    sqlite3.SQLITE_REINDEX: "reindex",
    sqlite3.SQLITE_ALTER_TABLE: "alter table",
    sqlite3.SQLITE_CREATE_INDEX: "create index",
    sqlite3.SQLITE_CREATE_TEMP_INDEX: "create index",
    sqlite3.SQLITE_CREATE_TRIGGER: "create trigger",
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER: "create trigger",
    sqlite3.SQLITE_CREATE_VIEW: "create view",
    sqlite3.SQLITE_CREATE_TEMP_VIEW: "create view",
    sqlite3.SQLITE_CREATE_VTABLE: "create virtual table",
    sqlite3.SQLITE_DROP_INDEX: "drop index",
    sqlite3.SQLITE_DROP_TEMP_INDEX: "drop index",
    sqlite3.SQLITE_DROP_TABLE: "drop table",
    sqlite3.SQLITE_DROP_TEMP_TABLE: "drop table",
    sqlite3.SQLITE_DROP_TRIGGER: "drop trigger",
    sqlite3.SQLITE_DROP_TEMP_TRIGGER: "drop trigger",
    sqlite3.SQLITE_DROP_VIEW: "drop view",
    sqlite3.SQLITE_DROP_TEMP_VIEW: "drop view",
    sqlite3.SQLITE_DROP_VTABLE: "drop table",
}
"""Actions that take effect at preparation, or that change what later statements mean. They are named and refused."""

KNOWN = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})

OWN_PRAGMA = (sqlite3.SQLITE_PRAGMA, "data_version", None)
"""Full-text search asks this by itself when it opens its table: whether the file has changed."""

Read = tuple[str | None, str, str]
"""Database, table and column. The column is empty where a table is read for its rows alone."""


class Authorizer:
    """An authorizer callback for one preparation."""

    def __init__(self) -> None:
        self.reads: set[Read] = set()
        self.written: set[tuple[str | None, str]] = set()
        self.writes: dict[str, None] = {}
        self.refused: dict[str, None] = {}
        """Sentences that say what was not inspected, in order."""

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, source: str | None
    ) -> int:
        if action == sqlite3.SQLITE_READ:
            self.reads.add((database, first or "", second or ""))
        elif action == sqlite3.SQLITE_FUNCTION:
            return self._call(second or "")
        elif action in CHANGES:
            self._change(action, first or "", database)
        elif action not in KNOWN and (action, first, second) != OWN_PRAGMA:
            return self._refuse(action, first, second, database)
        return sqlite3.SQLITE_OK

    def _call(self, name: str) -> int:
        if name.lower() in FUNCTIONS:
            return sqlite3.SQLITE_OK
        self.refused[f"it calls {name:.80}, which is not known to be harmless"] = None
        return sqlite3.SQLITE_DENY

    def _change(self, action: int, table: str, database: str | None) -> None:
        """Record a change. SQLite's own tables do not count: it writes to them where it declares a virtual table."""
        if not table.lower().startswith("sqlite_"):
            self.written.add((database, table))
            self.writes[f"{CHANGES[action]} {database}.{table}"[:200]] = None

    def _refuse(self, action: int, first: str | None, second: str | None, database: str | None) -> int:
        kind = REFUSED.get(action, "a statement of an unknown kind")
        if action == sqlite3.SQLITE_ALTER_TABLE:
            database, first = first, second
        name = first if database is None else f"{database}.{first}"
        is_named = first is not None and action not in {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_SAVEPOINT}
        self.writes[f"{kind} {name:.80}" if is_named else kind] = None
        self.refused[f"{kind} is not inspected"] = None
        return sqlite3.SQLITE_DENY


STORES_ITSELF = ("fts3", "fts4", "fts5", "rtree", "rtree_i32", "geopoly")
"""Modules of virtual tables that keep what they return in tables of their own, unless told `content=`."""

SEQUENCE = "sqlite_sequence"
"""Read by every INSERT into a table with AUTOINCREMENT."""


class SQLiteFindings:
    """Asks the catalogue about each name and each b-tree that a statement touches."""

    def __init__(
        self,
        authorizer: Authorizer,
        catalogue: SQLiteSchema,
        connection: sqlite3.Connection,
        state: ConnectionState,
    ) -> None:
        self._authorizer, self._catalogue, self._connection = authorizer, catalogue, connection
        self._state = state
        self._columns: set[Column] = set()
        self._named: set[str] = set()
        self._doubts: dict[str, None] = dict(authorizer.refused)

    def conclude(self, listing: Iterable[Instruction], *, statement: str, explains: bool) -> Inspection:
        program = read_program(listing, self._catalogue, self._connection)
        writes = [*self._authorizer.writes, *(["vacuum"] if program.is_vacuum else [])]
        self._columns |= program.columns
        self._look_at_trees(program, is_write=bool(writes))
        self._look_at_names(program)
        # Functions in generated columns and indexes are not seen by the authorizer.
        for name in program.functions - FUNCTIONS:
            self._doubt(f"it calls {name:.80}, which is not known to be harmless")
        self._look_at_changes(program, writes)
        self._look_at_temporary(program, statement)
        columns, dotted = join_columns(self._columns)
        is_known = not program.is_vacuum and not self._authorizer.refused and program.functions <= FUNCTIONS
        return Inspection(
            columns=columns,
            writes=tuple(writes),
            doubts=(*self._doubts, *dotted),
            is_query=is_known and not writes and not program.changes,
            can_be_planned=is_known and not explains,
        )

    def _doubt(self, sentence: str) -> None:
        self._doubts[sentence] = None

    def _look_at_trees(self, program: Program, *, is_write: bool) -> None:
        if program.is_unknown:
            self._doubt("it reads something that is not in the schema")
        for tree in program.trees:
            name = tree.entry.name
            if name.lower().startswith(INTERNAL) and not (is_write and name == SEQUENCE):
                self._doubt(f"it reads {name:.80}, a table of SQLite's own")
            if tree.is_shadow:
                self._doubt(f"it reads {name:.80}, which stores a virtual table")

    def _look_at_names(self, program: Program) -> None:
        """Look at what only the authorizer knows: views, virtual tables, generated columns, tables that are written."""
        written = {tree.entry for tree in program.written}
        for database, name, column in self._authorizer.reads:
            entry = self._catalogue.find(database, name)
            if entry is None:
                self._look_at_module(database, name, program)
            elif entry.is_virtual:
                self._look_at_virtual(entry, program)
            elif column and (entry.kind == "view" or entry in written or self._is_computed(entry, column)):
                self._columns.add((entry.database, entry.name, column))
        if program.virtual:
            self._doubt("it reads a virtual table that it does not name")

    def _is_computed(self, entry: SchemaEntry, column: str) -> bool:
        columns = self._catalogue.columns(self._connection, entry)
        return columns.has_generated and (column, VIRTUAL) in zip(columns.names, columns.hidden, strict=True)

    def _look_at_module(self, database: str | None, name: str, program: Program) -> None:
        """Look at a name outside the schema: SQLite's own table, a function in the place of a table, or a CTE."""
        if name.lower() in SCHEMA_TABLES or (database is None and not self._opens(quote_name(name), program)):
            return
        if database is not None:
            self._opens(quote_name(name), program)
        if name.lower() not in harmless_functions("sqlite"):
            self._doubt(f"it reads {name:.80}, a virtual table that is not known to be harmless")

    def _look_at_virtual(self, entry: SchemaEntry, program: Program) -> None:
        self._opens(f"{quote_name(entry.database)}.{quote_name(entry.name)}", program)
        self._columns |= self._catalogue.whole(self._connection, entry)
        module = entry.sql.lower().rpartition("using")[2].partition("(")[0].strip()
        if module not in STORES_ITSELF or "content" in entry.sql.lower():
            self._doubt(f"it reads {entry.name:.80}, a virtual table that may read other tables")

    def _opens(self, table: str, program: Program) -> bool:
        """Whether the program opens this virtual table, which is then crossed off those that it opens.

        A program has only the address in memory of a virtual table, so another program that opens it is asked for.
        """
        if not program.virtual:
            return table in self._named
        try:
            listing = self._connection.execute(f"EXPLAIN SELECT 1 FROM {table}").fetchall()
        except sqlite3.Error:
            return False  # no table at all
        found = {str(row[5]) for row in listing if row[1] == "VOpen"}
        if found & program.virtual:
            self._named.add(table)
            program.virtual -= found
        return table in self._named

    def _look_at_changes(self, program: Program, writes: Sequence[str]) -> None:
        if program.is_vacuum:
            self._doubt("vacuum is not inspected")
        if program.changes and not writes:
            self._doubt("it changes something that SQLite does not name")
        for database, name in self._authorizer.written:
            entry = self._catalogue.find(database, name)
            if entry is not None and entry.is_virtual:
                self._look_at_virtual(entry, program)
            elif entry is not None:
                self._columns |= self._catalogue.guarded(self._connection, entry)

    def _look_at_temporary(self, program: Program, statement: str) -> None:
        """Look for temporary objects of the author's connection, which ours does not have.

        The names in the text count too: SQLite is silent about a view of which it uses no column.
        """
        names = {name for _, name, _ in self._authorizer.reads} | {
            name for _, name in self._authorizer.written
        }
        names |= {tree.entry.name for tree in program.trees}
        if self._state.shadows:
            names |= {token.text for token in cut_tokens(statement) if token.is_name}
        for name in sorted({name.lower() for name in names} & self._state.shadows):
            self._doubt(f"{name:.80} is a temporary table of the connection")
        if self._state.has_triggers and self._authorizer.writes:
            self._doubt("the connection has temporary triggers")
