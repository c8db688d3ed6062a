"""The b-trees of a SQLite database: which table or index begins on which page, and which columns it stores where."""

import sqlite3
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.names import quote_name
from askback.guards.sql.text import TextCache

VIRTUAL, STORED = 2, 3
"""`hidden` in `table_xinfo` for generated columns."""

ROWID, EXPRESSION = -1, -2
"""`cid` in `index_xinfo` for what is no column."""

INTERNAL = "sqlite_"

Column = tuple[str, ...]
"""Database, table and column."""


@dataclass(frozen=True, slots=True)
class SchemaEntry:
    """A row of `sqlite_schema`."""

    database: str
    kind: str
    name: str
    table: str
    root: int
    sql: str

    @property
    def is_virtual(self) -> bool:
        return self.kind == "table" and not self.root


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """One b-tree. Columns have their full names; a generated field depends on every column of its table."""

    entry: SchemaEntry
    """The entry of the table, also where the tree is an index."""
    fields: tuple[frozenset[Column], ...]
    """The columns on which each stored field depends."""
    order: tuple[frozenset[Column], ...]
    """The columns on which its order depends, in order. Order is a value too: a walk through an index on `born` tells
    who was born earlier."""
    is_exact: bool
    """Whether values that compare as equal are equal. Where they need not be, all of `order` decides between them."""
    is_partial: bool
    """Whether values decide which rows are in it."""
    has_rowids: bool
    whole: frozenset[Column]
    """Every column of the table."""
    is_shadow: bool
    """Whether it stores a virtual table."""

    def read(self, use: "Use") -> frozenset[Column]:
        """The columns on which a use of this tree depends.

        A walk gives what the fields that are read and the fields before them in the order decide: rows that agree in
        these come out alike, whichever is first.
        """
        if use.is_whole or self.is_partial or any(place >= len(self.fields) for place in use.places):
            return self.whole
        depth = max([use.depth, *map(self._depth_of, use.places)])
        decisive = self.order[:depth] if self.is_exact or depth == 0 else self.order
        return frozenset[Column]().union(*decisive, *(self.fields[place] for place in use.places))

    def _depth_of(self, place: int) -> int:
        return len(self.order) if self.has_rowids else place + 1


@dataclass(slots=True)
class Use:
    """How a program uses a cursor."""

    places: set[int] = field(default_factory=set[int])
    """Fields that are read."""
    depth: int = 0
    """How many fields of the order are compared with something."""
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class SQLiteColumns:
    """The columns of a table, as `table_xinfo` lists them."""

    names: tuple[str, ...]
    hidden: tuple[int, ...]
    keys: tuple[int, ...]
    kinds: tuple[str, ...]

    @property
    def has_generated(self) -> bool:
        return VIRTUAL in self.hidden or STORED in self.hidden


SchemaContent = tuple[
    dict[int, str], list[tuple[int, str, str, str, int | None, str | None]], list[tuple[Any, ...]]
]
"""Everything that decides how SQLite reads a statement: equal contents, equal programs. The names of databases by their
numbers in programs; rows of `sqlite_master` behind the number of their database; and the rows that ANALYZE has left in
the file, by which SQLite plans."""


def load_schema(connection: sqlite3.Connection, known: "SQLiteSchema | None") -> "SQLiteSchema":
    """The schema as it is in the connection's transaction: the known one if nothing has changed."""
    databases = {row[0]: str(row[1]) for row in connection.execute("PRAGMA database_list").fetchall()}
    entries: list[Any] = []
    for number, database in databases.items():
        query = (
            f"SELECT {number}, type, name, tbl_name, rootpage, sql FROM {quote_name(database)}.sqlite_master"
        )
        entries += connection.execute(query).fetchall()
    names = {entry[2] for entry in entries} & {"sqlite_stat1", "sqlite_stat4"}
    statistics = [row for name in sorted(names) for row in connection.execute(f"SELECT * FROM main.{name}")]
    content: SchemaContent = (databases, entries, statistics)
    return known if known is not None and known.content == content else SQLiteSchema(content)


