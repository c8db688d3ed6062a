"""The engines under test, opened on the first of two databases, and what can stand in for one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import asyncpg

from askback.guards.sql.engines import Inspection
from tests.guards.sql.oracle.oracle import Inspector
from tests.guards.sql.oracle.twins import AnyTwins, DuckDBTwins, SQLiteTwins


class Blind:
    """Reports nothing about any statement: whatever differs is a leak."""

    async def inspect(self, statement: str) -> Inspection:
        return Inspection(is_query=True, can_be_planned=True)


class Suspicious:
    """Has a doubt about every statement: nothing is a leak."""

    async def inspect(self, statement: str) -> Inspection:
        return Inspection(doubts=("It may read anything.",))


@asynccontextmanager
async def open_engine(twins: AnyTwins) -> AsyncGenerator[Inspector]:
    """The engine that guards use for such a database."""
    if isinstance(twins, DuckDBTwins):
        from askback.guards.sql.engines.duckdb import DuckDBEngine

        yield DuckDBEngine(twins.connect)
    elif isinstance(twins, SQLiteTwins):
        from askback.guards.sql.engines.sqlite import SQLiteEngine

        yield SQLiteEngine(twins.files[0])
    else:
        from askback.guards.sql.engines.postgres import PostgresEngine

        async with asyncpg.create_pool(twins.url, min_size=1, max_size=2) as pool:
            yield PostgresEngine(pool)
