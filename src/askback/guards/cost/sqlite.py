"""What SQLite would read for a statement: it is put behind EXPLAIN QUERY PLAN, on a file that is opened read-only."""

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from os import PathLike

import anyio.to_thread

from askback.guards.cost.estimate import Estimate, PlanEstimator
from askback.guards.cost.sqlite_plan import PlanNames, SQLitePlan
from askback.guards.cost.sqlite_tables import SQLiteTables
from askback.guards.sql.engines.sqlite import SQLiteEngine
from askback.guards.sql.engines.sqlite.bounds import SQLiteToken, cut
from askback.guards.sql.engines.sqlite.connection import open_file

CHECK_INTERVAL = 10_000
"""Instructions of SQLite between two looks at the clock: some tenths of a millisecond."""

OPENING, CLOSING = SQLiteToken("symbol", "("), SQLiteToken("symbol", ")")


class SQLiteEstimator(PlanEstimator):
    """Estimates for a database file.

    SQLite's plans give the steps and no numbers. These come from the first and the last rows of tables and indexes,
    from ANALYZE where it was run, and from the size of the file, and are upper bounds rather than guesses.
    """

    driver_errors = (sqlite3.Error,)

    def __init__(self, path: str | PathLike[str], *, timeout: float = 5.0) -> None:
        super().__init__(SQLiteEngine(path, timeout=timeout))
        self._path, self._timeout = path, timeout

    async def _plan(self, statement: str) -> Estimate:
        return await anyio.to_thread.run_sync(self._explain, statement)

    def _explain(self, statement: str) -> Estimate:
        tokens = list(cut(statement))
        # A lock of somebody else is waited for in the driver, for as long as anything else.
        with closing(open_file(self._path, timeout=self._timeout)) as connection:
            deadline = time.monotonic() + self._timeout
            connection.set_progress_handler(lambda: time.monotonic() > deadline, CHECK_INTERVAL)
            lines = connection.execute("EXPLAIN QUERY PLAN " + statement).fetchall()
            if not lines and any(token.text == "delete" for token in tokens):
                lines = [(1, 0, 0, f"SCAN {_deleted_table(tokens)}")]  # SQLite has no plan for a whole table
            tables = SQLiteTables(connection)
            plan = SQLitePlan(lines, tables, PlanNames(tokens, tables), longest_list(tokens))
            return plan.estimate()


def _deleted_table(tokens: Sequence[SQLiteToken]) -> str:
    """The table in `DELETE FROM main.orders`."""
    place = next(place for place, token in enumerate(tokens) if token.text == "from") + 1
    is_qualified = place + 2 < len(tokens) and tokens[place + 1].text == "."
    return tokens[place + 2 if is_qualified else place].text


def longest_list(tokens: Sequence[SQLiteToken]) -> int:
    """How many times `x IN (1, 2, 3)` looks something up, where it is written out."""
    longest, lists = 1, list[int]()
    for place, token in enumerate(tokens):
        if token == OPENING:
            lists.append(1 if place and tokens[place - 1] == SQLiteToken("word", "in") else 0)
        elif token == CLOSING and lists:
            longest = max(longest, lists.pop())
        elif token.kind in {"symbol", "numbers"} and lists and lists[-1]:
            lists[-1] += token.text.count(",")
    return longest
