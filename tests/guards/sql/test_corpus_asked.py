"""The corpora through the guard, against a catalogue that the live database tells: what runs there and reads a tagged
column is asked about by its name, and what is harmless is let through."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import duckdb
import pytest

from askback.guards.arguments import Risk
from askback.guards.sql import Dialect, SQLCatalogue, StatementAssessor
from askback.guards.sql.sources import Source, postgres
from askback.guards.sql.sources.duckdb import DuckDBSource
from askback.guards.sql.sources.sqlite import SQLiteSource
from tests.guards.sql.corpus_harmless import harmless
from tests.guards.sql.corpus_tricks import NOT_READ, tricks
from tests.guards.sql.shop import SCHEMA, script, tables, tagged, views
from tests.guards.sql.test_corpus import CANNOT_RUN, MOST_NEEDLESS, Undone

pytestmark = pytest.mark.slow

COLUMNS = {"email": "customers.email", "born": "customers.born", "Full Name": "Odd Ones.Full Name"}
EXAMPLES = {"contact": "ada@example.org", "birth": "1815-12-10", "name": "Ada Lovelace"}


def tags(dialect: Dialect) -> SQLCatalogue:
    return SQLCatalogue(tagged=tagged(dialect), examples=EXAMPLES)


def scales(dialect: Dialect, source: Source | SQLCatalogue) -> StatementAssessor:
    return StatementAssessor(dialect=dialect, catalogue=[source, tags(dialect)])


def shop(dialect: Dialect) -> SQLCatalogue:
    return SQLCatalogue(tables=tables(dialect), views=views(dialect))


def names(risk: Risk, column: str, dialect: Dialect) -> bool:
    """Whether the question has a line of its own for this column, with its tag and an example."""
    name = f"{SCHEMA[dialect]}.{COLUMNS[column]}"
    tag = tagged(dialect)[name]
    return f"- {name}: {tag}, such as {EXAMPLES[tag]}" in risk.message.splitlines()


async def check_trick(
    weighing: StatementAssessor, column: str, statement: str, dialect: Dialect
) -> list[str]:
    """Gives the statement that would run with a limit, where there is that choice."""
    risk = await weighing.assess(statement)
    if risk is None:
        assert statement in NOT_READ[dialect], statement
        return []
    if column not in CANNOT_RUN:
        assert names(risk, column, dialect), statement
    return [
        str(changed["statement"])
        for changed in (option.change({"statement": statement}) for option in risk.options)
    ]


async def needless(weighing: StatementAssessor, dialect: Dialect) -> list[str]:
    return [statement for statement in harmless(dialect) if await weighing.assess(statement) is not None]


async def test_a_trick_where_no_engine_can_run_it_yields_a_question_that_names_the_column() -> None:
    weighing = scales("trino", shop("trino"))
    for column, statement in tricks("trino"):
        await check_trick(weighing, column, statement, "trino")


async def test_of_the_harmless_statements_of_every_dialect_two_at_most_are_asked_about() -> None:
    asked = {
        statement
        for dialect in SCHEMA
        for statement in await needless(scales(dialect, shop(dialect)), dialect)
    }
    assert len(asked) <= MOST_NEEDLESS, asked


async def test_duckdb_runs_nothing_of_a_tagged_column_unasked() -> None:
    with duckdb.connect() as database:
        for statement in script("duckdb"):
            database.execute(statement)
        weighing = scales("duckdb", DuckDBSource(database))
        for column, statement in tricks("duckdb"):
            fewer = await check_trick(weighing, column, statement, "duckdb")
            if column not in CANNOT_RUN:
                compare(statement, fewer, lambda text: database.execute(text).fetchall())
        assert len(await needless(weighing, "duckdb")) <= MOST_NEEDLESS


async def test_sqlite_runs_nothing_of_a_tagged_column_unasked(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as database:
        for statement in script("sqlite"):
            database.execute(statement)
        weighing = scales("sqlite", SQLiteSource(tmp_path / "shop.db"))

        def run(text: str) -> list[Any]:
            rows: list[Any] = []
            for one in text.rstrip("; ").split(";"):
                rows = database.execute(one, {"a": 1} if "$a" in one else {}).fetchall()
            return rows

        for column, statement in tricks("sqlite"):
            fewer = await check_trick(weighing, column, statement, "sqlite")
            if column not in CANNOT_RUN:
                compare(statement, fewer, run)
        assert len(await needless(weighing, "sqlite")) <= MOST_NEEDLESS


def compare(statement: str, fewer: list[str], run: Callable[[str], list[Any]]) -> None:
    """Each for real and taken back. So small a shop gives the same with a limit as without."""
    results: list[list[Any]] = []
    for each in (statement, *fewer):
        run("BEGIN")
        results.append(sorted(run(each), key=repr))
        run("ROLLBACK")
    assert all(result == results[0] for result in results), statement


@pytest.mark.services
async def test_postgres_runs_nothing_of_a_tagged_column_unasked(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        async with Undone(connection):
            for statement in script("postgres"):
                await connection.execute(statement)
            weighing = scales("postgres", await kept(connection))
            for column, statement in tricks("postgres"):
                fewer = await check_trick(weighing, column, statement, "postgres")
                for each in (statement, *fewer) if column not in CANNOT_RUN else ():
                    async with Undone(connection):
                        await connection.execute(each)
            assert len(await needless(weighing, "postgres")) <= MOST_NEEDLESS
    finally:
        await connection.close()


async def kept(connection: "asyncpg.Connection[asyncpg.Record]") -> SQLCatalogue:
    """The catalogue of the live database, from within the transaction that made the shop."""
    async with Undone(connection):
        await connection.execute(postgres.FULL_NAMES)
        return await postgres.read(connection, comments=True)
