"""The statements that once got tagged columns out unasked, through whole servers on each engine.

A client that cannot ask gets nothing. One that can is asked about the column by its name.
"""

import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from mcp import MCPError
from mcp.server import MCPServer

from askback import Askback
from askback.guards.sql import SQLCatalogue, guard_sql
from askback.guards.sql.sources.postgres import PostgresSource
from askback.testing import decline, run_tool
from examples.guarded_sql import approved
from examples.guarded_sql.__main__ import TAGS
from examples.guarded_sql.database import make_database, open_hardened
from examples.guarded_sql.server import make_server
from tests.guards.sql.shop import script, tagged

DUCKDB = (
    "SELECT 'x' AS z\u2060UNION\u2060ALL\u2060SELECT\u2060email\u2060FROM\u2060customers",
    "SELECT * EXCLUDE (email, born) FROM (SELECT *, email FROM customers) x",
    "SELECT count(*) FROM (SELECT NULL::UUID AS a UNION ALL SELECT email FROM customers)",
    "SELECT decode('\\xff'::BLOB, (SELECT #3 FROM customers OFFSET 41 LIMIT 1))",
)
CORRELATED = "SELECT (SELECT c.email FROM (SELECT 1 AS c) x) FROM customers c"
SQLITE = (CORRELATED, "SELECT $x('), email FROM customers --')")
POSTGRES = (CORRELATED, "SELECT id.to_json FROM customers AS id")

NOT_TAKEN = "DuckDB does not accept it"
"""Said of `decode` with two arguments before DuckDB 2.0."""

BRACKETS = (("ARRAY[", "]"), ("STRUCT(", ")"), ("ROW(", ")"))
NESTED = tuple("SELECT " + word * 25 + "1" + end * 25 for word, end in BRACKETS)
"""They doubled the parser's time with each level. No engine reads a tagged column for them."""


async def check(server: MCPServer[Any], statement: str, column: str) -> None:
    given = {"statement": statement}
    with pytest.raises(MCPError, match="nobody can be asked here") as refused:
        await run_tool(server, "query", given, capabilities={})
    assert "@example.org" not in str(refused.value)
    asked = await run_tool(server, "query", given, [decline()])
    assert asked.is_error and "@example.org" not in asked.text
    message = asked.asked[0].message
    assert f"- {column}: " in message or NOT_TAKEN in message, message


async def answer(server: MCPServer[Any], statement: str) -> None:
    """Whatever comes of it, it comes within the time of a test, and gives nothing away."""
    with suppress(MCPError):
        run = await run_tool(server, "query", {"statement": statement}, capabilities={})
        assert "@example.org" not in run.text


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Generator[MCPServer[Any]]:
    """The example as it is, on a small database."""
    path = make_database(tmp_path_factory.mktemp("shop") / "shop.duckdb", orders=2_000)
    with closing(open_hardened(path)) as connection:
        yield make_server(connection, TAGS)


@pytest.mark.parametrize("statement", DUCKDB)
async def test_duckdb_gives_nothing_away(example: MCPServer[Any], statement: str) -> None:
    await check(example, statement, "main.customers.email")


async def test_duckdb_opens_no_file_before_somebody_agreed(example: MCPServer[Any], tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nada@example.org\n")
    run = await run_tool(example, "query", {"statement": f"SELECT * FROM read_csv('{secret}')"}, [decline()])
    assert "read_csv" in run.asked[0].message and "How much: nobody can tell" in run.asked[0].message


@pytest.fixture
def sqlite_server(tmp_path: Path) -> MCPServer[Any]:
    with closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as database:
        for statement in script("sqlite"):
            database.execute(statement)
    return approved.make_server(tmp_path / "shop.db", SQLCatalogue(tagged=tagged("sqlite")))


@pytest.mark.parametrize("statement", SQLITE)
async def test_sqlite_gives_nothing_away(sqlite_server: MCPServer[Any], statement: str) -> None:
    await check(sqlite_server, statement, "main.customers.email")


@pytest.mark.parametrize("statement", NESTED)
async def test_what_is_nested_is_answered(
    example: MCPServer[Any], sqlite_server: MCPServer[Any], statement: str
) -> None:
    await answer(example, statement)
    await answer(sqlite_server, statement)


async def test_what_was_approved_runs_on_the_engine_that_inspected_it(sqlite_server: MCPServer[Any]) -> None:
    run = await run_tool(sqlite_server, "query", {"statement": "SELECT country, name FROM customers"})
    assert run.text == "country,name\nIT,Ada"


@asynccontextmanager
async def postgres_shop(url: str) -> AsyncGenerator[MCPServer[Any]]:
    """A server over a schema of its own, which is dropped again."""
    settings = {"search_path": "attacked"}
    async with asyncpg.create_pool(url, min_size=1, max_size=2, server_settings=settings) as pool:
        await pool.execute("DROP SCHEMA IF EXISTS attacked CASCADE; CREATE SCHEMA attacked")
        for statement in script("postgres"):
            await pool.execute(statement)
        mcp: MCPServer[Any] = MCPServer("shop")
        Askback(mcp)
        tags = {name.replace("public.", "attacked."): tag for name, tag in tagged("postgres").items()}

        @mcp.tool()
        @guard_sql(
            "statement", dialect="postgres", catalogue=[PostgresSource(pool), SQLCatalogue(tagged=tags)]
        )
        async def query(statement: str) -> str:
            return str([tuple(row) for row in await pool.fetch(statement)])

        try:
            yield mcp
        finally:
            await pool.execute("DROP SCHEMA attacked CASCADE")


@pytest.mark.services
@pytest.mark.parametrize("statement", POSTGRES)
async def test_postgres_gives_nothing_away(postgres_url: str, statement: str) -> None:
    async with postgres_shop(postgres_url) as server:
        await check(server, statement, "attacked.customers.email")
        for nested in NESTED:
            await answer(server, nested)
        run = await run_tool(server, "query", {"statement": "SELECT country FROM people"})
        assert run.text == "[('IT',)]"
