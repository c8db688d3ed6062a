"""What DuckDB expects a statement to read: it is put behind EXPLAIN on a cursor of its own. Needs `askback[duckdb]`."""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from typing import Any, cast

import duckdb

from askback.errors import EstimateFailed
from askback.guards.cost.estimate import A_PERSON, Estimate, PlanEstimator, add_known
from askback.guards.sql.engines.duckdb import DuckDBEngine
from askback.guards.sql.engines.duckdb.session import Connection, DuckDBJob
from askback.guards.sql.names import quote_name

ENGINE = "DuckDB"

PAIRS = frozenset(
    {"CROSS_PRODUCT", "NESTED_LOOP_JOIN", "BLOCKWISE_NL_JOIN", "PIECEWISE_MERGE_JOIN", "IE_JOIN"}
)
"""They compare each with each, or may; DuckDB's own number for them is missing or far too low."""

PROJECTION = "PROJECTION"
"""As many rows out as in, whatever is noted."""

LIMITS = frozenset({"LIMIT", "STREAMING_LIMIT"})

GROUP_SIZE = 122_880
"""Rows that DuckDB takes at a time; a limit stops it no sooner."""

ENDLESS = frozenset({"REC_CTE", "RECURSIVE_CTE", "RECURSIVE_KEY_CTE", "INOUT_FUNCTION"})
"""How often, or how much, depends on the data alone."""

GENERATED = {"RANGE": 8.0, "GENERATE_SERIES": 8.0}
"""Bytes of a row that these functions make."""


@dataclass(frozen=True, slots=True)
class TableSize:
    """How large a table is; `widths` are bytes of a value, by column."""

    rows: float | None
    widths: Mapping[str, float]


Scan = tuple[float | None, float | None]
"""Rows and bytes that are read."""


class PlanNode:
    """An operator of a plan."""

    def __init__(self, node: Mapping[str, Any]) -> None:
        self.kind: str = node["name"].strip()  # DuckDB 1 fills up
        self.notes: Mapping[str, Any] = node.get("extra_info") or {}
        self.children = [PlanNode(child) for child in node["children"]]
        noted = self.notes.get("Estimated Cardinality")
        self.rows = None if noted is None else float(noted)
        """Rows that it hands on, as DuckDB guesses."""
        self.width = self._width()
        """Rows that it makes, or compares."""

    def _width(self) -> float:
        widths = [child.width for child in self.children]
        if self.kind in PAIRS and widths:
            return math.prod(widths)
        if self.kind == PROJECTION and widths:
            return widths[0]
        return max(widths, default=1.0) if self.rows is None else self.rows

    def walk(self) -> "Iterator[PlanNode]":
        """This operator and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def read_plan(text: str, tables_of: Callable[[Collection[str]], Mapping[str, TableSize]]) -> Estimate:
    """The estimate for a plan; the tables are looked up by the names that it has."""
    roots = list(map(PlanNode, cast("list[dict[str, Any]]", json.loads(text))))
    nodes = [node for root in roots for node in root.walk()]
    tables = tables_of({name for node in nodes if (name := node.notes.get("Table"))})
    scans = [scan for root in roots for scan in _scans(root, tables)]
    widest = max((node.width for node in nodes if node.children), default=0.0)
    return Estimate(
        engine=ENGINE,
        rows=add_known(rows for rows, _ in scans),
        bytes=add_known(size for _, size in scans),
        widest=widest if ENDLESS.isdisjoint(node.kind for node in nodes) else None,
    )


def _scans(node: PlanNode, tables: Mapping[str, TableSize], most: float = math.inf) -> Iterator[Scan]:
    """What is read below; `most` are the rows that a limit above lets through."""
    if "Table" in node.notes:
        yield _scan_table(node, tables, most)
    elif "Function" in node.notes:
        # A function says how much it gives behind its filter, so with a filter nothing is known of what it reads.
        rows, width = None if "Filters" in node.notes else node.rows, GENERATED.get(node.kind)
        yield rows, None if rows is None or width is None else rows * width
    if node.kind in LIMITS:
        most = _limit(node)
    elif node.kind != PROJECTION:
        most = math.inf
    for child in node.children:
        yield from _scans(child, tables, most)


def _limit(node: PlanNode) -> float:
    numbers = [str(node.notes.get("Limit", "")), str(node.notes.get("Offset", "0"))]
    return max(sum(map(float, numbers)), GROUP_SIZE) if all(map(str.isdecimal, numbers)) else math.inf


def _scan_table(node: PlanNode, tables: Mapping[str, TableSize], most: float) -> Scan:
    name: str = node.notes["Table"]
    if name not in tables:
        raise EstimateFailed(engine=ENGINE, problem=f"no catalogue has {name}", advice=A_PERSON)
    rows = node.rows if "Index" in node.notes.get("Type", "") else tables[name].rows
    if rows is None:
        return None, None
    if "Filters" not in node.notes:
        rows = min(rows, most)
    widths = tables[name].widths
    return rows, rows * sum(width for column, width in widths.items() if _is_read(column, node.notes))


def _is_read(column: str, notes: Mapping[str, Any]) -> bool:
    """Whether a column is handed on, has something inside that is, or is looked at by a filter."""
    projected: str | list[str] = notes.get("Projections", "")
    names = [projected] if isinstance(projected, str) else projected
    filters = json.dumps(notes.get("Filters", ""), ensure_ascii=False)
    is_handed_on = any(name == column or name.startswith((f"{column}.", f'"{column}"')) for name in names)
    return is_handed_on or re.search(rf"(?<!\w){re.escape(column)}(?!\w)", filters) is not None


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
        # Plans write a name in quotes where it is not plain.
        written = ".".join(part if PLAIN.fullmatch(part) else quote_name(part) for part in place)
        for name in {written, place[-1]}.intersection(names):
            table = TableSize(None if size is None else float(size), _widths(cursor, place, size))
            found[name] = max(
                found.get(name, table), table, key=lambda one: math.inf if one.rows is None else one.rows
            )
    return found


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
