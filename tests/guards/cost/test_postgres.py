"""Estimates of a real Postgres, against what it holds."""

from collections.abc import AsyncGenerator
from urllib.parse import urlsplit, urlunsplit

import anyio
import asyncpg
import pytest

from askback.guards.cost import CostLimits, EstimateFailed
from askback.guards.cost.postgres import PostgresEstimator
from tests.guards.cost.shop import BROKEN, CUSTOMERS, ORDERS, PRODUCTS, READS, WRITES, check_rows, is_near
from tests.support.corpus import corpus
from tests.support.stores.postgres import Shell, shell

pytestmark = pytest.mark.services

DATABASE = "cost"

FILL = f"""
CREATE TABLE orders (id integer PRIMARY KEY, customer integer, name text, price double precision);
INSERT INTO orders SELECT i, i % {CUSTOMERS}, 'order number ' || i, i * 1.5 FROM generate_series(0, {ORDERS} - 1) AS i;
CREATE TABLE customers (id integer PRIMARY KEY, name text);
INSERT INTO customers SELECT i, 'customer ' || i FROM generate_series(0, {CUSTOMERS} - 1) AS i;
CREATE VIEW dear AS SELECT o.id, o.name, o.customer FROM orders AS o WHERE price > 1000;
CREATE TABLE parts (id integer, name text) PARTITION BY RANGE (id);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (5000);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (5000) TO (10000);
INSERT INTO parts SELECT i, 'part ' || i FROM generate_series(0, 9999) AS i;
CREATE TABLE fresh WITH (autovacuum_enabled = off) AS SELECT * FROM customers;
CREATE SEQUENCE counter;
CREATE FUNCTION counted(integer) RETURNS bigint LANGUAGE plpgsql AS
    $$ BEGIN RETURN (SELECT count(*) FROM orders WHERE customer = $1); END $$;
CREATE FUNCTION "Counted Too"(integer) RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT count(*) FROM orders WHERE customer = $1 $$;
CREATE FUNCTION stepped(bigint, integer) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN $1 + counted($2); END $$;
CREATE AGGREGATE added(integer) (SFUNC = stepped, STYPE = bigint, INITCOND = '0');
CREATE FUNCTION compared(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN counted(1) > 0; END $$;
CREATE OPERATOR <#=#> (LEFTARG = text, RIGHTARG = text, FUNCTION = compared);
CREATE VIEW likened AS SELECT * FROM customers WHERE name <#=#> 'x';
CREATE VIEW veiled AS SELECT counted(id) AS orders FROM customers;
CREATE FUNCTION sneaky() RETURNS integer IMMUTABLE LANGUAGE plpgsql AS
    $$ BEGIN PERFORM nextval('counter'); EXECUTE 'DELETE FROM customers'; RETURN 1; END $$;
CREATE FUNCTION endless() RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN 1; END $$;
ANALYZE orders; ANALYZE customers; ANALYZE parts;
"""


@pytest.fixture(scope="module")
async def url(postgres_url: str) -> str:
    async with shell(postgres_url) as connection:
        await connection.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        await connection.execute(f"CREATE DATABASE {DATABASE}")
    own = urlunsplit(urlsplit(postgres_url)._replace(path=f"/{DATABASE}"))
    async with shell(own) as connection:
        await connection.execute(FILL)
    return own


@pytest.fixture(scope="module")
def estimator(url: str) -> PostgresEstimator:
    return PostgresEstimator(url)


@pytest.fixture
async def beside(url: str) -> AsyncGenerator[Shell]:
    async with shell(url) as connection:
        yield connection


@corpus("statement", READS)
async def test_rows_are_those_that_are_read(estimator: PostgresEstimator, statement: str):
    await check_rows(estimator, statement)


@corpus(
    ("statement", "truth"),
    [
        ("select * from orders where id = 77", 1),
        ("select * from orders where id between 1000 and 1999", 1000),
        ("select name from parts", 10_000),
        ("select name from parts where id < 100", 5000),
        ("select * from fresh", CUSTOMERS),
        ("select * from orders limit 100", 100),
        ("select * from orders limit 100 offset 50000", 50_100),
        ("select c.name, (select o.name from orders o where o.id = c.id) from customers c", 2 * CUSTOMERS),
        ("select name from customers where name not in (select name from orders)", ORDERS + CUSTOMERS),
        (
            "select (select max(price) from orders o where o.name = c.name) from customers c",
            ORDERS * CUSTOMERS,
        ),
    ],
)
async def test_scans_count_as_often_as_they_run(estimator: PostgresEstimator, statement: str, truth: float):
    assert is_near((await estimator.estimate(statement)).rows, truth)


async def test_a_filter_behind_an_index_hides_nothing(estimator: PostgresEstimator):
    estimate = await estimator.estimate("select * from orders where id < 20000 and name like '%xyz%'")
    assert estimate.rows is not None and estimate.rows >= 20_000 / 3


@corpus(
    "statement",
    [
        "select (select max(price) from orders o where o.name = c.name) from customers c "
        "where c.name <> 'hashed SubPlan 1' and c.name <> '(hashed SubPlan 2)'",
        'select (select max(price) from orders o where o.name = "hashed SubPlan 2".name) '
        'from customers as "hashed SubPlan 2"',
        'select (select max(price) from orders o where o.name = "hashed SubPlan 1".name) '
        'from customers as "hashed SubPlan 1"',
    ],
)
async def test_no_text_or_name_claims_that_a_subquery_runs_once(estimator: PostgresEstimator, statement: str):
    assert is_near((await estimator.estimate(statement)).rows, ORDERS * CUSTOMERS)


