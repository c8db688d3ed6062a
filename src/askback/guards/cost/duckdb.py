"""What DuckDB expects a statement to read: it is put behind EXPLAIN on a cursor of its own. Needs `askback[duckdb]`."""

import math
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from os import PathLike

import duckdb

from askback.guards.cost.duckdb_plan import TableSize, read_plan
from askback.guards.cost.estimate import Estimate, PlanEstimator
from askback.guards.sql.engines.duckdb import DuckDBEngine
from askback.guards.sql.engines.duckdb.session import Connection, DuckDBJob
from askback.guards.sql.names import quote_name

EXPLAIN = "EXPLAIN (FORMAT JSON) "

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


class DuckDBEstimator(PlanEstimator):
    """Estimates for a file, which is opened read-only each time, or for a connection, of which it takes a cursor.

    Planning reads statistics, and the beginning, the middle and the end of columns of text for their length. A
    statement that names files or hosts is refused, since the plan of it would already open them.
    """

    driver_errors = (duckdb.Error,)

    def __init__(self, source: "str | PathLike[str] | Connection", *, timeout: float = 5.0) -> None:
        super().__init__(DuckDBEngine(source, timeout=timeout))
        self._source, self._timeout = source, timeout

    async def _plan(self, statement: str) -> Estimate:
        job = DuckDBJob[Estimate](self._source, lambda cursor: _explain(cursor, statement))
        return await job.run(timeout=self._timeout)


def _explain(cursor: Connection, statement: str) -> Estimate:
    cursor.execute("BEGIN TRANSACTION")
    try:
        text: str = cursor.execute(EXPLAIN + statement).fetchall()[-1][1]
        return read_plan(text, lambda names: find_tables(cursor, names))
    finally:
        with suppress(duckdb.Error):  # what went wrong before has ended the transaction already
            cursor.execute("ROLLBACK")


def find_tables(cursor: Connection, names: Collection[str]) -> dict[str, TableSize]:
    """By their names as a plan writes them; those that are in no catalogue are missing."""
    sizes = cursor.execute(
        "SELECT database_name, schema_name, table_name, estimated_size FROM system.main.duckdb_tables()"
    )
    found: dict[str, TableSize] = {}
    for *place, size in sizes.fetchall():
        # DuckDB 1 leaves out where a table is: then the largest of that name stands for all.
        for name in {".".join(map(_as_in_plans, place)), place[-1]}.intersection(names):
            table = TableSize(None if size is None else float(size), _widths(cursor, place, size))
            found[name] = max(
                found.get(name, table), table, key=lambda one: math.inf if one.rows is None else one.rows
            )
    return found


def _as_in_plans(name: str) -> str:
    """A name as plans write it: in quotes where it is not plain."""
    return name if PLAIN.fullmatch(name) else quote_name(name)


def _widths(cursor: Connection, place: list[str], size: int | None) -> dict[str, float]:
    columns = cursor.execute(
        "SELECT column_name, data_type FROM system.main.duckdb_columns() "
        "WHERE database_name = ? AND schema_name = ? AND table_name = ?",
        place,
    ).fetchall()
    fixed = {name: WIDTHS[kind] for name, given in columns if (kind := given.partition("(")[0]) in WIDTHS}
    loose = [name for name, _ in columns if name not in fixed]
    return fixed | (_sampled(cursor, place, loose, size or 0) if loose else {})


def _sampled(cursor: Connection, place: list[str], columns: list[str], size: int) -> dict[str, float]:
    """The mean length in the place where it is largest."""
    lengths = ", ".join(f"avg(strlen(CAST({quote_name(name)} AS VARCHAR)))" for name in columns)
    table = ".".join(map(quote_name, place))
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
