"""Estimates of a real DuckDB, against what it holds."""

from collections.abc import Generator
from pathlib import Path

import anyio
import duckdb
import pytest

from askback.guards.cost import CostLimits, EstimateFailed
from askback.guards.cost.duckdb import DuckDBEstimator
from tests.guards.cost.shop import BROKEN, CUSTOMERS, ORDERS, PRODUCTS, READS, WRITES, check_rows, is_near
from tests.support.corpus import corpus

FILL = f"""
CREATE TABLE orders AS SELECT range::integer AS id, (range % {CUSTOMERS})::integer AS customer,
    'order number ' || range AS name, (range * 1.5)::double AS price FROM range({ORDERS});
CREATE TABLE customers AS SELECT range::integer AS id, 'customer ' || range AS name FROM range({CUSTOMERS});
CREATE VIEW dear AS SELECT o.id, o.name, o.customer FROM orders AS o WHERE price > 1000;
CREATE SEQUENCE counter;
CREATE TABLE "odd.name" AS SELECT {{'inner': 'text of a certain length'}} AS "Outer, Thing" FROM range(5000);
"""


@pytest.fixture(scope="module")
def connection() -> Generator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(FILL)
        yield connection


@pytest.fixture(scope="module")
def estimator(connection: duckdb.DuckDBPyConnection) -> DuckDBEstimator:
    return DuckDBEstimator(connection)


@corpus("statement", READS)
async def test_rows_are_those_that_are_read(estimator: DuckDBEstimator, statement: str):
    await check_rows(estimator, statement)


@corpus(
    ("statement", "width"),
    [
        ("select price from orders", "8"),
        ("select id from orders where price > 5", "4 + 8"),
        ("select name from orders", "strlen(name)"),
        ("select * from orders", "4 + 4 + strlen(name) + 8"),
    ],
)
async def test_bytes_are_those_of_the_columns_that_are_read(
    connection: duckdb.DuckDBPyConnection, estimator: DuckDBEstimator, statement: str, width: str
):
    truth = connection.cursor().execute(f"SELECT sum({width}) FROM orders").fetchall()[0][0]
    assert is_near((await estimator.estimate(statement)).bytes, float(truth))


async def test_names_that_need_quotes_and_fields_of_structs_are_found(estimator: DuckDBEstimator):
    estimate = await estimator.estimate('select "Outer, Thing".inner from "odd.name"')
    assert is_near(estimate.rows, 5000) and is_near(estimate.bytes, 5000 * 24)


@corpus("statement", PRODUCTS)
async def test_a_join_of_everything_with_everything_is_not_cheap(estimator: DuckDBEstimator, statement: str):
    estimate = await estimator.estimate(statement)
    assert is_near(estimate.widest, ORDERS**2)
    assert CostLimits(rows=100 * ORDERS).exceeded(estimate) == ("rows",)


async def test_a_limit_over_a_plain_scan_counts(estimator: DuckDBEstimator):
    most = ORDERS if duckdb.__version__.startswith("1.") else 130_000  # DuckDB 1 does not tell the limit
    assert CostLimits(rows=most).exceeded(await estimator.estimate("select name from orders limit 10")) == ()
    filtered = await estimator.estimate("select name from orders where name like '%7' limit 10")
    assert is_near(filtered.rows, ORDERS)


async def test_rows_that_are_made_up_count(estimator: DuckDBEstimator):
    assert is_near((await estimator.estimate("select * from range(7000000000)")).rows, 7e9)


@corpus(
    "statement",
    [
        "with recursive r as (select 1 as a union all select a + 1 from r) select * from r",
        "select * from orders o, range(o.id)",
    ],
)
async def test_what_only_the_data_can_tell_is_not_known(estimator: DuckDBEstimator, statement: str):
    assert CostLimits(rows=1e15).exceeded(await estimator.estimate(statement)) == ("rows",)


