"""A guard before a SQLite file: the engine that inspected a statement also runs it."""

from os import PathLike
from typing import Any

from mcp.server import MCPServer

from askback import Askback
from askback.guards.sql import SQLCatalogue, guard_sql
from askback.guards.sql.sources.sqlite import SQLiteSource
from examples.guarded_sql.server import MOST_ROWS, as_csv


def make_server(
    database: str | PathLike[str], tags: str | PathLike[str] | SQLCatalogue, **options: Any
) -> MCPServer[Any]:
    """`database` is a SQLite file; `tags` says which columns are personal."""
    mcp: MCPServer[Any] = MCPServer("shop")
    Askback(mcp, **options)
    source = SQLiteSource(database)

    # --8<-- [start:run]
    @mcp.tool()
    @guard_sql("statement", dialect="sqlite", catalogue=[source, tags], writes="refuse")
    async def query(statement: str) -> str:
        """Run one SELECT; the answer is CSV."""
        found = await source.engine.run(statement, max_rows=MOST_ROWS)
        return as_csv(found.names, found.rows)

    # --8<-- [end:run]
    return mcp
