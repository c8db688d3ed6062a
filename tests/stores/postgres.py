"""What the tests of Postgres share: a schema of one's own, a shell to its tables, and a way to meet waiters halfway."""

import hashlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import asyncpg

if TYPE_CHECKING:
    Shell: TypeAlias = asyncpg.Connection[asyncpg.Record]
else:
    Shell = asyncpg.Connection

BOUND = 20.0


def schema_of(place: Path | str) -> str:
    """Nobody else's on that server."""
    return f"test_{hashlib.sha256(str(place).encode()).hexdigest()[:20]}"


@asynccontextmanager
async def shell(url: str) -> AsyncGenerator[Shell]:
    """A connection beside the store's."""
    connection: Shell = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def until(is_true: Callable[[], Any]) -> None:
    """Wait for what another thread, process or server is about to do."""
    with anyio.fail_after(BOUND):
        while not is_true():  # noqa: ASYNC110 - it happens elsewhere, and nobody tells
            await anyio.sleep(0.01)


async def until_found(connection: Shell, query: str, *values: Any) -> Any:
    """The first value that a query gives and that is true."""
    with anyio.fail_after(BOUND):
        while not (found := await connection.fetchval(query, *values)):  # noqa: ASYNC110 - the same
            await anyio.sleep(0.01)
        return found


async def empty(connection: Shell, schema: str) -> None:
    """Quicker than to make the tables anew, if they are there."""
    if await connection.fetchval("SELECT to_regclass($1)", f"{schema}.migrations"):
        for table in ("claims", "settled", "spent", "vault", "ledger"):
            await connection.execute(f"DELETE FROM {schema}.{table}")
        await connection.execute(f"UPDATE {schema}.ledger_end SET number = 0")
