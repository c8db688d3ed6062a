"""The corpora: what tries to read a tagged column is named, what is harmless passes, and the engines take both."""

import sqlite3
from collections.abc import Callable

import asyncpg
import duckdb
import pytest

from askback.guards.sql import Dialect
from tests.guards.sql.corpus_harmless import harmless
from tests.guards.sql.corpus_tricks import tricks
from tests.guards.sql.shop import look, personal, script

DIALECTS: tuple[Dialect, ...] = ("duckdb", "postgres", "sqlite", "trino")

MOST_NEEDLESS = 0

CANNOT_RUN = {"?"}
"""Under this stand statements that name what is not there, or that an engine is not let do."""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_tagged_column_is_not_read_unnoticed(dialect: Dialect) -> None:
    for column, statement in tricks(dialect):
        reading = look(statement, dialect)
        assert reading.unresolved if column == "?" else column in personal(reading), statement


def test_the_tricks_are_many() -> None:
    assert len({statement for dialect in DIALECTS for _, statement in tricks(dialect)}) >= 200


def test_harmless_statements_pass_without_a_question() -> None:
    statements: list[tuple[Dialect, str]] = [
        (dialect, statement) for dialect in DIALECTS for statement in harmless(dialect)
    ]
    needless = [statement for dialect, statement in statements if not look(statement, dialect).is_clear]
    assert len({statement for _, statement in statements}) >= 100
    assert len(needless) <= MOST_NEEDLESS, needless


def runnable(dialect: Dialect) -> list[str]:
    return [text for column, text in tricks(dialect) if column not in CANNOT_RUN] + harmless(dialect)


def run_all(statements: list[str], run: Callable[[str], object]) -> None:
    """Each in a transaction that is taken back."""
    for statement in statements:
        run("BEGIN")
        run(statement)
        run("ROLLBACK")


def test_duckdb_takes_the_corpora() -> None:
    with duckdb.connect() as database:
        for statement in script("duckdb"):
            database.execute(statement)
        run_all(runnable("duckdb"), lambda statement: database.execute(statement).fetchall())


def test_sqlite_takes_the_corpora() -> None:
    database = sqlite3.connect(":memory:", isolation_level=None)

    def run(text: str) -> None:
        for statement in text.split(";"):
            database.execute(statement, {"a": 1} if "$a" in statement else {}).fetchall()

    for statement in script("sqlite"):
        run(statement)
    run_all(runnable("sqlite"), run)
    database.close()


@pytest.mark.services
async def test_postgres_takes_the_corpora(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        async with Undone(connection):
            for statement in script("postgres"):
                await connection.execute(statement)
            for statement in runnable("postgres"):
                async with Undone(connection):
                    await connection.execute(statement)
    finally:
        await connection.close()


class Undone:
    """A transaction, or a part of one, that is taken back."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._transaction = connection.transaction()

    async def __aenter__(self) -> None:
        await self._transaction.start()

    async def __aexit__(self, *_: object) -> None:
        await self._transaction.rollback()
