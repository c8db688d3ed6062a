"""How large SQLite's tables are, by looking at both ends of them and never at the whole."""

import sqlite3
from functools import cache

SAMPLE = 500
"""Rows at each end."""

COUNTED = 100_000
"""Rows up to which they are counted, which takes a few milliseconds."""

PLACES, RUN = 16, 64
"""At how many places it is looked how close row numbers stand, and at how many rows there."""

CELL = 4
"""Bytes that SQLite adds to a row at the least."""


class SQLiteTables:
    """Of the main database of a connection; names are in small letters."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        kinds = connection.execute("SELECT type, lower(name), sql FROM main.sqlite_master").fetchall()
        self.views = {name: str(sql) for kind, name, sql in kinds if kind == "view"}
        self.names = {name for kind, name, sql in kinds if kind == "table" and not _is_virtual(sql)}
        self.virtual = {name for kind, name, sql in kinds if kind == "table" and _is_virtual(sql)}
        self.rows = cache(self._rows)
        self.width = cache(self._width)
        self.per_key = cache(self._per_key)

    @property
    def size(self) -> float:
        """Bytes in use of the file."""
        pages, free, size = (
            self._one(f"PRAGMA {name}") for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    def _rows(self, table: str) -> float:
        """Beyond what is counted, at most: as many as there is room for between the row numbers, and in the file."""
        counted = self._one(f"SELECT count(*) FROM (SELECT 1 FROM {_quoted(table)} LIMIT {COUNTED})")
        if counted < COUNTED:
            return counted
        room = self.size / self.width(table)
        if not self._has_rowid(table):
            return room
        return min(room, self._by_numbers(_quoted(table)))

    def _by_numbers(self, table: str) -> float:
        """As if row numbers stood everywhere as close as where they stand closest among those looked at."""
        first, last = (int(self._one(f"SELECT {end}(rowid) FROM {table}")) for end in ("min", "max"))
        runs = [
            self._connection.execute(
                "SELECT count(*), max(rowid) - min(rowid) + 1 FROM "
                f"(SELECT rowid FROM {table} WHERE rowid >= ? ORDER BY rowid LIMIT {RUN})",
                (first + (last - first) * part // PLACES,),
            ).fetchone()
            for part in range(PLACES)
        ]
        return (last - first + 1) * max(rows / span for rows, span in runs)

    def _width(self, table: str) -> float:
        """Bytes of a row, at the end where they are fewer: rows are many rather than few."""
        columns = [name for _, name, *_ in self._connection.execute(f"PRAGMA table_info({_quoted(table)})")]
        length = " + ".join(f"coalesce(length(CAST({_quoted(name)} AS BLOB)), 0) + 1" for name in columns)
        ends = ["", " ORDER BY rowid DESC"] if self._has_rowid(table) else [""]
        found = [
            self._one(f"SELECT avg({length}) FROM (SELECT * FROM {_quoted(table)}{end} LIMIT {SAMPLE})")
            for end in ends
        ]
        return min(found) + CELL

    def _per_key(self, table: str, index: str, columns: int) -> float:
        """How many rows an index finds for one value of its first columns."""
        whole = self.rows(table)
        for _, name, unique, _, partial in self._connection.execute(f"PRAGMA index_list({_quoted(table)})"):
            if name.lower() == index.lower():
                keys = [
                    each for _, _, each in self._connection.execute(f"PRAGMA index_info({_quoted(name)})")
                ]
                if unique and len(keys) <= columns:
                    return 1.0
                return (
                    whole
                    if partial or None in keys[:columns]
                    else self._repeated(table, name, keys[:columns])
                )
        return whole

    def _repeated(self, table: str, index: str, keys: list[str]) -> float:
        """By ANALYZE, stretched to the size of now, or by both ends of the index."""
        whole = self.rows(table)
        told = self._analyzed(table, index)
        if len(told) > len(keys) and told[0]:
            return min(whole, told[len(keys)] * max(1.0, whole / told[0]))
        found = [self._run(table, index, keys, order) for order in ("ASC", "DESC")]
        return min(whole, max(found))

    def _run(self, table: str, index: str, keys: list[str], order: str) -> float:
        named = ", ".join(map(_quoted, keys))
        ordered = ", ".join(f"{_quoted(key)} {order}" for key in keys)
        inner = f"SELECT {named} FROM {_quoted(table)} INDEXED BY {_quoted(index)} ORDER BY {ordered} LIMIT {SAMPLE}"
        rows = self._one(f"SELECT count(*) FROM ({inner})")
        different = self._one(f"SELECT count(*) FROM (SELECT DISTINCT * FROM ({inner}))")
        return self.rows(table) if different <= 1 and rows == SAMPLE else rows / max(different, 1.0)

    def _analyzed(self, table: str, index: str) -> list[float]:
        if not self._one("SELECT count(*) FROM main.sqlite_master WHERE name = 'sqlite_stat1'"):
            return []
        found = self._connection.execute(
            "SELECT stat FROM main.sqlite_stat1 WHERE lower(tbl) = ? AND lower(idx) = lower(?)",
            (table, index),
        ).fetchone()
        return [] if found is None else [float(part) for part in str(found[0]).split() if part.isdecimal()]

    def _has_rowid(self, table: str) -> bool:
        try:
            self._connection.execute(f"SELECT rowid FROM {_quoted(table)} LIMIT 0")
        except sqlite3.OperationalError:
            return False
        return True

    def _one(self, query: str) -> float:
        return float(self._connection.execute(query).fetchone()[0] or 0)


def _is_virtual(sql: str | None) -> bool:
    return (sql or "").upper().startswith("CREATE VIRTUAL")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
