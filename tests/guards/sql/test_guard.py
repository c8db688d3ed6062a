"""`guard_sql` before a tool that runs SQL on a real DuckDB: what runs is what a person agreed to."""

from collections.abc import Generator
from typing import Any

import duckdb
import pytest
from mcp.server import MCPServer

from askback import Askback
from askback.errors import AuthorError
from askback.guards.cost import CostLimits
from askback.guards.cost.duckdb import DuckDBEstimator
from askback.guards.sql import SQLCatalogue, guard_sql
from askback.guards.sql.sources.duckdb import DuckDBSource
from askback.testing import accept, cancel, decline, run_tool

pytestmark = pytest.mark.anyio


class Shop:
    """A server over a database, and what ran on it."""

    def __init__(self, database: duckdb.DuckDBPyConnection, **options: Any) -> None:
        self.ran: list[str] = []
        self.server = MCPServer("shop")
        Askback(self.server)
        options = {"catalogue": DuckDBSource(database), "cost": DuckDBEstimator(database)} | options

        @self.server.tool()
        @guard_sql("statement", dialect="duckdb", **options)
        async def query(statement: str) -> str:
            self.ran.append(statement)
            return str(database.cursor().execute(statement).fetchall())

        @self.server.tool()
        @guard_sql("text", dialect="duckdb", **options)
        async def maybe(text: str | None = None) -> str:
            self.ran.append(str(text))
            return "ran"


@pytest.fixture
def database() -> Generator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("""
            CREATE TABLE customers AS SELECT i AS id, 'ada' || i || '@example.org' AS email FROM range(2000) t(i);
            COMMENT ON COLUMN customers.email IS '@personal:contact';
        """)
        yield connection


async def test_what_is_harmless_runs_unasked(database: duckdb.DuckDBPyConnection, revision: str) -> None:
    shop = Shop(database, limits=CostLimits(rows=1_000_000))
    run = await run_tool(
        shop.server, "query", {"statement": "SELECT count(*) FROM customers"}, [], revision=revision
    )
    assert run.text == "[(2000,)]" and len(shop.ran) == 1


async def test_what_reads_a_personal_column_runs_as_it_was_shown(
    database: duckdb.DuckDBPyConnection, revision: str
) -> None:
    shop, statement = Shop(database), "SELECT max(email) FROM customers"
    run = await run_tool(
        shop.server, "query", {"statement": statement}, [accept(decision="once")], revision=revision
    )
    assert run.text == "[('ada9@example.org',)]" and shop.ran == [statement]
    (question,) = run.asked
    assert "- main.customers.email: contact" in question.message and f"  | {statement}" in question.message


async def test_who_chooses_a_limit_gets_exactly_that(
    database: duckdb.DuckDBPyConnection, revision: str
) -> None:
    shop = Shop(database, most_rows=3)
    arguments = {"statement": "SELECT email FROM customers ORDER BY id"}
    run = await run_tool(shop.server, "query", arguments, [accept(decision="limit")], revision=revision)
    assert run.text == "[('ada0@example.org',), ('ada1@example.org',), ('ada2@example.org',)]"
    assert shop.ran == ["SELECT email FROM customers ORDER BY id\nLIMIT 3"]


@pytest.mark.parametrize(
    "reply", [decline(), cancel(), accept(decision="no")], ids=["decline", "cancel", "no"]
)
async def test_who_says_no_or_nothing_has_nothing_run(
    database: duckdb.DuckDBPyConnection, reply: Any, revision: str
) -> None:
    shop = Shop(database)
    arguments = {"statement": "SELECT email FROM customers"}
    run = await run_tool(shop.server, "query", arguments, [reply], revision=revision)
    assert run.is_error and not shop.ran


async def test_what_costs_too_much_is_asked_about(database: duckdb.DuckDBPyConnection) -> None:
    shop = Shop(database, limits=CostLimits(rows=100))
    run = await run_tool(shop.server, "query", {"statement": "SELECT sum(id) FROM customers"}, [decline()])
    assert "scans about 2,000 rows (more than 100 rows)" in run.asked[0].message and not shop.ran


async def test_a_catalogue_that_cannot_be_read_makes_every_statement_a_question(
    database: duckdb.DuckDBPyConnection,
) -> None:
    def broken() -> SQLCatalogue:
        raise OSError("gone")

    shop = Shop(database, catalogue=broken)
    run = await run_tool(shop.server, "query", {"statement": "SELECT 1"}, [decline()])
    assert "Nobody can tell what it touches" in run.asked[0].message and not shop.ran


@pytest.mark.parametrize("arguments", [{}, {"text": None}])
async def test_without_a_statement_nothing_runs_and_nobody_is_asked(
    database: duckdb.DuckDBPyConnection, arguments: dict[str, Any]
) -> None:
    shop = Shop(database)
    run = await run_tool(shop.server, "maybe", arguments, [])
    assert run.is_error and "statement" in run.text and not shop.ran and not run.asked


async def test_a_change_is_refused_unasked_where_only_queries_are_let_through(
    database: duckdb.DuckDBPyConnection,
) -> None:
    shop = Shop(database, writes="refuse")
    run = await run_tool(shop.server, "query", {"statement": "DROP TABLE customers"}, [])
    assert run.is_error and "only queries" in run.text and not shop.ran and not run.asked


def test_a_name_that_no_argument_can_have_is_the_authors_mistake() -> None:
    with pytest.raises(AuthorError, match="no argument"):
        guard_sql("the statement", dialect="duckdb", catalogue=SQLCatalogue())
