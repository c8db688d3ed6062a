"""The guarded database: what is harmless passes unasked, what is personal or dear is asked about, and no means no."""

import re

import duckdb
import pytest
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from askback.testing import Run, accept, cancel, decline, run_tool
from askback.testing.script import Answers
from examples.guarded_sql import server as example
from examples.guarded_sql.__main__ import TAGS
from examples.guarded_sql.server import MOST_ROWS, make_server, run
from tests.examples.guards.conftest import FEW
from tests.support.docs_pages import DOCS, blocks

HARMLESS = "SELECT city, count(*) AS customers FROM customers GROUP BY ALL ORDER BY ALL"
SIZE = r"[\d.]+ MB"
"""Each version of DuckDB packs a file its own way."""

PERSONAL = "SELECT name, email FROM customers ORDER BY id"


async def query(
    server: MCPServer, statement: str, answers: Answers | None = None, *, revision: str = "2026-07-28"
) -> Run:
    return await run_tool(server, "query", {"statement": statement}, answers or [], revision=revision)


async def test_what_is_harmless_passes_unasked(shop: MCPServer, revision: str):
    ran = await query(shop, HARMLESS, revision=revision)
    assert not ran.asked
    assert ran.text.splitlines()[:2] == ["city,customers", "Delft,38"]


async def test_personal_columns_are_named_with_an_example_and_a_no_keeps_them(shop: MCPServer, revision: str):
    ran = await query(shop, PERSONAL, [decline()], revision=revision)
    (asked,) = ran.asked
    assert "- main.customers.email: contact details, such as robin@example.org" in asked.message
    assert "- main.customers.name: names, such as Robin Example" in asked.message
    assert asked.message.endswith(f"  | {PERSONAL}")
    assert ran.is_error and "query was not run: the person said no." in ran.text
    assert "@" not in ran.text


@pytest.mark.parametrize(
    ("decision", "rows"), [("once", 200), ("limit", FEW)], ids=["all of it", "for a few rows"]
)
async def test_a_yes_runs_it_whole_or_for_a_few_rows(
    shop: MCPServer, revision: str, decision: str, rows: int
):
    ran = await query(shop, PERSONAL, [accept(decision=decision)], revision=revision)
    assert ran.text.splitlines()[:2] == ["name,email", "customer-000001,customer-000001@example.org"]
    assert len(ran.text.splitlines()) == 1 + rows


@pytest.mark.parametrize("answers", [[accept(decision="no")], [cancel()]], ids=["no", "cancel"])
async def test_whoever_does_not_say_yes_says_no(shop: MCPServer, answers: Answers):
    ran = await query(shop, PERSONAL, answers)
    assert ran.is_error and "query was not run" in ran.text


@pytest.mark.parametrize(
    ("statement", "column"),
    [
        ("SELECT * FROM mailing", "main.customers.email"),
        ("SELECT count(*) FROM customers WHERE born < '1950-01-01'", "main.customers.born"),
        ('SELECT max("Deliver_To") FROM ORDERS', "main.orders.deliver_to"),
        ("FROM customers SELECT COLUMNS('e.*l')", "main.customers.email"),
    ],
    ids=["through a view", "in a condition", "in other letters", "by a pattern"],
)
async def test_a_detour_to_a_personal_column_is_asked_about_all_the_same(
    shop: MCPServer, statement: str, column: str
):
    (asked,) = (await query(shop, statement, [decline()])).asked
    assert f"- {column}: " in asked.message


async def test_what_is_not_understood_is_asked_about_as_such(shop: MCPServer):
    (asked,) = (await query(shop, "SELECT * FROM query('SELECT email FROM customers')", [decline()])).asked
    assert "Not understood, so nobody can tell what else it touches:" in asked.message


async def test_what_no_client_of_ours_would_show_to_its_end_is_not_asked_and_not_run(shop: MCPServer):
    far_below = "SELECT id" + "\n" * 500 + ", email FROM customers"
    ran = await query(shop, far_below)
    assert not ran.asked and "509 lines, and 400 is the most" in ran.text


async def test_what_would_change_something_is_refused_and_nobody_is_asked(shop: MCPServer):
    ran = await query(shop, "DELETE FROM orders")
    assert ran.is_error and "only queries are let through" in ran.text


async def test_the_agent_learns_what_there_is_and_what_is_personal(shop: MCPServer):
    told = (await run_tool(shop, "tables")).text
    assert "  email VARCHAR (personal: contact)" in told and "main.mailing, a view" in told


async def test_of_a_million_orders_a_count_passes_and_a_join_with_everything_is_asked_about(
    whole: duckdb.DuckDBPyConnection,
):
    shop = make_server(whole, TAGS)
    assert not (await query(shop, "SELECT sum(euro) FROM orders")).asked
    dear = "SELECT count(*) FROM orders a, orders b WHERE a.euro < b.euro"
    (asked,) = (await query(shop, dear, [decline()])).asked
    assert "(more than 10 million rows)" in asked.message
    assert "It shows and tests no personal columns." in asked.message


async def test_the_page_shows_the_question_that_is_asked(whole: duckdb.DuckDBPyConnection):
    page = DOCS / "how-to" / "guard-sql.md"
    (shown,) = (block.text.strip() for block in blocks(page, "text"))
    statement = "\n".join(line[4:] for line in shown.splitlines() if line.startswith("  | "))
    (asked,) = (await query(make_server(whole, TAGS), statement, [decline()])).asked
    assert re.sub(SIZE, "", asked.message) == re.sub(SIZE, "", shown)


def test_the_million_rows_are_the_same_everywhere(whole: duckdb.DuckDBPyConnection):
    counted = run(
        whole,
        "SELECT count(*), sum(euro), max(placed), sum(letter), count(DISTINCT customer_id) FROM "
        "(SELECT *, ord(deliver_to[-1]) AS letter FROM orders)",
    )
    assert counted.splitlines()[1] == "1000000,50491273.82,2025-12-31,52499978,100000"


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('/etc/hosts')",
        "COPY customers TO 'customers.csv'",
        "ATTACH 'other.duckdb'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "CREATE TABLE mine AS FROM customers",
    ],
)
def test_what_nobody_may_do_the_engine_refuses_whoever_agreed(
    connection: duckdb.DuckDBPyConnection, statement: str
):
    with pytest.raises(ToolError, match="The database did not run it"):
        run(connection, statement)


def test_nothing_of_one_statement_is_left_for_the_next(connection: duckdb.DuckDBPyConnection):
    run(connection, "CREATE TEMP TABLE mine AS FROM customers")
    with pytest.raises(ToolError, match="mine"):
        run(connection, "SELECT * FROM mine")


def test_an_answer_holds_so_many_rows_and_says_when_there_were_more(connection: duckdb.DuckDBPyConnection):
    lines = run(connection, "SELECT id FROM orders").splitlines()
    assert (len(lines), lines[-1]) == (MOST_ROWS + 2, f"# the first {MOST_ROWS} rows; there are more")
    wide = run(connection, "SELECT repeat('x', 40000) FROM range(5)").splitlines()
    assert wide[-1] == "# the first 2 rows; there are more"


def test_a_statement_that_takes_too_long_is_stopped(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(example, "MOST_SECONDS", 0.2)
    with pytest.raises(ToolError, match="INTERRUPT"):
        run(connection, "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range < b.range")