class SQLiteSchema:
    """The tables and indexes of a database. Each is looked at when it is first needed, and then kept."""

    def __init__(self, content: SchemaContent) -> None:
        self.content = content
        self._databases, entries, _ = content
        self.token: Hashable = object()
        self.inspections: TextCache[Inspection] = TextCache()
        self.roots: dict[tuple[int, int], SchemaEntry] = {}
        self._names: dict[tuple[str, str], SchemaEntry] = {}
        self._trees: dict[SchemaEntry, Tree] = {}
        self._columns: dict[SchemaEntry, SQLiteColumns] = {}
        for number, kind, name, table, root, sql in entries:
            entry = SchemaEntry(self._databases[number], kind, name, table, root or 0, sql or "")
            if kind in {"table", "view"}:
                self._names[entry.database, name.lower()] = entry
            if root and (kind == "table" or (number, root) not in self.roots):
                self.roots[number, root] = entry

    def find(self, database: str | None, name: str) -> SchemaEntry | None:
        """A table or view by its name; without a database, the first that SQLite would find."""
        places = [database] if database is not None else self._search_order()
        found = (self._names.get((place, name.lower())) for place in places)
        return next((entry for entry in found if entry), None)

    def _search_order(self) -> Sequence[str]:
        return sorted(self._databases.values(), key=lambda name: (name != "temp", name != "main"))

    def tree(self, connection: sqlite3.Connection, entry: SchemaEntry) -> Tree:
        if entry not in self._trees:
            load = self._load_table if entry.kind == "table" else self._load_index
            self._trees[entry] = load(connection, entry)
        return self._trees[entry]

    def columns(self, connection: sqlite3.Connection, entry: SchemaEntry) -> SQLiteColumns:
        if entry not in self._columns:
            rows = _pragma(connection, entry.database, "table_xinfo", entry.name)
            self._columns[entry] = SQLiteColumns(
                names=tuple(row[1] for row in rows),
                hidden=tuple(row[6] for row in rows),
                keys=tuple(row[5] for row in rows),
                kinds=tuple(row[2] for row in rows),
            )
        return self._columns[entry]

    def whole(self, connection: sqlite3.Connection, entry: SchemaEntry) -> frozenset[Column]:
        return frozenset(_full(entry, name) for name in self.columns(connection, entry).names)

    def _load_table(self, connection: sqlite3.Connection, entry: SchemaEntry) -> Tree:
        columns, whole = self.columns(connection, entry), self.whole(connection, entry)
        rows = _pragma(connection, entry.database, "index_xinfo", entry.name)  # empty where it has rowids
        stored = [place for place, hidden in enumerate(columns.hidden) if hidden != VIRTUAL]
        places = [row[1] for row in rows] or stored
        fields = tuple(_depends_on(entry, columns, place, whole) for place in places)
        listed = _pragma(connection, entry.database, "table_list", entry.name)
        return Tree(
            entry=entry,
            fields=fields,
            order=fields[: sum(row[5] for row in rows)] if rows else (_rowid(entry, columns),),
            is_exact=all(_is_exact(columns, row) for row in rows if row[5]),
            is_partial=False,
            has_rowids=not rows,
            whole=whole,
            is_shadow=any(row[2] == "shadow" for row in listed),
        )

    def _load_index(self, connection: sqlite3.Connection, entry: SchemaEntry) -> Tree:
        table = self.find(entry.database, entry.table)
        if table is None:
            raise LookupError(entry.name)
        columns, stored = self.columns(connection, table), self.tree(connection, table)
        listed = _pragma(connection, entry.database, "index_list", table.name)
        rows = _pragma(connection, entry.database, "index_xinfo", entry.name)
        fields = tuple(_depends_on(table, columns, row[1], stored.whole) for row in rows)
        return replace(
            stored,
            fields=fields,
            order=fields,
            is_exact=all(_is_exact(columns, row) for row in rows),
            is_partial=not rows or any(row[4] for row in listed if row[1] == entry.name),
            has_rowids=False,
        )

    def guarded(self, connection: sqlite3.Connection, entry: SchemaEntry) -> frozenset[Column]:
        """The columns of a table on which it can depend whether a change of it fails: keys, unique indexes, checks."""
        columns, whole = self.columns(connection, entry), self.whole(connection, entry)
        if entry.kind == "view" or entry.is_virtual:
            return frozenset()
        if columns.has_generated or "check" in entry.sql.lower():
            return whole
        keys = {_full(entry, name) for name, key in zip(columns.names, columns.keys, strict=True) if key}
        for _, name, unique, _, partial in _pragma(connection, entry.database, "index_list", entry.name):
            fields = [row[1] for row in _pragma(connection, entry.database, "index_xinfo", name)]
            if partial or EXPRESSION in fields:
                return whole
            keys |= {_full(entry, columns.names[int(place)]) for place in fields if unique and place >= 0}
        return frozenset(keys)


def _depends_on(
    entry: SchemaEntry, columns: SQLiteColumns, place: int, whole: frozenset[Column]
) -> frozenset[Column]:
    """The columns on which one field of a record depends: for a generated one, all of its table."""
    if place == ROWID:
        return _rowid(entry, columns)
    if place < 0 or columns.hidden[place] in {VIRTUAL, STORED}:
        return whole
    return frozenset({_full(entry, columns.names[place])})


def _is_exact(columns: SQLiteColumns, row: tuple[Any, ...]) -> bool:
    """Whether equal values of a field of an index are the same: not `a` and `A`, not 1 and 1.0, not 0.0 and -0.0."""
    place, collation = int(row[1]), str(row[4])
    if place == ROWID:
        return True
    return collation == "BINARY" and place >= 0 and _has_exact_affinity(columns.kinds[place].upper())


def _has_exact_affinity(kind: str) -> bool:
    """By the rules of https://sqlite.org/datatype3.html: whether a column stores equal values in one form."""
    if any(part in kind for part in ("INT", "CHAR", "CLOB", "TEXT")):
        return True
    return kind not in {"", "ANY"} and not any(part in kind for part in ("BLOB", "REAL", "FLOA", "DOUB"))


def _rowid(entry: SchemaEntry, columns: SQLiteColumns) -> frozenset[Column]:
    """The column that is another name for the rowid, if there is one."""
    keys = [place for place, key in enumerate(columns.keys) if key]
    if len(keys) == 1 and columns.kinds[keys[0]].upper() == "INTEGER":
        return frozenset({_full(entry, columns.names[keys[0]])})
    return frozenset()


def _full(entry: SchemaEntry, column: str) -> Column:
    return entry.database, entry.name, column


def _pragma(connection: sqlite3.Connection, database: str, name: str, about: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"PRAGMA {quote_name(database)}.{name}({quote_name(about)})").fetchall()
