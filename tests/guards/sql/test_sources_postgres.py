"""The catalogue of a live Postgres."""

from collections.abc import AsyncGenerator

import asyncpg
import pytest

from askback.guards.sql import SQLCatalogue, StatementAssessor, read
from askback.guards.sql.engines.postgres import PostgresEngine
from askback.guards.sql.sources.postgres import PostgresSource

pytestmark = [pytest.mark.anyio, pytest.mark.services]

SCHEMA = "told"

MADE = """
DROP SCHEMA IF EXISTS told CASCADE;
CREATE SCHEMA told;
CREATE TABLE told.customers (id int, email text, born date);
COMMENT ON COLUMN told.customers.email IS 'For receipts. @personal:contact';
CREATE VIEW told.people (number, address) AS SELECT id, email FROM told.customers;
CREATE MATERIALIZED VIEW told.kept AS SELECT lower(email) AS small FROM told.customers;
CREATE TABLE told.visits (day date, guest text) PARTITION BY RANGE (day);
CREATE TABLE told.visits_2026 PARTITION OF told.visits FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE told.odd (id int, name text);
CREATE TABLE told.odder (extra text) INHERITS (told.odd);
CREATE TABLE told.marked (name text, tag text, example text);
INSERT INTO told.marked VALUES ('told.visits.guest', 'name', 'Ada');
"""


@pytest.fixture
async def url(postgres_url: str) -> AsyncGenerator[str]:
    connection = await asyncpg.connect(postgres_url)
    await connection.execute(MADE)
    yield postgres_url
    await connection.execute("DROP SCHEMA told CASCADE")
    await connection.close()


async def test_postgres_tells_its_tables_its_views_and_its_comments(url: str) -> None:
    known = await PostgresSource(url).load()
    assert known.tables["told.customers"] == {"id": "integer", "email": "text", "born": "date"}
    assert known.tagged["told.customers.email"] == "contact"
    for statement in ("SELECT address FROM told.people", "SELECT small FROM told.kept"):
        reading = read(
            statement, dialect="postgres", tables=known.tables, views=known.views, tagged=known.tagged
        )
        assert "told.customers.email" in reading.personal and not reading.unresolved


async def test_views_are_told_with_full_names_whatever_the_path_is(url: str) -> None:
    async def connect() -> "asyncpg.Connection[asyncpg.Record]":
        return await asyncpg.connect(url, server_settings={"search_path": SCHEMA})

    assert "told.customers" in (await PostgresSource(connect).load()).views["told.people"]


async def test_a_partition_has_the_tags_of_the_whole_and_a_question_names_them(url: str) -> None:
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool:
        scales = StatementAssessor(
            dialect="postgres", catalogue=PostgresSource(pool, tag_table="told.marked")
        )
        risk = await scales.assess("SELECT guest FROM told.visits_2026")
        assert risk is not None and "- told.visits_2026.guest: name, such as Ada" in risk.message
        assert await scales.assess("SELECT day FROM told.visits_2026") is None


@pytest.mark.parametrize(
    ("tag", "statement"),
    [
        ("visits.guest", "SELECT guest FROM told.visits_2026"),
        ("visits_2026.guest", "SELECT max(guest) FROM told.visits"),
        ("odd.name", "SELECT id FROM told.odder ORDER BY name"),
        ("odder.name", "SELECT name FROM told.odd"),
    ],
)
async def test_the_engine_knows_which_tables_share_rows(url: str, tag: str, statement: str) -> None:
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool:
        catalogue = SQLCatalogue(tagged={f"told.{tag}": "name"})
        scales = StatementAssessor(dialect="postgres", catalogue=catalogue, engine=PostgresEngine(pool))
        risk = await scales.assess(statement)
        assert risk is not None and risk.facts["personal"]
        assert await scales.assess("SELECT extra, id FROM told.odder") is None


async def test_where_postgres_cannot_be_reached_a_person_is_asked() -> None:
    scales = StatementAssessor(
        dialect="postgres", catalogue=PostgresSource("postgresql://nobody@127.0.0.1:1/x")
    )
    risk = await scales.assess("SELECT 1")
    assert risk is not None and "Nobody can tell what it touches" in risk.message