async def test_bytes_are_those_of_the_pages(estimator: PostgresEstimator, beside: Shell):
    truth = await beside.fetchval("SELECT pg_relation_size('orders')")
    assert is_near((await estimator.estimate("select count(name) from orders")).bytes, float(truth))


@corpus("statement", PRODUCTS)
async def test_a_join_of_everything_with_everything_is_not_cheap(
    estimator: PostgresEstimator, statement: str
):
    estimate = await estimator.estimate(statement)
    assert is_near(estimate.widest, ORDERS**2)
    assert CostLimits(rows=100 * ORDERS).exceeded(estimate) == ("rows",)


@corpus(
    "statement", ["select * from generate_series(1, 7000000000)", "select generate_series(1, 7000000000)"]
)
async def test_rows_that_are_made_up_count(estimator: PostgresEstimator, statement: str):
    assert is_near((await estimator.estimate(statement)).widest, 7e9)


async def test_a_recursion_is_not_known(estimator: PostgresEstimator):
    estimate = await estimator.estimate(
        "with recursive r as (select 1 as a union all select a + 1 from r) select a from r"
    )
    assert CostLimits(rows=1e15).exceeded(estimate) == ("rows",)


@corpus(
    "statement",
    [
        "select counted(5)",
        "select name from customers where counted(id) > 5",
        "select * from customers order by counted(id)",
        "select * from customers c, lateral counted(c.id)",
        'select "Counted Too"(5)',
        "select * from veiled",
        "select added(id) from customers",
        "select * from likened",
        "select * from generate_series(1, (select max(id) from orders))",
        "select generate_series(1, id) from customers",
    ],
)
async def test_what_no_plan_shows_gives_no_estimate(estimator: PostgresEstimator, statement: str):
    with pytest.raises(EstimateFailed, match=r"is in no plan|is not known"):
        await estimator.estimate(statement)


@corpus("statement", [*BROKEN, "select $1::integer", "copy orders to '/tmp/x'", "execute p", "call p()"])
async def test_what_cannot_be_planned_gives_no_estimate(estimator: PostgresEstimator, statement: str):
    with pytest.raises(EstimateFailed):
        await estimator.estimate(statement)


@corpus("statement", [*WRITES, "insert into customers select nextval('counter') + 5000, 'x' from customers"])
async def test_a_write_is_planned_and_not_done(estimator: PostgresEstimator, beside: Shell, statement: str):
    before = await beside.fetch("SELECT * FROM customers ORDER BY id")
    assert is_near((await estimator.estimate(statement)).rows, CUSTOMERS)
    assert await beside.fetch("SELECT * FROM customers ORDER BY id") == before
    assert await beside.fetchval("SELECT is_called FROM counter") is False


async def test_a_function_that_planning_would_run_is_not_planned(estimator: PostgresEstimator, beside: Shell):
    with pytest.raises(EstimateFailed, match="sneaky reads or does is not known"):
        await estimator.estimate("select sneaky()")
    assert await beside.fetchval("SELECT count(*) FROM customers") == CUSTOMERS
    assert await beside.fetchval("SELECT is_called FROM counter") is False


async def test_what_the_caller_has_inspected_is_planned_in_a_transaction_that_writes_nothing(
    estimator: PostgresEstimator, beside: Shell
):
    with pytest.raises(EstimateFailed, match="read-only"):
        await estimator.price("select sneaky()")
    assert await beside.fetchval("SELECT count(*) FROM customers") == CUSTOMERS


async def test_a_function_that_does_not_end_is_cut_short(url: str):
    with anyio.fail_after(10), pytest.raises(EstimateFailed, match="too long"):
        await PostgresEstimator(url, timeout=0.3).price("select endless()")


async def test_a_table_that_somebody_holds_is_not_waited_for(url: str, beside: Shell):
    async with beside.transaction():
        await beside.execute("LOCK TABLE fresh IN ACCESS EXCLUSIVE MODE")
        with anyio.fail_after(10), pytest.raises(EstimateFailed, match="too long"):
            await PostgresEstimator(url, timeout=0.3).estimate("select * from fresh")


async def test_a_server_that_is_away_gives_no_estimate():
    with pytest.raises(EstimateFailed):
        await PostgresEstimator("postgresql://askback@127.0.0.1:1/askback").estimate("select 1")


async def test_a_pool_is_lent_from_and_given_back(url: str):
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool:
        estimator = PostgresEstimator(pool)
        for _ in range(3):
            assert is_near((await estimator.estimate("select * from orders")).rows, ORDERS)
            with pytest.raises(EstimateFailed):
                await estimator.estimate("select * from nowhere")
        assert await pool.fetchval("SHOW transaction_read_only") == "off"
        assert await pool.fetchval("SHOW statement_timeout") == "0"


async def test_a_closed_pool_gives_no_estimate(url: str):
    pool = await asyncpg.create_pool(url, min_size=1, max_size=1)
    await pool.close()
    with pytest.raises(EstimateFailed):
        await PostgresEstimator(pool).estimate("select 1")
