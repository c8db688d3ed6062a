"""A statement put behind EXPLAIN in an embedded DuckDB, on a cursor of its own."""

from contextlib import suppress
from os import PathLike

import duckdb

from askback.errors import EstimateFailed
from askback.guards.cost.duckdb.plan import DuckDBPlan, read_plan
from askback.guards.cost.duckdb.tables import find_tables
from askback.guards.cost.estimate import PLAN_ERRORS, Estimate, unknown_plan
from askback.guards.sql.engines.duckdb import DuckDBEngine
from askback.guards.sql.engines.duckdb.connection import Connection, DuckDBJob, open_cursor

ENGINE = "DuckDB"

EXPLAIN = "EXPLAIN (FORMAT JSON) "


class DuckDBEstimator:
    """Of a file, which is opened read-only for each estimate, or of a connection, of which it takes a cursor.

    Planning reads statistics, and the beginning, the middle and the end of columns of text for their length. What names
    files or hosts is refused, since already the plan of it would open them.
    """

    def __init__(self, source: "str | PathLike[str] | Connection", *, timeout: float = 5.0) -> None:
        self._source, self._timeout = source, timeout
        self._engine = DuckDBEngine(source, timeout=timeout)

    async def estimate(self, statement: str) -> Estimate:
        """Raises EstimateFailed for statements that are not safe to plan."""
        try:
            inspection = await self._engine.inspect(statement)
        except duckdb.Error as error:
            raise _failed(f"{error!s:.300}", "Mend the connection.") from error
        if not inspection.can_be_planned:
            problem = next(iter(inspection.doubts), "it has no plan")
            raise _failed(problem, "A person has to judge it as it stands.")
        return await self.price(statement)

    async def price(self, statement: str) -> Estimate:
        """The estimate of a statement that the engine has inspected and found safe to plan."""
        try:
            plan = await DuckDBJob[DuckDBPlan](lambda job: self._plan(job, statement)).run(
                timeout=self._timeout
            )
        except TimeoutError as error:
            raise _failed("it took too long to plan", "Simplify the statement.") from error
        except duckdb.Error as error:
            raise _failed(f"{error!s:.300}", "Mend the statement, or the connection.") from error
        return Estimate(engine=ENGINE, rows=plan.rows, widest=plan.widest, bytes=plan.bytes)

    def _plan(self, job: DuckDBJob[DuckDBPlan], statement: str) -> DuckDBPlan:
        with open_cursor(self._source) as cursor, job.on(cursor):
            return _explain(cursor, statement)


def _failed(problem: str, advice: str) -> EstimateFailed:
    return EstimateFailed(engine=ENGINE, problem=problem, advice=advice)


def _explain(cursor: Connection, statement: str) -> DuckDBPlan:
    cursor.execute("BEGIN TRANSACTION")
    try:
        text: str = cursor.execute(EXPLAIN + statement).fetchall()[-1][1]
        return read_plan(text, lambda names: find_tables(cursor, names))
    except PLAN_ERRORS as error:
        raise unknown_plan(ENGINE, error) from error
    finally:
        with suppress(duckdb.Error):  # what went wrong before has ended the transaction already
            cursor.execute("ROLLBACK")
