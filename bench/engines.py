"""What a guard before SQL costs where the engine says what a statement reads: against the statement's own EXPLAIN.

Both sides do what a server has to do: not block the event loop. DuckDB and SQLite work in a thread, Postgres by a pool.
"""

import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import asyncpg
import duckdb
from anyio import to_thread

from askback.guards.sql import SQLCatalogue, StatementAssessor
from askback.guards.sql.sources import Source
from askback.guards.sql.sources.duckdb import DuckDBSource
from askback.guards.sql.sources.postgres import PostgresSource
from askback.guards.sql.sources.sqlite import SQLiteSource
from bench.blocks import Call
from bench.contests import Target
from bench.growth import Growth
from scripts.services.postgres import postgres_server

EMBEDDED, SERVER, SEEN = Target(ratio=2.0), Target(ratio=3.0), Target(ratio=1.3)

SCRIPT = (
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(80), email VARCHAR(80), country VARCHAR(2))",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total DOUBLE PRECISION, day DATE, "
    "status VARCHAR(9))",
    "CREATE TABLE countries (code VARCHAR(2) PRIMARY KEY, title VARCHAR(40))",
    "CREATE VIEW people AS SELECT * FROM customers",
)

SHORT = "SELECT id, total AS total{number} FROM orders WHERE status = 's{number}'"
JOINED = """
WITH spending AS (
    SELECT o.customer_id, sum(o.total) AS spent, max(o.day) AS latest FROM orders AS o
    WHERE o.status <> 'void {number}' GROUP BY o.customer_id HAVING sum(o.total) > 100
)
SELECT p.country, n.title, sum(s.spent) AS spent{number}, max(s.latest) AS latest
FROM spending AS s JOIN people AS p ON p.id = s.customer_id JOIN countries AS n ON n.code = p.country
WHERE n.code IN ('NL', 'BE') GROUP BY p.country, n.title ORDER BY spent{number} DESC
"""
"""The alias makes each statement one of another shape: no cache knows it."""

NUMBERS = count()
TAGS = SQLCatalogue(tagged={"customers.name": "names", "customers.email": "contact"})

Sides = Callable[[str, bool], AbstractAsyncContextManager[tuple[Call, Call]]]


def engine_growths() -> list[Growth]:
    """New statements and one seen before, on each engine."""
    return [
        Growth(
            name=f"guards/{engine.lower()}/{what}",
            much=f"guard SQL on {engine}, {what}",
            little="its EXPLAIN",
            target=SEEN if is_seen else target,
            clock=perf_counter,
            sides=partial(sides, text, is_seen),
        )
        for engine, target, sides in (
            ("DuckDB", EMBEDDED, _duckdb),
            ("SQLite", EMBEDDED, _sqlite),
            ("Postgres", SERVER, _postgres),
        )
        for what, text, is_seen in (
            ("short", SHORT, False),
            ("joins", JOINED, False),
            ("short, seen before", SHORT, True),
            ("joins, seen before", JOINED, True),
        )
    ]


@asynccontextmanager
async def _duckdb(text: str, is_seen: bool) -> AsyncGenerator[tuple[Call, Call]]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "shop.duckdb"
        with closing(duckdb.connect(str(path))) as made:
            for statement in SCRIPT:
                made.execute(statement)
        with closing(duckdb.connect(str(path), read_only=True)) as connection:

            def explain(statement: str) -> object:
                with closing(connection.cursor()) as cursor:
                    return cursor.execute(f"EXPLAIN {statement}").fetchall()

            weigh = _weighing(
                StatementAssessor(dialect="duckdb", catalogue=_catalogue(DuckDBSource(connection))),
                text,
                is_seen,
            )
            yield weigh, _explaining(explain, text)


@asynccontextmanager
async def _sqlite(text: str, is_seen: bool) -> AsyncGenerator[tuple[Call, Call]]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "shop.db"
        with closing(sqlite3.connect(path)) as made:
            for statement in SCRIPT:
                made.execute(statement)
            made.commit()

        def explain(statement: str) -> object:
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
                return connection.execute(f"EXPLAIN {statement}").fetchall()

        source = SQLiteSource(path)
        weigh = _weighing(StatementAssessor(dialect="sqlite", catalogue=_catalogue(source)), text, is_seen)
        yield weigh, _explaining(explain, text)


@asynccontextmanager
async def _postgres(text: str, is_seen: bool) -> AsyncGenerator[tuple[Call, Call]]:
    with postgres_server() as server:
        async with asyncpg.create_pool(server.url, min_size=1, max_size=2) as pool:
            for statement in SCRIPT:
                await pool.execute(statement)

            async def explain() -> None:
                await pool.fetch(f"EXPLAIN {text.format(number=next(NUMBERS))}")

            scales = StatementAssessor(dialect="postgres", catalogue=_catalogue(PostgresSource(pool)))
            yield _weighing(scales, text, is_seen), explain


def _catalogue(source: Source) -> list[Source | SQLCatalogue]:
    return [source, TAGS]


def _weighing(scales: StatementAssessor, text: str, is_seen: bool) -> Call:
    """All that a guard does until it is clear that nobody has to be asked."""
    same = text.format(number=0)

    async def weigh() -> None:
        risk = await scales.assess(same if is_seen else text.format(number=next(NUMBERS)))
        if risk is not None:
            raise RuntimeError(f"The guard asks about a harmless statement: {risk.message}")

    return weigh


def _explaining(explain: Callable[[str], object], text: str) -> Call:
    async def explain_aside() -> None:
        await to_thread.run_sync(explain, text.format(number=next(NUMBERS)))

    return explain_aside
