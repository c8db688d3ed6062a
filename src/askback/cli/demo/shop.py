"""The shop of the demo: a database that an agent may query, where a person decides about personal columns."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mcp.server import MCPServer

from askback import Askback
from askback.cli.console import Printer
from askback.cli.demo.transcript import DemoAnswers, print_runs, print_verdict
from askback.guards.sql import SQLCatalogue, guard_sql
from askback.guards.sql.sources.sqlite import SQLiteSource
from askback.testing import REVISIONS, Run, run_tool
from askback.testing.script import Reply

CUSTOMERS, ORDERS = 100, 1000

MAX_ROWS = 3
"""Rows of the choice to run a query for fewer."""

PRODUCTS = ["tea", "coffee", "cheese", "bread"]

TAGS = SQLCatalogue(
    tagged={"main.customers.name": "name", "main.customers.email": "contact"},
    titles={"name": "names", "contact": "contact details"},
    examples={"name": "Robin Example", "contact": "robin@example.org"},
)
"""Which columns are about people, and made-up examples of what they hold."""

HARMLESS = "SELECT product, count(*) AS orders FROM orders GROUP BY product ORDER BY product"
PERSONAL = "SELECT name, email FROM customers ORDER BY id"


def make_server(database: Path) -> MCPServer[Any]:
    """`database` is an SQLite file, which is opened for reading alone."""
    mcp: MCPServer[Any] = MCPServer("shop")
    Askback(mcp)
    source = SQLiteSource(database)

    @mcp.tool()
    @guard_sql(dialect="sqlite", catalogue=[source, TAGS], most_rows=MAX_ROWS, writes="refuse")
    async def query(statement: str) -> str:
        """Run one SELECT; the answer is CSV."""
        found = await source.engine.run(statement)
        return "\n".join(",".join(map(str, row)) for row in [found.names, *found.rows])

    return mcp


@contextmanager
def temporary_database() -> Generator[Path]:
    """A file with made-up customers and orders, removed at the end of the block."""
    with TemporaryDirectory(prefix="askback-demo-") as folder:
        file = Path(folder) / "shop.sqlite"
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, email TEXT)")
            connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, product TEXT)")
            names = [(f"customer-{number:03}",) for number in range(1, CUSTOMERS + 1)]
            connection.executemany(
                "INSERT INTO customers (name, email) VALUES (?1, ?1 || '@example.org')", names
            )
            orders = [(number % CUSTOMERS + 1, PRODUCTS[number % 7 % 4]) for number in range(ORDERS)]
            connection.executemany("INSERT INTO orders (customer, product) VALUES (?, ?)", orders)
        yield file


async def play(printer: Printer, answers: DemoAnswers) -> bool:
    """Query personal columns on each revision; whether that was asked about, and a harmless query was not."""
    with temporary_database() as database:
        server = make_server(database)
        harmless = await _run(server, HARMLESS, REVISIONS[-1], [])
        runs = {revision: await _run(server, PERSONAL, revision, [answers.query]) for revision in REVISIONS}
    print_runs(printer, "A query that somebody must agree to", runs)
    if harmless.asked or any(len(run.asked) != 1 for run in runs.values()):
        printer.print("A question is missing, or was asked in vain.", "bold")
        return False
    printer.print(f"Nobody was asked about this one, which counts orders: {HARMLESS}")
    return print_verdict(printer, runs.values())


async def _run(server: MCPServer[Any], statement: str, revision: str, replies: list[Reply]) -> Run:
    arguments = {"statement": statement}
    return await run_tool(server, "query", arguments, replies, revision=revision, always_replay=False)
