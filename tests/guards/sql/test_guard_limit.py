"""A query for fewer rows is the same query: for random ones that DuckDB accepts, it gives rows of the same result."""

from random import Random

import anyio
import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from askback.guards.cost import CalledEstimator, CostLimits, Estimate
from askback.guards.sql import Dialect, SQLCatalogue, StatementAssessor
from tests.guards.sql.chance import Writer, schema
from tests.guards.sql.shop import tables, tagged, views
from tests.guards.sql.test_chance import fill, outcome

pytestmark = pytest.mark.slow

FEW, MANY = 2, 100_000


DEAR = CalledEstimator(lambda _: Estimate(engine="a table of prices", rows=5))


async def limited(query: str, dialect: Dialect, most: int, known: SQLCatalogue) -> str | None:
    """The text that would run for fewer rows, where there is that choice; every statement is asked about."""
    assessor = StatementAssessor(
        dialect=dialect, catalogue=known, most_rows=most, cost=DEAR, limits=CostLimits(rows=0)
    )
    risk = await assessor.assess(query)
    assert risk is not None
    return str(risk.options[0].change({})["statement"]) if risk.options else None


@settings(max_examples=15, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
def test_a_limit_changes_nothing_but_how_many_rows_there_are(random: Random) -> None:
    made = schema(random)
    known = SQLCatalogue(
        tables={f"main.{name}": dict.fromkeys(columns, "INTEGER") for name, columns in made.items()}
    )
    query = Writer(random, made).query()
    with duckdb.connect() as database:
        fill(database, made, random)
        whole = outcome(database, query)
        assume(not isinstance(whole, str))
        for most in (FEW, MANY):
            statement = anyio.run(limited, query, "duckdb", most, known)
            if statement is not None:
                rows = outcome(database, statement)
                assert not isinstance(rows, str) and len(rows) == min(most, len(whole)), statement
                assert set(map(repr, rows)) <= set(map(repr, whole)), statement


async def test_where_in_doubt_there_is_no_such_choice() -> None:
    shop = SQLCatalogue(tables=tables("postgres"), views=views("postgres"), tagged=tagged("postgres"))
    statements = [
        "",
        "SELECT 1) AS x; DROP TABLE t; --",
        "SELECT 1) AS limited LIMIT 1 --",
        "SELECT 1) UNION (SELECT 2",
        "SELECT id FROM orders FOR UPDATE",
        "SELECT id INTO copied FROM orders",
        "SELECT id FROM orders; -- two",
        "SELECT 'open",
        "SELECT 1 /* open",
    ]
    offered = [text for text in statements if await limited(text, "postgres", 1000, shop) is not None]
    assert not offered
