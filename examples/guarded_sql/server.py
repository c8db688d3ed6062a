"""A shop's database that an agent may query: what reads personal columns, or costs much, a person decides first."""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from threading import Timer
from typing import Any

import duckdb
from anyio import to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from askback import Askback
from askback.guards.cost import CostLimits
from askback.guards.cost.duckdb import DuckDBEstimator
from askback.guards.sql import SQLCatalogue, guard_sql
from askback.guards.sql.sources import source_of
from askback.guards.sql.sources.duckdb import DuckDBSource

MOST_ROWS, MOST_CHARACTERS, MOST_SECONDS = 1000, 100_000, 10.0
"""Limits of one answer, also of an approved one, because an agent reads all of it."""


# --8<-- [start:server]
def make_server(
    connection: duckdb.DuckDBPyConnection, tags: Path, *, most_rows: int = 100, **options: Any
) -> MCPServer[Any]:
    """`connection` is read-only; `tags` is a TOML file that says which columns are personal."""
    mcp: MCPServer[Any] = MCPServer("shop")
    Askback(mcp, **options)
    catalogue = source_of([DuckDBSource(connection), tags])

    @mcp.tool()
    async def tables() -> str:
        """What there is to query; before personal columns are read, a person is asked."""
        return "\n".join(lines_of(await catalogue.load()))

    @mcp.tool()
    @guard_sql(
        "statement",
        dialect="duckdb",
        catalogue=catalogue,
        cost=DuckDBEstimator(connection),
        limits=CostLimits(rows=10_000_000),
        most_rows=most_rows,
        writes="refuse",
    )
    async def query(statement: str) -> str:
        """Run one SELECT in DuckDB's dialect; the answer is CSV."""
        return await to_thread.run_sync(run, connection, statement)

    return mcp


# --8<-- [end:server]


def lines_of(known: SQLCatalogue) -> Iterator[str]:
    """Each table with its columns, each view with its query."""
    for table, columns in known.tables.items():
        yield table
        for column, kind in columns.items():
            tag = known.tagged.get(f"{table}.{column}")
            yield f"  {column} {kind}" + (f" (personal: {tag})" if tag else "")
    for view, query in known.views.items():
        yield f"{view}, a view: {query}"


# --8<-- [start:run]
def run(connection: duckdb.DuckDBPyConnection, statement: str) -> str:
    """On a cursor of its own, so that nothing of it is left for the next statement."""
    with closing(connection.cursor()) as cursor:
        watch = Timer(MOST_SECONDS, cursor.interrupt)
        watch.start()
        try:
            found = cursor.execute(statement)
            names = [column[0] for column in found.description or ()]
            return as_csv(names, found.fetchmany(MOST_ROWS + 1))
        except duckdb.Error as error:
            raise ToolError(f"The database did not run it: {error}") from None
        finally:
            watch.cancel()


# --8<-- [end:run]


def as_csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """As many rows as one answer may hold, and a last line where there were more."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(names)
    for count, row in enumerate(rows):
        before = written.tell()
        writer.writerow(row)
        if count == MOST_ROWS or written.tell() > MOST_CHARACTERS:
            return f"{written.getvalue()[:before]}# the first {count} rows; there are more"
    return written.getvalue().rstrip("\n")
