"""A statement put behind EXPLAIN in an embedded DuckDB, on a cursor of its own."""

from contextlib import closing, suppress
from os import PathLike, fspath

import anyio
import anyio.to_thread
import duckdb

from askback.errors import EstimateFailed
from askback.guards.cost.duckdb.doors import check_doors, check_growth
from askback.guards.cost.duckdb.plan import Plan, read_plan
from askback.guards.cost.duckdb.tables import known_names, tables_of
from askback.guards.cost.estimate import MISREAD, Estimate, misread
from askback.guards.cost.statement import Tree, read_one
from askback.guards.cost.watch import watched

ENGINE = "DuckDB"

EXPLAIN = "EXPLAIN (FORMAT JSON) "

GRACE = 1.0
"""Seconds beyond the time limit after which it is given up: some of planning cannot be interrupted."""


class DuckDBEstimator:
    """Of a file, which is opened read-only for each estimate, or of a connection, of which it takes a cursor.

    Planning reads statistics, and the beginning, the middle and the end of columns of text for their length. What names
    files or hosts is refused, since already the plan of it would open them.
    """

    def __init__(
        self, source: "str | PathLike[str] | duckdb.DuckDBPyConnection", *, timeout: float = 5.0
    ) -> None:
        self._source, self._timeout = source, timeout

    async def estimate(self, statement: str) -> Estimate:
        tree = read_one(statement, engine=ENGINE, dialect="duckdb")
        check_growth(tree)
        try:
            with anyio.fail_after(self._timeout + GRACE):
                return await anyio.to_thread.run_sync(self._estimate, statement, tree, abandon_on_cancel=True)
        except TimeoutError as error:
            raise _late() from error

    def _estimate(self, statement: str, tree: Tree) -> Estimate:
        try:
            with closing(self._cursor()) as cursor, watched(cursor.interrupt, timeout=self._timeout) as late:
                try:
                    plan = _explain(cursor, statement, tree)
                except duckdb.Error as error:
                    if late.is_set():
                        raise _late() from error
                    raise
        except duckdb.Error as error:
            raise _failed(f"{error!s:.300}", "Mend the statement, or the connection.") from error
        return Estimate(engine=ENGINE, rows=plan.rows, widest=plan.widest, bytes=plan.bytes)

    def _cursor(self) -> "duckdb.DuckDBPyConnection":
        if isinstance(self._source, duckdb.DuckDBPyConnection):
            return self._source.cursor()
        return duckdb.connect(fspath(self._source), read_only=True)


def _failed(problem: str, advice: str) -> EstimateFailed:
    return EstimateFailed(engine=ENGINE, problem=problem, advice=advice)


def _late() -> EstimateFailed:
    return _failed("it took too long to plan", "Simplify the statement.")


def _explain(cursor: "duckdb.DuckDBPyConnection", statement: str, tree: Tree) -> Plan:
    reads = _check_single(cursor, statement)
    explained = cursor.extract_statements(EXPLAIN + statement)
    if [each.type for each in explained] != [duckdb.StatementType.EXPLAIN]:
        # A PIVOT without its values, for one, runs a query for them before it is planned.
        raise _failed(
            "part of it would run to make its plan", "Write out the values that it finds by itself."
        )
    cursor.execute("BEGIN TRANSACTION READ ONLY" if reads else "BEGIN TRANSACTION")
    try:
        check_doors(tree, known_names(cursor))
        text: str = cursor.execute(explained[0]).fetchall()[-1][1]
        return read_plan(text, lambda names: tables_of(cursor, names))
    except MISREAD as error:
        raise misread(ENGINE, error) from error
    finally:
        with suppress(duckdb.Error):  # what went wrong before has ended the transaction already
            cursor.execute("ROLLBACK")


def _check_single(cursor: "duckdb.DuckDBPyConnection", statement: str) -> bool:
    """Whether it only reads. The engine's own parser has the last word on how many statements there are."""
    kinds = [each.type for each in cursor.extract_statements(statement)]
    if len(kinds) != 1 or kinds[0] in {duckdb.StatementType.EXPLAIN, duckdb.StatementType.MULTI}:
        raise _failed("DuckDB takes it for more than one statement", "Send one plain statement at a time.")
    return kinds[0] == duckdb.StatementType.SELECT
