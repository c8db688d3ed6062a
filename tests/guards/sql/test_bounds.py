"""What is deep, long or made to run away: it is answered in bounded time, and the event loop goes on meanwhile."""

import sys
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from askback.guards.sql import Dialect, SQLReading, read_async, worker
from askback.guards.sql.reader import is_trivial
from askback.guards.sql.worker import WorkerFailed, read_in_process
from tests.guards.sql.shop import look, tables, tagged, views

DIALECTS: tuple[Dialect, ...] = ("duckdb", "postgres", "sqlite", "trino")

PAIRS = {
    "parentheses": ("(", ")"), "brackets": ("[", "]"), "ARRAY[": ("ARRAY[", "]"), "ARRAY(": ("ARRAY(", ")"),
    "STRUCT(": ("STRUCT(", ")"), "ROW(": ("ROW(", ")"), "DECIMAL(": ("DECIMAL(", ")"), "MAP(": ("MAP(", ")"),
    "ARRAY<": ("ARRAY<", ">"), "MAP {": ("MAP {'a': ", "}"), "CASE": ("CASE WHEN 1 = 1 THEN ", " END"),
    "NOT": ("NOT ", ""), "minus": ("- ", ""), "calls": ("lower(", ")"), "CAST": ("CAST(", " AS INT)"),
    "EXISTS": ("EXISTS(SELECT ", ")"), "subqueries": ("(SELECT ", ")"), "FROM": ("(SELECT * FROM ", ")"),
    "LIMIT": ("(SELECT 1 LIMIT ", ")"), "IN": ("a IN (", ")"), "INTERVAL": ("INTERVAL ", ""), "DATE(": ("DATE(", ")"),
    "VARCHAR(": ("VARCHAR(", ")"), "lambda": ("x -> ", ""), "OVER": ("sum(1) OVER (ORDER BY ", ")"),
    "BETWEEN": ("1 BETWEEN ", " AND 2"), "tuples": ("(1, ", ")"), "UNION": ("(SELECT 1 UNION ", ")"),
    "WITH": ("(WITH a AS (", ") SELECT 1)"), "subscripts": ("", "[1]"), "fields": ("", ".a"), "casts": ("", "::INT"),
    "ROW(ARRAY[": ("ROW(ARRAY[", "])"), "EXPLAIN": ("EXPLAIN ", ""), "joins": ("(a JOIN ", " ON 1 = 1)"),
}  # fmt: skip
"""What can be nested, by what opens and closes it."""

DEEP: dict[str, int] = dict.fromkeys(("parentheses", "CASE", "NOT", "subqueries", "casts"), 10_000)
"""Levels of what nests in the fewest characters. A thousand of the others are as far beyond the limit."""


CATALOGUE: dict[str, Any] = {
    "dialect": "duckdb",
    "tables": tables("duckdb"),
    "views": views("duckdb"),
    "tagged": tagged("duckdb"),
}


def nested(pair: tuple[str, str], depth: int) -> str:
    opening, closing = pair
    return f"SELECT {opening * depth}1{closing * depth}"


WIDE: dict[str, Callable[[int], str]] = {
    "columns": lambda size: f"SELECT {', '.join(['id'] * (size // 4))} FROM customers",
    "joins": lambda size: "SELECT 1 FROM orders" + " JOIN customers c USING (id)" * (size // 29),
    "a literal": lambda size: f"SELECT '{'x' * size}' FROM customers",
    "a comment": lambda size: f"SELECT id FROM customers -- {'x' * size}",
    "letters": lambda size: "é" * size,
    "no characters": lambda size: "\ud800" * size,
    "nothing": lambda size: "\0" * size,
    "quotes": lambda size: "'" * size,
    "semicolons": lambda size: ";" * size,
    "statements": lambda size: "SELECT 1;" * (size // 9),
}


async def looked(statement: str, dialect: Dialect = "duckdb") -> SQLReading:
    with anyio.fail_after(60):
        return await read_async(
            statement,
            dialect=dialect,
            tables=tables(dialect),
            views=views(dialect),
            tagged=tagged(dialect),
        )


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_is_nested_is_read_or_is_a_doubt(dialect: Dialect) -> None:
    misses: list[str] = []
    for kind, pair in PAIRS.items():
        await looked(nested(pair, 59), dialect)
        reading = await looked(nested(pair, DEEP.get(kind, 1_000)), dialect)
        if not reading.unresolved and pair[0][-1:] in {"(", "["}:
            misses.append(kind)
    assert not misses


@pytest.mark.slow
async def test_a_long_text_is_read_or_is_a_doubt() -> None:
    for write in WIDE.values():
        await looked(write(190_000))
    assert not [kind for kind, write in WIDE.items() if not (await looked(write(1_000_000))).unresolved]


async def test_the_event_loop_goes_on_while_a_statement_is_read() -> None:
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as others:
        others.start_soon(turn)
        await looked(WIDE["columns"](150_000))
        others.cancel_scope.cancel()
    assert turns > 20


async def test_many_at_once_are_all_answered() -> None:
    answers: list[SQLReading] = []

    async def ask(number: int) -> None:
        answers.append(
            await looked(f"SELECT email FROM customers WHERE {' OR '.join([f'id = {number}'] * 50)}")
        )

    async with anyio.create_task_group() as group:
        for number in range(30):
            group.start_soon(ask, number)
    assert len(answers) == 30
    assert all(answer.personal or answer.unresolved for answer in answers)
    assert any(answer.personal and not answer.unresolved for answer in answers)


async def test_what_takes_too_long_names_the_tagged_columns_in_its_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "LONG_READ_TIMEOUT", 0.02)
    reading = await looked(f"SELECT email, {', '.join(['id'] * 40_000)} FROM customers")
    assert reading.unresolved == ("it takes too long to read",)
    assert set(reading.personal) == {"main.customers.email"}


@pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is limited elsewhere by other means")
def test_what_takes_too_much_memory_is_a_doubt_and_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LONG_READ_TIMEOUT", 60)
    monkeypatch.setattr(worker, "MAX_MEMORY", 100 << 20)
    with pytest.raises(WorkerFailed, match=r"it cannot be read$"):
        read_in_process(WIDE["columns"](190_000), CATALOGUE)


def test_a_process_that_cannot_be_started_is_a_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(WorkerFailed, match="it cannot be read now"):
        read_in_process("SELECT 1", CATALOGUE)


def test_a_trivial_statement_is_short_and_shallow() -> None:
    assert is_trivial("SELECT id FROM customers WHERE id IN (1, 2)", "duckdb")
    assert not is_trivial("SELECT ARRAY[ARRAY[ARRAY[ARRAY[ARRAY[1]]]]]", "duckdb")
    assert not is_trivial("SELECT (((((((((1)))))))))", "duckdb")
    assert not is_trivial(f"SELECT {'1, ' * 300} 1", "duckdb")


def test_a_reading_of_a_worker_is_that_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "READ_TIMEOUT", 60)
    statement = "SELECT c.email FROM (SELECT * FROM people) c"
    long = f"{statement} WHERE {' AND '.join(['c.id = 1'] * 200)}"
    assert not is_trivial(long, "duckdb")
    assert look(long, "duckdb").personal == look(statement, "duckdb").personal
