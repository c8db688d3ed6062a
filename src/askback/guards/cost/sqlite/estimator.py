"""A statement put behind EXPLAIN QUERY PLAN in SQLite, on a file that is opened for reading alone."""

import sqlite3
from contextlib import closing
from os import PathLike
from pathlib import Path

import anyio.to_thread
from sqlglot import exp

from askback.errors import EstimateFailed
from askback.guards.cost.estimate import Estimate
from askback.guards.cost.sqlite.names import Names
from askback.guards.cost.sqlite.plan import Plan, read_plan
from askback.guards.cost.sqlite.tables import Tables
from askback.guards.cost.statement import Tree, longest_list, read_one
from askback.guards.cost.watch import watched

ENGINE = "SQLite"

REFUSED = frozenset({sqlite3.SQLITE_PRAGMA, sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH})
"""What SQLite does already while a statement is prepared."""


class SQLiteEstimator:
    """Of a database file.

    SQLite's plans tell the road and no numbers. These come from the first and the last rows of tables and indexes, from
    ANALYZE where it was run, and from the size of the file, and are upper bounds rather than guesses.
    """

    def __init__(self, path: str | PathLike[str], *, timeout: float = 5.0) -> None:
        self._address, self._timeout = f"{Path(path).absolute().as_uri()}?mode=ro", timeout

    async def estimate(self, statement: str) -> Estimate:
        tree = read_one(statement, engine=ENGINE, dialect="sqlite")
        return await anyio.to_thread.run_sync(self._estimate, statement, tree)

    def _estimate(self, statement: str, tree: Tree) -> Estimate:
        try:
            # A lock of somebody else is waited for in the driver, so its patience is the same.
            connection = sqlite3.connect(
                self._address, uri=True, timeout=self._timeout, check_same_thread=False
            )
            with closing(connection), watched(connection.interrupt, timeout=self._timeout):
                plan = _explain(connection, statement, tree)
        except sqlite3.Error as error:
            raise EstimateFailed(
                engine=ENGINE, problem=f"{error!s:.300}", advice="Mend the statement, or the database's path."
            ) from error
        return Estimate(engine=ENGINE, rows=plan.rows, widest=plan.widest, bytes=plan.bytes)


def _explain(connection: sqlite3.Connection, statement: str, tree: Tree) -> Plan:
    connection.set_authorizer(_authorize)
    lines = connection.execute("EXPLAIN QUERY PLAN " + statement).fetchall()
    connection.set_authorizer(None)
    if not lines and isinstance(
        tree, exp.Delete
    ):  # of everything, for which SQLite has no plan but to forget it
        lines = [(1, 0, 0, f"SCAN {tree.this.name}")]
    tables = Tables(connection)
    return read_plan(
        [(line[0], line[1], line[3]) for line in lines],
        tables=tables,
        names=Names(tree, tables),
        listed=longest_list(tree),
    )


def _authorize(action: int, *_: object) -> int:
    return sqlite3.SQLITE_DENY if action in REFUSED else sqlite3.SQLITE_OK
