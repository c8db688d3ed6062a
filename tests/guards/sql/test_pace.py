"""What a reading costs: less than twice what sqlglot alone takes, in proportion to the text, and nothing twice."""

import gc
import time
from collections.abc import Callable

import anyio
import pytest
import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from askback.guards.sql import SQLCatalogue, StatementAssessor, read
from askback.guards.sql.catalogue import CatalogueIndex
from askback.guards.sql.statements import Statements
from tests.guards.sql.corpus_harmless import harmless
from tests.guards.sql.corpus_tricks import tricks
from tests.guards.sql.shop import look, tables, tagged, views

pytestmark = pytest.mark.slow

TIMES_SQLGLOT = 2.0
TIMES_ASKED = 2.5
"""For a question, with the same query for fewer rows, which is read too."""
LONG = 100_000
"""Characters up to which the cost grows with the length."""
STEP = 4
SLACK = 2.5
"""For a machine that does other things meanwhile, and memory that is no longer near."""


def seconds(run: Callable[[], object], *, times: int = 3) -> float:
    """Of this process, in the quickest run, without the collector, which looks at all the rest of the process too."""
    taken: list[float] = []
    gc.disable()
    try:
        for _ in range(times):
            gc.collect()
            start = time.process_time()
            run()
            taken.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(taken)


def fresh() -> Statements:
    """A reader of its own, without the worker process that has a limit of time."""
    return Statements(
        CatalogueIndex(
            dialect="duckdb", tables=tables("duckdb"), views=views("duckdb"), tagged=tagged("duckdb")
        )
    )


def sqlglot_alone(statement: str) -> None:
    schema: dict[str, object] = {
        "main": {name.partition(".")[2]: dict(columns) for name, columns in tables("duckdb").items()}
    }
    qualify(sqlglot.parse_one(statement, dialect="duckdb"), dialect="duckdb", schema=schema, db="main")


def can_be_qualified(statement: str) -> bool:
    try:
        sqlglot_alone(statement)
    except SqlglotError:
        return False
    return not statement.startswith("EXPLAIN") and ";" not in statement


def test_a_reading_costs_less_than_twice_what_sqlglot_needs() -> None:
    every = [statement for column, statement in tricks("duckdb") if column != "?"] + harmless("duckdb")
    statements = [statement for statement in every if can_be_qualified(statement)]

    def read_all() -> None:
        readings = fresh()
        for statement in statements:
            readings.read(statement)

    def qualify_all() -> None:
        for statement in statements:
            sqlglot_alone(statement)

    assert len(statements) > 200
    assert seconds(read_all) < TIMES_SQLGLOT * seconds(qualify_all)


def test_a_question_with_all_that_is_in_it_costs_less_than_two_and_a_half_times_what_sqlglot_needs() -> None:
    statements = [text for column, text in tricks("duckdb") if column != "?" and can_be_qualified(text)]
    orders = iter(range(1_000_000))

    async def weigh_all() -> None:
        new = {
            **tables("duckdb"),
            f"main.new_{next(orders)}": {"id": "INTEGER"},
        }  # a catalogue that nobody has read
        known = SQLCatalogue(tables=new, views=views("duckdb"), tagged=tagged("duckdb"))
        scales = StatementAssessor(dialect="duckdb", catalogue=known)
        for statement in statements:
            risk = await scales.assess(statement)
            assert risk is not None and risk.facts["personal"]

    def qualify_all() -> None:
        for statement in statements:
            sqlglot_alone(statement)

    assert len(statements) > 200
    assert seconds(lambda: anyio.run(weigh_all)) < TIMES_ASKED * seconds(qualify_all)


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT id FROM orders WHERE status = '{'x' * LONG}'",
        f"SELECT id FROM orders WHERE status = '{'é' * LONG}'",
        f'SELECT id AS "{"x" * LONG}" FROM orders',
        f"SELECT id FROM orders -- {'x' * LONG}",
    ],
    ids=["a literal", "a literal beyond ASCII", "a name", "a comment"],
)
def test_one_long_word_costs_less_than_twice_what_sqlglot_needs(statement: str) -> None:
    alone = seconds(lambda: sqlglot_alone(statement), times=7)
    assert seconds(lambda: fresh().read(statement), times=7) < TIMES_SQLGLOT * alone


SHAPES: dict[str, Callable[[int], str]] = {
    "columns": lambda size: f"SELECT {', '.join(['o.total'] * (size // 9))} FROM orders o",
    "conditions": lambda size: f"SELECT id FROM orders WHERE {' OR '.join(['total = 1'] * (size // 13))}",
    "a list": lambda size: f"SELECT id FROM orders WHERE id IN ({', '.join(['12345'] * (size // 7))})",
    "unions": lambda size: " UNION ALL ".join(["SELECT id FROM orders"] * (size // 32)),
    "joins": lambda size: (
        "SELECT 1 FROM orders o" + "".join(f" JOIN orders o{n} USING (id)" for n in range(size // 28))
    ),
    "subqueries": lambda size: f"SELECT {', '.join(['(SELECT max(total) FROM orders)'] * (size // 33))}",
    "common tables": lambda size: (
        "WITH c0 AS (SELECT * FROM orders)"
        + "".join(f", c{n + 1} AS (SELECT * FROM c{n})" for n in range(size // 32))
        + " SELECT id FROM c1"
    ),
    "stars doubled": lambda size: (
        "WITH c0 AS (SELECT * FROM orders)"
        + "".join(f", c{n + 1} AS (SELECT *, * FROM c{n})" for n in range(size // 35))
        + " SELECT 1"
    ),
    "parentheses": lambda size: f"SELECT {'(' * (size // 2)}1{')' * (size // 2)}",
    "dots": lambda size: f"SELECT {'.'.join(['a'] * (size // 2))} FROM orders",
    "statements": lambda size: "; ".join(["SELECT id FROM orders"] * (size // 23)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_cost_grows_with_the_length(shape: str) -> None:
    short, long = SHAPES[shape](LONG // STEP), SHAPES[shape](LONG)
    quick = seconds(lambda: fresh().read(short), times=2)
    assert seconds(lambda: fresh().read(long), times=2) < STEP * SLACK * max(quick, 0.01)


def test_a_statement_seen_before_costs_next_to_nothing() -> None:
    statement = SHAPES["columns"](LONG)
    first = look(statement, "duckdb")
    assert seconds(lambda: look(statement, "duckdb")) < 0.01
    assert look(statement, "duckdb") is first


def test_a_large_catalogue_is_not_read_anew_for_each_statement() -> None:
    large = {f"main.t{table}": {f"c{column}": "INTEGER" for column in range(20)} for table in range(1000)}
    read("SELECT c1 FROM t1", dialect="duckdb", tables=large)
    assert seconds(lambda: read("SELECT c1 FROM t1", dialect="duckdb", tables=large)) < 0.02
