"""The oracle against the engines for a fixed time, and whether it can see at all."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.guards.sql.oracle.batches import Batch, find_in, write_statements
from tests.guards.sql.oracle.engines import Blind, Suspicious
from tests.guards.sql.oracle.minimum import minimise
from tests.guards.sql.oracle.oracle import Findings, find_leak, find_leaks
from tests.guards.sql.oracle.relations import Dialect
from tests.guards.sql.oracle.repeats import GIVEN_UP, find_slow
from tests.guards.sql.oracle.script import full_name
from tests.guards.sql.oracle.twins import AnyTwins, create_databases, open_twins

pytestmark = pytest.mark.slow

BATCHES, BATCH_SIZE = 2, 250
"""For each engine. `make soak` has 230,000 statements instead."""

HARMLESS = 100
"""Statements in each batch of which nothing should depend on tagged values, before a look at both databases."""

MAX_NEEDLESS_PERCENT = 2.0

REPEATS = 60
"""Of the shapes of which `make soak` has 20,000."""

DIALECTS = [
    pytest.param("duckdb"),
    pytest.param("sqlite"),
    pytest.param("postgres", marks=pytest.mark.services),
]

QUOTED: dict[Dialect, list[str]] = {
    "duckdb": [
        "SELECT 'x' AS z\u2060UNION\u2060ALL\u2060SELECT\u2060email\u2060FROM\u2060customers",
        "SELECT * EXCLUDE (email, born) FROM (SELECT *, email FROM customers) x",
        "SELECT count(*) FROM (SELECT NULL::UUID AS a UNION ALL SELECT email FROM customers)",
        "SELECT decode('\\xff'::BLOB, (SELECT #3 FROM customers OFFSET 3 LIMIT 1))",
    ],
    "postgres": [
        "SELECT (SELECT c.email FROM (SELECT 1 AS c) x) FROM customers c",
        "SELECT id.to_json FROM customers AS id",
    ],
    "sqlite": [
        "SELECT (SELECT c.email FROM (SELECT 1 AS c) x) FROM customers c",
        "SELECT $x('), email FROM customers --')",
    ],
}
"""What a guard that parsed by itself let through."""


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return request.param


@pytest.fixture
async def url(dialect: Dialect, request: pytest.FixtureRequest) -> str | None:
    if dialect != "postgres":
        return None
    url: str = request.getfixturevalue("postgres_url")
    await create_databases(url)
    return url


@pytest.fixture
async def twins(dialect: Dialect, url: str | None, tmp_path: Path) -> AsyncGenerator[AnyTwins]:
    async with open_twins(dialect, tmp_path, url) as twins:
        yield twins


@pytest.fixture
def seed() -> str:
    """The same in every run, so that a change that others made is judged alike; `make soak` draws a new one."""
    seed = os.environ.get("ASKBACK_SEED", "17")
    sys.stdout.write(f"ASKBACK_SEED={seed}\n")
    return seed


async def test_no_statement_tells_the_databases_apart_unasked(dialect: Dialect, url: str | None, seed: str):
    findings = Findings()
    for number in range(BATCHES):
        batch = Batch(dialect=dialect, seed=f"{seed}/{number}", count=BATCH_SIZE, harmless=HARMLESS, url=url)
        findings.add(await find_in(batch))
    assert not findings.leaks, "\n".join(map(str, findings.leaks))
    assert not findings.failures, "\n".join(findings.failures)
    assert findings.valid >= findings.statements * 0.8, str(findings)
    assert findings.harmless >= BATCHES * 80, str(findings)
    assert findings.needless_percent <= MAX_NEEDLESS_PERCENT, "\n".join([str(findings), *findings.needless])


async def test_the_oracle_sees_what_nobody_reports(dialect: Dialect, twins: AnyTwins):
    statements = write_statements(dialect, "blind")
    findings = await find_leaks(Blind(), twins, [next(statements) for _ in range(400)])
    assert len(findings.leaks) >= 40, str(findings)
    assert findings.valid >= 0.8 * findings.statements, str(findings)


async def test_what_is_asked_about_is_no_leak(dialect: Dialect, twins: AnyTwins):
    statements = write_statements(dialect, "suspicious")
    findings = await find_leaks(Suspicious(), twins, [next(statements) for _ in range(100)])
    assert findings.asked == findings.doubted == 100
    assert not findings.leaks


async def test_the_statements_that_once_got_through_are_leaks_to_it(dialect: Dialect, twins: AnyTwins):
    taken = [statement for statement in QUOTED[dialect] if (await twins.run(statement)).is_accepted]
    assert len(taken) >= len(QUOTED[dialect]) - 1  # DuckDB 1 has no `decode` with two arguments
    for statement in taken:
        assert await find_leak(Blind(), twins, statement), statement


async def test_every_tagged_column_differs_and_nothing_else(dialect: Dialect, twins: AnyTwins):
    for table in twins.shop.tables:
        for stored in table.columns:
            statement = f'SELECT "{stored.name}" FROM {full_name(table)}'
            is_leak = await find_leak(Blind(), twins, statement) is not None
            assert is_leak == (stored.column.is_tagged or table.has_tagged_rows), statement


async def test_harmless_statements_have_one_outcome(dialect: Dialect, twins: AnyTwins):
    statements = write_statements(dialect, "harmless", is_harmless=True)
    findings = await find_leaks(Blind(), twins, [next(statements) for _ in range(300)])
    assert len(findings.leaks) <= 3, "\n".join(map(str, findings.leaks))
    assert findings.valid >= 0.8 * findings.statements, str(findings)


async def test_one_seed_writes_one_series_of_statements(dialect: Dialect):
    one, other = (write_statements(dialect, "9") for _ in range(2))
    assert [next(one) for _ in range(50)] == [next(other) for _ in range(50)]


async def test_a_leak_is_shown_with_as_few_words_as_leak():
    async with open_twins("duckdb", Path(), None) as twins:
        found = await find_leak(
            Blind(), twins, "SELECT id, lower(email) AS e FROM customers WHERE id > 1 ORDER BY 2"
        )
        assert found
        smaller = await minimise(found, Blind(), twins)
    assert len(smaller.statement.split()) <= 5, smaller.statement


async def test_a_statement_that_does_not_end_is_stopped():
    endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t"
    async with open_twins("duckdb", Path(), None) as twins:
        outcome = await asyncio.wait_for(twins.run(endless), 20)
    assert outcome.is_stopped


async def test_nothing_that_is_repeated_keeps_an_inspection_from_its_end(
    dialect: Dialect, url: str | None, seed: str
):
    failures = await asyncio.to_thread(find_slow, dialect, url, seed, REPEATS, GIVEN_UP)
    assert not failures, "\n".join(failures)
