"""What is deep, long or made to run away: it is answered in bounded time, and the event loop goes on meanwhile."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from askback.guards.sql import Dialect, SQLReading, read_async
from askback.guards.sql import pool as pools
from askback.guards.sql.pool import POOL, WorkerFailed, WorkerPool, WorkerProcess
from askback.guards.sql.reader import is_trivial
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


CATALOGUE = {
    "dialect": "duckdb",
    "tables": tables("duckdb"),
    "views": views("duckdb"),
    "tagged": tagged("duckdb"),
}


def read_one(pool: WorkerPool) -> list[list[str]]:
    return pool.read("SELECT 1", "shop", CATALOGUE)


def idle_process(pool: WorkerPool) -> int:
    """The process that the pool would use next."""
    worker = pool._workers.queue[-1]  # pyright: ignore[reportPrivateUsage] # to do to it what a system would
    assert worker is not None
    return worker._process.pid  # pyright: ignore[reportPrivateUsage]


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


@pytest.fixture(scope="module", autouse=True)
def _workers_end() -> Iterator[None]:
    yield
    POOL.close()


async def looked(statement: str, dialect: Dialect = "duckdb") -> SQLReading:
    with anyio.fail_after(60):
        return await read_async(
            statement,
            dialect=dialect,
            tables=tables(dialect),
            views=views(dialect),
            tagged=tagged(dialect),
        )


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_is_nested_is_read_or_is_a_doubt(dialect: Dialect) -> None:
    misses: list[str] = []
    for kind, pair in PAIRS.items():
        for depth in (7, 59):
            await looked(nested(pair, depth), dialect)
        reading = await looked(nested(pair, 10_000), dialect)
        if not reading.unresolved and pair[0][-1:] in {"(", "["}:
            misses.append(kind)
    assert not misses


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
    monkeypatch.setattr(pools, "LONG_READ_TIMEOUT", 0.02)
    reading = await looked(f"SELECT email, {', '.join(['id'] * 40_000)} FROM customers")
    assert reading.unresolved == ("it takes too long to read",)
    assert set(reading.personal) == {"main.customers.email"}


def test_a_worker_that_was_killed_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "READ_TIMEOUT", 60)
    pool = WorkerPool()
    try:
        assert read_one(pool) == [[], [], []]
        os.kill(idle_process(pool), signal.SIGKILL)
        with pytest.raises(WorkerFailed) as failed:
            read_one(pool)
        assert not failed.value.is_final
        assert read_one(pool) == [[], [], []]
    finally:
        pool.close()


@pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is limited elsewhere by other means")
def test_what_takes_too_much_memory_is_a_doubt_and_not_the_end() -> None:
    import resource

    worker = WorkerProcess()
    try:
        process = worker._process.pid  # pyright: ignore[reportPrivateUsage]
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + (16 << 20)
        resource.prlimit(process, resource.RLIMIT_AS, (most, most))
        with pytest.raises(WorkerFailed, match=r"it cannot be read$") as failed:
            worker.ask({"statement": WIDE["columns"](190_000), "catalogue": CATALOGUE}, 60)
        assert failed.value.is_final
    finally:
        worker.end()


def test_a_worker_that_crashed_is_not_tried_again_with_the_same_statement() -> None:
    worker = WorkerProcess()
    os.kill(worker._process.pid, signal.SIGSEGV)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(WorkerFailed) as failed:
        worker.ask({"statement": "SELECT 1", "catalogue": CATALOGUE}, 60)
    assert str(failed.value) == "it cannot be read" and failed.value.is_final


def test_a_worker_reads_against_the_catalogue_of_each_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "READ_TIMEOUT", 60)
    pool = WorkerPool()
    other = {**CATALOGUE, "tables": {"main.planets": {"id": "INTEGER"}}, "views": {}, "tagged": {}}
    try:
        for _ in range(2):
            assert pool.read("SELECT id FROM orders", "shop", CATALOGUE) == [["main.orders.id"], [], []]
            assert pool.read("SELECT id FROM planets", "sky", other) == [["main.planets.id"], [], []]
    finally:
        pool.close()


def test_a_trivial_statement_is_short_and_shallow() -> None:
    assert is_trivial("SELECT id FROM customers WHERE id IN (1, 2)", "duckdb")
    assert not is_trivial("SELECT ARRAY[ARRAY[ARRAY[1]]]", "duckdb")
    assert not is_trivial("SELECT ((((((1))))))", "duckdb")
    assert not is_trivial(f"SELECT {'1, ' * 200} 1", "duckdb")


def test_a_reading_of_a_worker_is_that_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "READ_TIMEOUT", 60)
    statement = "SELECT c.email FROM (SELECT * FROM people) c"
    long = f"{statement} WHERE {' AND '.join(['c.id = 1'] * 100)}"
    assert not is_trivial(long, "duckdb")
    assert look(long, "duckdb").personal == look(statement, "duckdb").personal
    assert look(long, "duckdb") is look(long, "duckdb")


def test_a_process_ends_its_workers_and_warns_of_nothing() -> None:
    script = """
        from askback.guards.sql import read
        from askback.guards.sql.pool import POOL
        long = "SELECT 1 WHERE " + " OR ".join(["1 = 1"] * 200)
        assert read(long, dialect="duckdb", tables={}).is_clear
        print(POOL._workers.queue[-1]._process.pid)
    """
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "ResourceWarning" not in ran.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(ran.stdout), 0)


def test_a_forked_process_has_workers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "READ_TIMEOUT", 60)
    pool = WorkerPool()
    try:
        read_one(pool)
        process, workers = idle_process(pool), pool._workers  # pyright: ignore[reportPrivateUsage]
        pool.forget()
        assert read_one(pool) == [[], [], []] and idle_process(pool) != process
        os.kill(process, 0)
        pool.close()
        pool._workers = workers  # pyright: ignore[reportPrivateUsage]
    finally:
        pool.close()
