"""A statement put behind EXPLAIN in Postgres, in a transaction that can write nothing."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import asyncpg

from askback.errors import EstimateFailed
from askback.guards.cost.estimate import MISREAD, Estimate, misread
from askback.guards.cost.postgres.hidden import find_hidden
from askback.guards.cost.postgres.plan import Node, read_plan, relations_in
from askback.guards.cost.postgres.relations import find_relations
from askback.guards.cost.statement import read_one

if TYPE_CHECKING:
    from askback.guards.cost.postgres.relations import Connection

    Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]

ENGINE = "Postgres"

EXPLAIN = "EXPLAIN (FORMAT JSON, VERBOSE) "

GRACE = 2.0
"""Seconds beyond the server's own time limit after which it is given up."""


class PostgresEstimator:
    """Of a database by its URL, connected to for each estimate, or of a pool.

    Planning runs functions that are declared IMMUTABLE or STABLE, so the transaction is read-only and its time limited.
    Statistics are those of the last ANALYZE, stretched to the size that tables have now.
    """

    def __init__(self, source: "str | Pool", *, timeout: float = 5.0) -> None:
        self._source, self._timeout = source, timeout

    async def estimate(self, statement: str) -> Estimate:
        read_one(statement, engine=ENGINE, dialect="postgres")
        try:
            async with asyncio.timeout(self._timeout + GRACE), self._reading() as connection:
                return await self._explain(connection, statement)
        except (asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError, TimeoutError) as error:
            raise _failed("it took too long to plan", "Simplify the statement, or try again.") from error
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise _failed(f"{error!s:.300}", "Mend the statement, or the connection.") from error
        except MISREAD as error:
            raise misread(ENGINE, error) from error

    async def _explain(self, connection: "Connection", statement: str) -> Estimate:
        await connection.execute(_bounds(self._timeout))
        # With a prepared statement, as fetchval makes, the server itself refuses more than one.
        text = cast("str", await connection.fetchval(EXPLAIN + statement))
        root: Node = cast("list[dict[str, Any]]", json.loads(text))[0]["Plan"]
        if hidden := await find_hidden(connection, root):
            raise _failed(f"what {hidden} does is in no plan", "A person has to judge it.")
        relations = await find_relations(connection, relations_in(root))
        per_row = float(cast("str", await connection.fetchval("SELECT current_setting('cpu_tuple_cost')")))
        plan = read_plan(root, relations, per_row=per_row)
        return Estimate(engine=ENGINE, rows=plan.rows, widest=plan.widest, bytes=plan.bytes, cost=plan.cost)

    @asynccontextmanager
    async def _reading(self) -> "AsyncGenerator[Connection]":
        if not isinstance(self._source, str):
            async with self._source.acquire() as lent, lent.transaction(readonly=True):
                yield lent
            return
        connection: Connection = await asyncpg.connect(self._source, timeout=self._timeout)
        try:
            async with connection.transaction(readonly=True):
                yield connection
        finally:
            connection.terminate()  # at once, also where the server does not answer any more


def _bounds(timeout: float) -> str:
    most = max(1, round(timeout * 1000))
    return f"SET LOCAL statement_timeout = {most}; SET LOCAL lock_timeout = {most}"


def _failed(problem: str, advice: str) -> EstimateFailed:
    return EstimateFailed(engine=ENGINE, problem=problem, advice=advice)
