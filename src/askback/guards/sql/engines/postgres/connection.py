"""Connections to Postgres, lent by a pool or made for one use."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias, cast

import asyncpg

Connection: TypeAlias = (
    "asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"
)
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
Database: TypeAlias = "str | Pool | Callable[[], Awaitable[asyncpg.Connection[asyncpg.Record]]]"
"""A URL, a pool, or a function that connects."""

CLOSING_TIMEOUT = 2.0
"""Seconds for a rollback on a connection that is given back."""


@asynccontextmanager
async def open_connection(database: Database, timeout: float) -> AsyncGenerator[Connection]:
    """Lend a connection. One that was made for this is closed afterwards."""
    if isinstance(database, asyncpg.Pool):
        pool = cast("Pool", database)
        lent = await pool.acquire(timeout=timeout)
        try:
            yield lent
        finally:
            with suppress(TimeoutError):  # the pool closes a connection that does not come to rest
                await pool.release(lent, timeout=CLOSING_TIMEOUT)
        return
    made = asyncpg.connect(database, timeout=timeout) if isinstance(database, str) else database()
    connection = await made
    try:
        yield connection
    finally:
        connection.terminate()  # at once, also where the server does not answer any more
