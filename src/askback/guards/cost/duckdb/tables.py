"""How large DuckDB's tables are, and how wide their columns."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

WIDTHS: Mapping[str, float] = {
    **dict.fromkeys(("BOOLEAN", "TINYINT", "UTINYINT"), 1),
    **dict.fromkeys(("SMALLINT", "USMALLINT"), 2),
    **dict.fromkeys(("INTEGER", "UINTEGER", "FLOAT", "DATE", "ENUM"), 4),
    **dict.fromkeys(("BIGINT", "UBIGINT", "DOUBLE", "TIME", "TIMESTAMP", "DECIMAL"), 8),
    **dict.fromkeys(("TIMESTAMP WITH TIME ZONE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), 8),
    **dict.fromkeys(("HUGEINT", "UHUGEINT", "UUID", "INTERVAL"), 16),
}
"""Bytes in memory, uncompressed: what a query handles, which is more than the file has."""

GUESS = 64.0
"""Bytes of a text that cannot be looked at: more than most names, less than most letters."""

SAMPLE = 1000
"""Rows in each of three places."""

PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class TableSize:
    rows: float | None
    widths: Mapping[str, float]


def find_tables(cursor: "duckdb.DuckDBPyConnection", names: Collection[str]) -> dict[str, TableSize]:
    """By their names as a plan writes them; those that are in no catalogue are missing."""
    sizes = cursor.execute(
        "SELECT database_name, schema_name, table_name, estimated_size FROM system.main.duckdb_tables()"
    )
    found: dict[str, TableSize] = {}
    for *place, size in sizes.fetchall():
        # DuckDB 1 leaves out where a table is: then the largest of that name stands for all.
        for name in {".".join(map(quoted, place)), place[-1]}.intersection(names):
            table = TableSize(None if size is None else float(size), _widths(cursor, place, size))
            found[name] = max(found.get(name, table), table, key=_extent)
    return found


def _extent(table: TableSize) -> float:
    return math.inf if table.rows is None else table.rows


def quoted(name: str) -> str:
    """As plans do, where a name is not plain."""
    return name if PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _widths(cursor: "duckdb.DuckDBPyConnection", place: list[str], size: int | None) -> dict[str, float]:
    columns = cursor.execute(
        "SELECT column_name, data_type FROM system.main.duckdb_columns() "
        "WHERE database_name = ? AND schema_name = ? AND table_name = ?",
        place,
    ).fetchall()
    fixed = {name: WIDTHS[kind] for name, given in columns if (kind := given.partition("(")[0]) in WIDTHS}
    loose = [name for name, _ in columns if name not in fixed]
    return fixed | (_sampled(cursor, place, loose, size or 0) if loose else {})


def _sampled(
    cursor: "duckdb.DuckDBPyConnection", place: list[str], columns: list[str], size: int
) -> dict[str, float]:
    """The mean length in the place where it is largest."""
    lengths = ", ".join(f"avg(strlen(CAST({_strictly_quoted(name)} AS VARCHAR)))" for name in columns)
    table = ".".join(map(_strictly_quoted, place))
    found = [
        cursor.execute(
            f"SELECT {lengths} FROM {table} WHERE rowid >= ? AND rowid < ?", [at, at + SAMPLE]
        ).fetchone()
        for at in sorted({0, max(0, size // 2), max(0, size - SAMPLE)})
    ]
    columnwise = zip(*(row for row in found if row is not None), strict=True)
    return {
        name: max((float(length) for length in lengths if length is not None), default=GUESS)
        for name, lengths in zip(columns, columnwise, strict=True)
    }


def _strictly_quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
