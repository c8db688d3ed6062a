"""How large SQLite's tables are, found out at both ends of them and never from the whole."""

import sqlite3
from functools import cache
from typing import Any

from askback.guards.sql.names import quote_name

SAMPLE_SIZE = 500
"""Rows at each end."""

MAX_COUNTED = 100_000
"""Rows up to which they are counted, which takes a few milliseconds."""

PLACES, RUN_LENGTH = 16, 64
"""At how many places the density of row numbers is looked at, and at how many rows there."""

CELL_HEADER = 4
"""Bytes that SQLite adds to a row at the least."""


class SQLiteTables:
    """Sizes of the tables in the main database of a connection; names are in small letters."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        stored = self._fetch("SELECT type, lower(name), coalesce(sql, '') FROM main.sqlite_master")
        self.views = {name: sql for kind, name, sql in stored if kind == "view"}
        self.names = {
            name
            for kind, name, sql in stored
            if kind == "table" and not sql.upper().startswith("CREATE VIRTUAL")
        }
        self._has_statistics = any(name == "sqlite_stat1" for _, name, _ in stored)
        self.rows = cache(self._rows)
        self.width = cache(self._width)
        self.per_key = cache(self._per_key)

    def _rows(self, table: str) -> float:
        """Counted, or at most: as many as there is room for between the row numbers, and in the file."""
        name = quote_name(table)
        counted = self._number(f"SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT {MAX_COUNTED})")
        if counted < MAX_COUNTED:
            return counted
        pages, free, size = (
            self._number(f"PRAGMA {fact}") for fact in ("page_count", "freelist_count", "page_size")
        )
        room = (pages - free) * size / self.width(table)
        return min(room, self._rows_by_number(name)) if self._has_rowid(name) else room

    def _rows_by_number(self, name: str) -> float:
        """As if row numbers stood everywhere as close as where they stand closest among those looked at."""
        first, last = (int(self._number(f"SELECT {end}(rowid) FROM {name}")) for end in ("min", "max"))
        run = f"SELECT rowid FROM {name} WHERE rowid >= ? ORDER BY rowid LIMIT {RUN_LENGTH}"
        query = f"SELECT count(*) * 1.0 / (max(rowid) - min(rowid) + 1) FROM ({run})"
        starts = [first + (last - first) * part // PLACES for part in range(PLACES)]
        return (last - first + 1) * max(self._number(query, start) for start in starts)

    def _width(self, table: str) -> float:
        """Bytes of a row, at the end where they are fewer: rows are many rather than few."""
        name = quote_name(table)
        columns = [quote_name(column) for _, column, *_ in self._fetch(f"PRAGMA table_info({name})")]
        length = " + ".join(f"coalesce(length(CAST({column} AS BLOB)), 0) + 1" for column in columns)
        ends = ["", " ORDER BY rowid DESC"] if self._has_rowid(name) else [""]
        means = [
            self._number(f"SELECT avg({length}) FROM (SELECT * FROM {name}{end} LIMIT {SAMPLE_SIZE})")
            for end in ends
        ]
        return min(means) + CELL_HEADER

    def _per_key(self, table: str, index: str, columns: int) -> float:
        """How many rows an index finds for one value of its first columns."""
        whole = self.rows(table)
        for _, name, unique, _, partial in self._fetch(f"PRAGMA index_list({quote_name(table)})"):
            if name.lower() == index.lower():
                keys = [key for _, _, key in self._fetch(f"PRAGMA index_info({quote_name(name)})")]
                if unique and len(keys) <= columns:
                    return 1.0
                if not partial and None not in keys[:columns]:
                    return min(whole, self._repeated(table, name, keys[:columns]))
        return whole

    def _repeated(self, table: str, index: str, keys: list[str]) -> float:
        """By ANALYZE, scaled to the size of now, or by both ends of the index."""
        numbers = self._statistics(table, index)
        if len(numbers) > len(keys) and numbers[0]:
            return numbers[len(keys)] * max(1.0, self.rows(table) / numbers[0])
        return max(self._repeated_at(table, index, keys, order) for order in ("ASC", "DESC"))

    def _repeated_at(self, table: str, index: str, keys: list[str], order: str) -> float:
        columns = ", ".join(map(quote_name, keys))
        ordered = ", ".join(f"{quote_name(key)} {order}" for key in keys)
        source = f"{quote_name(table)} INDEXED BY {quote_name(index)}"
        sample = f"SELECT {columns} FROM {source} ORDER BY {ordered} LIMIT {SAMPLE_SIZE}"
        rows = self._number(f"SELECT count(*) FROM ({sample})")
        different = self._number(f"SELECT count(*) FROM (SELECT DISTINCT * FROM ({sample}))")
        return self.rows(table) if different <= 1 and rows == SAMPLE_SIZE else rows / max(different, 1.0)

    def _statistics(self, table: str, index: str) -> list[float]:
        query = "SELECT stat FROM main.sqlite_stat1 WHERE lower(tbl) = ? AND lower(idx) = lower(?)"
        rows = self._fetch(query, table, index) if self._has_statistics else []
        return [float(part) for (text,) in rows[:1] for part in str(text).split() if part.isdecimal()]

    def _has_rowid(self, name: str) -> bool:
        try:
            self._fetch(f"SELECT rowid FROM {name} LIMIT 0")
        except sqlite3.OperationalError:
            return False
        return True

    def _fetch(self, query: str, *values: object) -> list[Any]:
        return self._connection.execute(query, values).fetchall()

    def _number(self, query: str, *values: object) -> float:
        return float(self._fetch(query, *values)[0][0] or 0)
