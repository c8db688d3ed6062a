"""A query for fewer rows is the same query: for random ones that DuckDB accepts, it gives rows of the same result."""

from random import Random

import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from askback.guards.sql.outlines import lay_out
from tests.guards.sql.chance import Writer, schema
from tests.guards.sql.test_chance import fill, outcome

pytestmark = pytest.mark.slow

FEW, MANY = 2, 100_000


@settings(max_examples=15, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
def test_a_limit_changes_nothing_but_how_many_rows_there_are(random: Random) -> None:
    made = schema(random)
    query = Writer(random, made).query()
    with duckdb.connect() as database:
        fill(database, made, random)
        whole = outcome(database, query)
        assume(not isinstance(whole, str))
        for most in (FEW, MANY):
            statement = lay_out(query, "duckdb", most).limited
            if statement is not None:
                rows = outcome(database, statement)
                assert not isinstance(rows, str) and len(rows) == min(most, len(whole)), statement
                assert set(map(repr, rows)) <= set(map(repr, whole)), statement


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "SELECT 1) AS x; DROP TABLE t; --",
        "SELECT 1) AS limited LIMIT 1 --",
        "SELECT id FROM t FETCH FIRST 3 ROWS ONLY",
        "SELECT id FROM t FOR UPDATE",
        "SELECT id FROM t LIMIT 3, 9000",
        "VALUES (1)",
        "(SELECT 1)",
        "SELECT 'open",
    ],
)
def test_where_in_doubt_there_is_no_such_choice(statement: str) -> None:
    assert lay_out(statement, "postgres", 1000).limited is None
