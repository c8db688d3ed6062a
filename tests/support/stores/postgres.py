"""What the tests of Postgres share: a schema of one's own, a shell to its tables, and a way to meet waiters halfway."""

import asyncio
import hashlib
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import anyio.lowlevel
import anyio.to_thread
import asyncpg
import pytest

from askback.stores.postgres import PostgresStore
from askback.stores.postgres.connections import Connections
from askback.stores.postgres.wakeups import Wakeups

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


async def until_found(connection: Shell, query: str, *values: Any) -> Any:
    """The first value that a query gives and that is true; it is asked again as soon as it is answered."""
    with anyio.fail_after(BOUND):
        while not (found := await connection.fetchval(query, *values)):
            pass
        return found


async def until_listening(store: PostgresStore) -> None:
    """Notifications are heard from now on."""
    connections = connections_of(store)
    with anyio.fail_after(BOUND):
        while connections._listener is None:  # pyright: ignore[reportPrivateUsage] - nobody else can tell
            await anyio.lowlevel.checkpoint()


def connections_of(store: PostgresStore) -> Connections:
    return store._opened()  # pyright: ignore[reportPrivateUsage] - they have no public name


async def until_heard(store: PostgresStore) -> None:
    """Until all statements that were sent are answered."""
    await connections_of(store).pool().rest()


class Waiting:
    """How many of this process wait for a notification."""

    def __init__(self) -> None:
        self._count = 0
        self._change = threading.Condition()

    async def reach(self, count: int) -> None:
        """Until so many do."""
        assert await anyio.to_thread.run_sync(self._wait_for, count)

    def _wait_for(self, count: int) -> bool:
        with self._change:
            return self._change.wait_for(lambda: self._count >= count, BOUND)

    def turn(self, by: int) -> None:
        with self._change:
            self._count += by
            self._change.notify_all()


WAIT = Wakeups.wait


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Waiting:
    """From now on, all who begin to wait."""
    waiting = Waiting()

    async def wait(wakeups: Wakeups, event: asyncio.Event, seconds: float) -> None:
        waiting.turn(+1)
        try:
            await WAIT(wakeups, event, seconds)
        finally:
            waiting.turn(-1)

    monkeypatch.setattr(Wakeups, "wait", wait)
    return waiting


async def empty(connection: Shell, schema: str) -> None:
    """Quicker than to make the tables anew, if they are there."""
    if await connection.fetchval("SELECT to_regclass($1)", f"{schema}.migrations"):
        for table in ("claims", "settled", "spent", "vault", "ledger"):
            await connection.execute(f"DELETE FROM {schema}.{table}")
        await connection.execute(f"UPDATE {schema}.ledger_end SET number = 0")
