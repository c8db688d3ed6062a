"""What Postgres expects a statement to read: it is put behind EXPLAIN, in a transaction that can write nothing."""

import asyncio
import json
from collections.abc import Collection, Mapping
from typing import Any, cast

import asyncpg

from askback.errors import EstimateFailed
from askback.guards.cost.estimate import A_PERSON, Estimate, PlanEstimator
from askback.guards.cost.postgres_plan import (
    ENGINE,
    PAGE_SIZE,
    RelationName,
    RelationSize,
    find_names,
    has_open_series,
    read_plan,
)
from askback.guards.sql.engines.postgres import PostgresEngine
from askback.guards.sql.engines.postgres.connection import Connection, Database, open_connection

EXPLAIN = "EXPLAIN (FORMAT JSON, VERBOSE) "

SIZES = """
SELECT place.schema, place.name, relation.reltuples, relation.relpages,
       pg_relation_size(relation.oid) AS heap, pg_table_size(relation.oid) AS whole
FROM unnest($1::text[], $2::text[]) AS place (schema, name)
JOIN pg_namespace AS space
  ON CASE WHEN place.schema = 'pg_temp' THEN space.oid = pg_my_temp_schema() ELSE space.nspname = place.schema END
JOIN pg_class AS relation ON relation.relnamespace = space.oid AND relation.relname = place.name
"""

GRACE_SECONDS = 2.0
"""Beyond the server's own time limit, before it is given up."""


class PostgresEstimator(PlanEstimator):
    """Estimates for a database by its URL, connected to each time, for a pool, or for a function that connects.

    Planning runs functions that are declared IMMUTABLE or STABLE. So a statement is planned only if it calls none but
    harmless functions, in a transaction that is read-only and limited in time. Statistics are those of the last
    ANALYZE, scaled to the size that tables have now.
    """

    late_errors = (asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError)
    driver_errors = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)

    def __init__(self, source: Database, *, timeout: float = 5.0) -> None:
        super().__init__(PostgresEngine(source, timeout=timeout))
        self._source, self._timeout = source, timeout

    async def _plan(self, statement: str) -> Estimate:
        milliseconds = max(1, round(self._timeout * 1000))
        async with (
            asyncio.timeout(self._timeout + GRACE_SECONDS),
            open_connection(self._source, self._timeout) as connection,
            connection.transaction(readonly=True),
        ):
            for limit in ("statement_timeout", "lock_timeout"):
                await connection.execute(f"SET LOCAL {limit} = {milliseconds}")
            return await _explain(connection, statement)


async def _explain(connection: Connection, statement: str) -> Estimate:
    # With a prepared statement, as fetchval makes, the server itself refuses more than one.
    text = cast("str", await connection.fetchval(EXPLAIN + statement))
    root = cast("list[dict[str, Any]]", json.loads(text))[0]["Plan"]
    if has_open_series(root):
        problem = "what generate_series makes of bounds from the data is in no plan"
        raise EstimateFailed(engine=ENGINE, problem=problem, advice=A_PERSON)
    sizes = await _find_sizes(connection, find_names(root))
    per_row = float(cast("str", await connection.fetchval("SELECT current_setting('cpu_tuple_cost')")))
    return read_plan(root, sizes, per_row=per_row)


async def _find_sizes(
    connection: Connection, names: Collection[RelationName]
) -> Mapping[RelationName, RelationSize]:
    found = await connection.fetch(SIZES, [name.schema for name in names], [name.name for name in names])
    return {
        RelationName(schema, name): RelationSize(
            pages=heap / PAGE_SIZE,
            bytes=float(whole),
            density=rows / pages if pages > 0 and rows >= 0 else None,
        )
        for schema, name, rows, pages, heap, whole in found
    }
