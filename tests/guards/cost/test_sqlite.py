"""Estimates of a real SQLite, against what it holds."""

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from askback.guards.cost import CostLimits, EstimateFailed
from askback.guards.cost.sqlite import SQLiteEstimator
from tests.guards.cost.shop import BROKEN, CUSTOMERS, ORDERS, PRODUCTS, READS, WRITES, check_rows, is_near
from tests.support.corpus import corpus

FILL = f"""
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, name TEXT, price REAL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {ORDERS} - 1)
    INSERT INTO orders SELECT i, i % {CUSTOMERS}, 'order number ' || i, i * 1.5 FROM n;
INSERT INTO customers SELECT id, 'customer ' || id FROM orders WHERE id < {CUSTOMERS};
CREATE VIEW dear AS SELECT o.id, o.name, o.customer FROM orders AS o WHERE price > 1000;
CREATE TABLE sparse (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO sparse SELECT id * 1000003, name FROM orders WHERE id < 20000;
CREATE TABLE rowless (name TEXT PRIMARY KEY, price REAL) WITHOUT ROWID;
INSERT INTO rowless SELECT name, price FROM orders WHERE id < 50000;
CREATE TABLE visits (customer INTEGER, day INTEGER);
INSERT INTO visits SELECT customer, id FROM orders WHERE id < 50000;
CREATE INDEX visits_of ON visits (customer);
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("shop") / "shop.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(FILL)
    return file


@pytest.fixture(scope="module")
def estimator(file: Path) -> SQLiteEstimator:
    return SQLiteEstimator(file)


@corpus("statement", READS)
async def test_rows_are_those_that_are_read(estimator: SQLiteEstimator, statement: str):
    await check_rows(estimator, statement)


@corpus(
    ("statement", "truth"),
    [
        ("select * from sparse", 20_000),
        ("select * from rowless", 50_000),
        ("select * from orders where id = 77", 1),
        ("select * from orders where id in (1, 2, 3, 4)", 4),
        ("select * from customers as c where c.name = 'customer 7'", 1),
        ("select * from visits where customer = 7", 50),
        ("select * from visits where customer = 7 or customer = 9", 100),
        ("select c.name, v.day from customers c join visits v on v.customer = c.id", 51_000),
        ("select (select count(*) from visits v where v.customer = c.id) from customers c", 51_000),
    ],
)
async def test_an_index_is_followed(estimator: SQLiteEstimator, statement: str, truth: float):
    assert is_near((await estimator.estimate(statement)).rows, truth)


async def test_statistics_are_stretched_to_the_size_of_now(tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.executescript(FILL + "ANALYZE;")
        connection.executescript("INSERT INTO visits SELECT customer, id + 1000000 FROM orders;")
    estimate = await SQLiteEstimator(tmp_path / "shop.db").estimate("select * from visits where customer = 7")
    assert is_near(estimate.rows, 250)


async def test_bytes_are_those_of_the_rows(file: Path, estimator: SQLiteEstimator):
    with closing(sqlite3.connect(file)) as connection:
        (truth,) = connection.execute("SELECT sum(pgsize) FROM dbstat WHERE name = 'orders'").fetchone()
    assert is_near((await estimator.estimate("select * from orders")).bytes, truth)


@corpus("statement", [*PRODUCTS, "select (select max(name) from orders where price > c.id) from orders c"])
async def test_a_join_of_everything_with_everything_is_not_cheap(estimator: SQLiteEstimator, statement: str):
    estimate = await estimator.estimate(statement)
    assert is_near(estimate.widest, ORDERS**2)
    assert CostLimits(rows=100 * ORDERS).exceeded(estimate) == ("rows",)


@corpus(
    "statement",
    [
        "with recursive r (a) as (select 1 union all select a + 1 from r) select * from r",
        "select * from json_each('[1, 2]')",
    ],
)
async def test_what_only_the_data_can_tell_is_not_known(estimator: SQLiteEstimator, statement: str):
    assert CostLimits(rows=1e15).exceeded(await estimator.estimate(statement)) == ("rows",)


@corpus(
    "statement", [*BROKEN, "pragma journal_mode = wal", "attach 'other.db' as other", "vacuum", "reindex"]
)
async def test_what_cannot_be_planned_gives_no_estimate(estimator: SQLiteEstimator, statement: str):
    with pytest.raises(EstimateFailed):
        await estimator.estimate(statement)


@corpus(
    "statement",
    [
        'select * from orders as "2 CONSTANT ROWS"',
        'select * from customers as x, orders as "x USING INTEGER PRIMARY KEY (rowid=?)"',
        'with "x AS customers" as materialized (select * from orders) select * from "x AS customers"',
    ],
)
async def test_no_name_talks_a_plan_small(estimator: SQLiteEstimator, statement: str):
    with pytest.raises(EstimateFailed, match="confuses"):
        await estimator.estimate(statement)


async def test_an_alias_that_is_a_small_tables_name_stands_for_the_large_one(estimator: SQLiteEstimator):
    assert is_near((await estimator.estimate("select * from orders as customers")).rows, ORDERS)


@corpus("statement", WRITES)
async def test_a_write_is_planned_and_not_done(file: Path, estimator: SQLiteEstimator, statement: str):
    before = await anyio.Path(file).read_bytes()
    assert is_near((await estimator.estimate(statement)).rows, CUSTOMERS)
    assert await anyio.Path(file).read_bytes() == before


async def test_a_database_that_is_not_there_is_not_made(tmp_path: Path):
    with pytest.raises(EstimateFailed):
        await SQLiteEstimator(tmp_path / "nowhere.db").estimate("select 1")
    assert not await anyio.Path(tmp_path / "nowhere.db").exists()


async def test_a_locked_database_gives_no_estimate(tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as writing:
        writing.execute("CREATE TABLE t (a)")
        writing.execute("BEGIN EXCLUSIVE")
        with pytest.raises(EstimateFailed, match="locked"):
            await SQLiteEstimator(tmp_path / "shop.db", timeout=0.1).estimate("select * from t")
