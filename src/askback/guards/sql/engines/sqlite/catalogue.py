"""The b-trees of a SQLite database: which table or index begins on which page, and which columns it stores where."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

VIRTUAL, STORED = 2, 3
"""`hidden` in `table_xinfo` for generated columns."""

ROWID, EXPRESSION = -1, -2
"""`cid` in `index_xinfo` for what is no column."""

INTERNAL = "sqlite_"


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
    """One b-tree. Columns have their full names; a field tells its column, a generated one all of its table."""

    entry: SchemaEntry
    """Of the table, also where the tree is an index."""
    fields: tuple[frozenset[str], ...]
    """What each stored field tells."""
    order: tuple[frozenset[str], ...]
    """What its order depends on, first things first. Order is a value too: a walk through an index on `born` tells
    whose is earlier."""
    is_exact: bool
    """Whether values that compare as equal are equal. If they need not be, all of `order` decides between them."""
    is_partial: bool
    """Whether it depends on values which rows are in it."""
    has_rowids: bool
    whole: frozenset[str]
    """Every column of the table."""
    is_shadow: bool
    """Whether it is the storage of a virtual table."""

    def read(self, use: "Use") -> frozenset[str]:
        """What the use of a cursor on this tree tells.

        What comes out of a walk depends on the fields that are read and on the fields before them in the order: rows
        that agree in these come out alike, whichever is first.
        """
        if use.is_whole or self.is_partial or any(place >= len(self.fields) for place in use.places):
            return self.whole
        depth = max([use.depth, *map(self._depth_of, use.places)])
        decisive = self.order[:depth] if self.is_exact or depth == 0 else self.order
        return frozenset[str]().union(*decisive, *(self.fields[place] for place in use.places))

    def _depth_of(self, place: int) -> int:
        return len(self.order) if self.has_rowids else place + 1


@dataclass(slots=True)
class Use:
    """How a program uses a cursor."""

    places: set[int] = field(default_factory=set[int])
    """The fields that it reads."""
    depth: int = 0
    """How much of the order it compares with something."""
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


class SQLiteSchema:
    """What a schema of one version holds. Tables are looked at when they are first needed, and then kept."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.databases = {
            row[0]: str(row[1]) for row in connection.execute("PRAGMA database_list").fetchall()
        }
        self._roots: dict[tuple[int, int], SchemaEntry] = {}
        self._names: dict[tuple[str, str], SchemaEntry] = {}
        for number, database in self.databases.items():
            self._load(connection, number, database)
        self._trees: dict[SchemaEntry, Tree] = {}
        self._columns: dict[SchemaEntry, SQLiteColumns] = {}
        self._guarded: dict[SchemaEntry, frozenset[str]] = {}

    def _load(self, connection: sqlite3.Connection, number: int, database: str) -> None:
        query = f"SELECT type, name, tbl_name, rootpage, sql FROM {quote(database)}.sqlite_master"
        for kind, name, table, root, sql in connection.execute(query).fetchall():
            entry = SchemaEntry(database, kind, name, table, root or 0, sql or "")
            if kind in {"table", "view"}:
                self._names[database, name.lower()] = entry
            if root and (kind == "table" or (number, root) not in self._roots):
                self._roots[number, root] = entry

    def entry_at(self, database: int, root: int) -> SchemaEntry | None:
        return self._roots.get((database, root))

    def find(self, database: str | None, name: str) -> SchemaEntry | None:
        """A table or view by its name; without a database, the first that SQLite would find."""
        places = [database] if database is not None else self._search_order()
        found = (self._names.get((place, name.lower())) for place in places)
        return next((entry for entry in found if entry), None)

    def _search_order(self) -> Sequence[str]:
        return sorted(self.databases.values(), key=lambda name: (name != "temp", name != "main"))

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

    def whole(self, connection: sqlite3.Connection, entry: SchemaEntry) -> frozenset[str]:
        return frozenset(_full(entry, name) for name in self.columns(connection, entry).names)

    def _load_table(self, connection: sqlite3.Connection, entry: SchemaEntry) -> Tree:
        columns, whole = self.columns(connection, entry), self.whole(connection, entry)
        rows = _pragma(connection, entry.database, "index_xinfo", entry.name)  # none where it has rowids
        stored = [place for place, hidden in enumerate(columns.hidden) if hidden != VIRTUAL]
        places = [row[1] for row in rows] or stored
        fields = tuple(_told(entry, columns, place, whole) for place in places)
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
        fields = tuple(_told(table, columns, row[1], stored.whole) for row in rows)
        return replace(
            stored,
            fields=fields,
            order=fields,
            is_exact=all(_is_exact(columns, row) for row in rows),
            is_partial=not rows or any(row[4] for row in listed if row[1] == entry.name),
            has_rowids=False,
        )

    def guarded(self, connection: sqlite3.Connection, entry: SchemaEntry) -> frozenset[str]:
        """The columns of a table on which it can depend whether a change of it fails: keys, unique indexes, checks."""
        if entry not in self._guarded:
            self._guarded[entry] = self._find_guarded(connection, entry)
        return self._guarded[entry]

    def _find_guarded(self, connection: sqlite3.Connection, entry: SchemaEntry) -> frozenset[str]:
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


def _told(entry: SchemaEntry, columns: SQLiteColumns, place: int, whole: frozenset[str]) -> frozenset[str]:
    """What one field of a record tells: a generated one tells something of any column of its table."""
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


def _rowid(entry: SchemaEntry, columns: SQLiteColumns) -> frozenset[str]:
    """The column that is another name of the rowid, if there is one."""
    keys = [place for place, key in enumerate(columns.keys) if key]
    if len(keys) == 1 and columns.kinds[keys[0]].upper() == "INTEGER":
        return frozenset({_full(entry, columns.names[keys[0]])})
    return frozenset()


def _full(entry: SchemaEntry, column: str) -> str:
    return f"{entry.database}.{entry.name}.{column}"


def _pragma(connection: sqlite3.Connection, database: str, name: str, about: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"PRAGMA {quote(database)}.{name}({quote(about)})").fetchall()


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
