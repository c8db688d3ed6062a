"""A statement put behind EXPLAIN in Postgres, in a transaction that can write nothing."""

import asyncio
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, cast

import asyncpg

from askback.errors import EstimateFailed
from askback.guards.cost.estimate import PLAN_ERRORS, Estimate, unknown_plan
from askback.guards.cost.postgres.plan import Node, has_open_series, read_plan, relations_in
from askback.guards.cost.postgres.relations import find_relations
from askback.guards.sql.engines.postgres import PostgresEngine
from askback.guards.sql.engines.postgres.session import open_connection

if TYPE_CHECKING:
    from askback.guards.cost.postgres.relations import Connection
    from askback.guards.sql.engines.postgres.session import Database

ENGINE = "Postgres"

EXPLAIN = "EXPLAIN (FORMAT JSON, VERBOSE) "

GRACE = 2.0
"""Seconds beyond the server's own time limit after which it is given up."""

A_PERSON = "A person has to judge it."


class PostgresEstimator:
    """Of a database by its URL, connected to for each estimate, of a pool, or of a function that connects.

    Planning runs functions that are declared IMMUTABLE or STABLE. So only what calls none but harmless functions is
    planned, in a transaction that is read-only and limited in time. Statistics are those of the last ANALYZE, stretched
    to the size that tables have now.
    """

    def __init__(self, source: "Database", *, timeout: float = 5.0) -> None:
        self._source, self._timeout = source, timeout
        self._engine = PostgresEngine(source, timeout=timeout)

    async def estimate(self, statement: str) -> Estimate:
        """Estimate what a statement costs, once the server has said that planning it is safe."""
        with _told():
            inspection = await self._engine.inspect(statement)
        if not inspection.can_be_planned:
            problem = inspection.doubts[0] if inspection.doubts else "it is no statement with a plan"
            raise _failed(problem, A_PERSON)
        return await self.price(statement)

    async def price(self, statement: str) -> Estimate:
        """Estimate a statement that was inspected and can be planned. Never give it one that was not."""
        with _told():
            async with asyncio.timeout(self._timeout + GRACE), self._reading() as connection:
                return await self._explain(connection, statement)

    async def _explain(self, connection: "Connection", statement: str) -> Estimate:
        await connection.execute(_bounds(self._timeout))
        # With a prepared statement, as fetchval makes, the server itself refuses more than one.
        text = cast("str", await connection.fetchval(EXPLAIN + statement))
        root: Node = cast("list[dict[str, Any]]", json.loads(text))[0]["Plan"]
        if has_open_series(root):
            raise _failed("what generate_series makes of bounds from the data is in no plan", A_PERSON)
        relations = await find_relations(connection, relations_in(root))
        per_row = float(cast("str", await connection.fetchval("SELECT current_setting('cpu_tuple_cost')")))
        plan = read_plan(root, relations, per_row=per_row)
        return Estimate(engine=ENGINE, rows=plan.rows, widest=plan.widest, bytes=plan.bytes, cost=plan.cost)

    @asynccontextmanager
    async def _reading(self) -> "AsyncGenerator[Connection]":
        async with (
            open_connection(self._source, self._timeout) as connection,
            connection.transaction(readonly=True),
        ):
            yield connection


@contextmanager
def _told() -> Generator[None]:
    """Whatever the driver raises, as a failed estimate."""
    try:
        yield
    except (asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError, TimeoutError) as error:
        raise _failed("it took too long to plan", "Simplify the statement, or try again.") from error
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        raise _failed(f"{error!s:.300}", "Mend the statement, or the connection.") from error
    except PLAN_ERRORS as error:
        raise unknown_plan(ENGINE, error) from error


def _bounds(timeout: float) -> str:
    most = max(1, round(timeout * 1000))
    return f"SET LOCAL statement_timeout = {most}; SET LOCAL lock_timeout = {most}"


def _failed(problem: str, advice: str) -> EstimateFailed:
    return EstimateFailed(engine=ENGINE, problem=problem, advice=advice)