@corpus(
    "statement",
    [
        "select unnest(range(1000000000))",
        "select len(generate_series(1, 1000000000))",
        "select repeat('x', 1000000000)",
        "select repeat(repeat(repeat('x', 1000), 1000), 1000)",
        "select lpad('x', 1000000000, 'y')",
        "select list_resize([1], 1000000000)",
    ],
)
async def test_what_planning_itself_would_choke_on_is_not_planned(estimator: DuckDBEstimator, statement: str):
    with anyio.fail_after(1), pytest.raises(EstimateFailed, match="of any length"):
        await estimator.estimate(statement)


async def test_short_padding_is_planned(estimator: DuckDBEstimator):
    assert is_near((await estimator.estimate("select lpad(name, 20, ' ') from orders")).rows, ORDERS)


@corpus("source", ["'{file}'", '"{file}"', "read_csv('{file}')", "read_text('{file}')"])
async def test_a_file_is_not_opened_to_be_planned(estimator: DuckDBEstimator, tmp_path: Path, source: str):
    (file := tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    with pytest.raises(EstimateFailed, match=r"not known to be harmless|no table"):
        await estimator.estimate(f"select * from {source.format(file=file)}")


@corpus(
    "statement",
    [
        *BROKEN,
        "pivot orders on customer using sum(price)",
        "select * from (pivot orders on customer using sum(price))",
        "with p as (pivot orders on customer using sum(price)) select * from p",
        "call pragma_version()",
        "from query('select 1')",
    ],
)
async def test_what_cannot_be_planned_gives_no_estimate(estimator: DuckDBEstimator, statement: str):
    with pytest.raises(EstimateFailed):
        await estimator.estimate(statement)


@corpus("statement", WRITES)
async def test_a_write_is_planned_and_not_done(
    connection: duckdb.DuckDBPyConnection, estimator: DuckDBEstimator, statement: str
):
    before = connection.cursor().execute("SELECT * FROM customers ORDER BY id").fetchall()
    assert is_near((await estimator.estimate(statement)).rows, CUSTOMERS)
    assert connection.cursor().execute("SELECT * FROM customers ORDER BY id").fetchall() == before


async def test_a_sequence_is_not_moved(connection: duckdb.DuckDBPyConnection, estimator: DuckDBEstimator):
    for statement in ("select nextval('counter')", "insert into customers select nextval('counter'), 'x'"):
        with pytest.raises(EstimateFailed, match="not known to be harmless"):
            await estimator.estimate(statement)
    assert connection.cursor().execute("SELECT last_value FROM duckdb_sequences()").fetchall() == [(None,)]


async def test_a_file_is_opened_for_reading_alone(tmp_path: Path):
    with duckdb.connect(tmp_path / "shop.db") as writing:
        writing.execute(FILL)
    estimator = DuckDBEstimator(tmp_path / "shop.db")
    assert is_near((await estimator.estimate("select * from orders")).rows, ORDERS)
    with pytest.raises(EstimateFailed):
        await estimator.estimate("delete from orders")


async def test_a_closed_connection_gives_no_estimate():
    connection = duckdb.connect()
    connection.close()
    with pytest.raises(EstimateFailed):
        await DuckDBEstimator(connection).estimate("select 1")


async def test_a_file_that_is_not_there_gives_no_estimate(tmp_path: Path):
    with pytest.raises(EstimateFailed):
        await DuckDBEstimator(tmp_path / "nowhere.db").estimate("select 1")


async def test_many_may_ask_at_once(estimator: DuckDBEstimator):
    async def ask() -> None:
        assert is_near((await estimator.estimate("select * from orders")).rows, ORDERS)

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(ask)


async def test_planning_that_takes_too_long_is_cut_short(connection: duckdb.DuckDBPyConnection):
    joined = " ".join(
        f"join customers c{n} on c{n}.id = c{n - 1}.id and c{n}.name > c0.name" for n in range(1, 60)
    )
    with anyio.fail_after(20), pytest.raises(EstimateFailed, match="too long"):
        await DuckDBEstimator(connection, timeout=0.01).estimate(f"select 1 from customers c0 {joined}")
    assert connection.cursor().execute("SELECT 1").fetchall() == [(1,)]
