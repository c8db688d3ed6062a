"""A statement put behind EXPLAIN QUERY PLAN in SQLite, on a file that is opened for reading alone."""

import sqlite3
from contextlib import closing
from os import PathLike

import anyio.to_thread

from askback.errors import EstimateFailed
from askback.guards.cost.estimate import Estimate
from askback.guards.cost.sqlite.names import PlanNames
from askback.guards.cost.sqlite.plan import SQLitePlan, read_plan
from askback.guards.cost.sqlite.tables import SQLiteTables
from askback.guards.cost.watch import interrupt_late
from askback.guards.sql.engines.sqlite import SQLiteEngine
from askback.guards.sql.engines.sqlite.connection import open_file
from askback.guards.sql.engines.sqlite.tokens import SQLiteToken, cut
from askback.guards.sql.turns import yield_often

ENGINE = "SQLite"


class SQLiteEstimator:
    """Of a database file.

    SQLite's plans tell the road and no numbers. These come from the first and the last rows of tables and indexes, from
    ANALYZE where it was run, and from the size of the file, and are upper bounds rather than guesses.
    """

    def __init__(self, path: str | PathLike[str], *, timeout: float = 5.0) -> None:
        self._path, self._timeout = path, timeout
        self._engine = SQLiteEngine(path, timeout=timeout)

    async def estimate(self, statement: str) -> Estimate:
        """Inspect first: SQLite acts on some statements while it plans them."""
        try:
            inspection = await self._engine.inspect(statement)
        except sqlite3.Error as error:
            raise _failed(error) from error
        if not inspection.can_be_planned:
            raise EstimateFailed(
                engine=ENGINE,
                problem="; ".join(inspection.doubts) or "it has no plan",
                advice="A person has to judge it as it stands.",
            )
        return await self.price(statement)

    async def price(self, statement: str) -> Estimate:
        """The estimate of a statement that was inspected and `can_be_planned`."""
        return await anyio.to_thread.run_sync(self._price, statement)

    def _price(self, statement: str) -> Estimate:
        try:
            # A lock of somebody else is waited for in the driver, so its patience is the same.
            connection = open_file(self._path, timeout=self._timeout)
            with closing(connection), interrupt_late(connection.interrupt, timeout=self._timeout):
                plan = _explain(connection, statement)
        except sqlite3.Error as error:
            raise _failed(error) from error
        return Estimate(engine=ENGINE, rows=plan.rows, widest=plan.widest, bytes=plan.bytes)


def _failed(error: sqlite3.Error) -> EstimateFailed:
    return EstimateFailed(
        engine=ENGINE, problem=f"{error!s:.300}", advice="Mend the statement, or the database's path."
    )


def _explain(connection: sqlite3.Connection, statement: str) -> SQLitePlan:
    tokens = list(yield_often(cut(statement)))
    lines = connection.execute("EXPLAIN QUERY PLAN " + statement).fetchall()
    if not lines and any(token.text == "delete" for token in tokens):  # SQLite has no plan for a whole table
        lines = [(1, 0, 0, f"SCAN {_deleted(tokens)}")]
    tables = SQLiteTables(connection)
    return read_plan(
        [(line[0], line[1], line[3]) for line in lines],
        tables=tables,
        names=PlanNames(tokens, tables),
        listed=longest_list(tokens),
    )


def _deleted(tokens: list[SQLiteToken]) -> str:
    """The table in `DELETE FROM main.orders`."""
    place = next(place for place, token in enumerate(tokens) if token.text == "from") + 1
    qualified = place + 2 < len(tokens) and tokens[place + 1].text == "."
    return tokens[place + 2 if qualified else place].text


def longest_list(tokens: list[SQLiteToken]) -> int:
    """How many times `x IN (1, 2, 3)` looks something up, where it is written out."""
    longest, lists = 1, list[int]()
    for before, token in yield_often(zip([SQLiteToken("symbol", ""), *tokens], tokens, strict=False)):
        if token == SQLiteToken("symbol", "("):
            lists.append(1 if before == SQLiteToken("word", "in") else 0)
        elif token == SQLiteToken("symbol", ")") and lists:
            longest = max(longest, lists.pop())
        elif token.kind in {"symbol", "numbers"} and lists and lists[-1]:
            lists[-1] += token.text.count(",")
    return longest
