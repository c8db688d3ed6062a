"""What the tests of Postgres share: a schema of one's own, a shell to its tables, and a way to meet waiters halfway."""

import hashlib
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import asyncpg
import pytest

from askback.stores.postgres.bells import Bell, Bells, Kind
from askback.stores.postgres.keeper import Keeper

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


async def until_listening(keeper: Keeper) -> None:
    """Whoever begins to listen rings all bells, for what was rung before was not heard."""
    with keeper.bells.hung_up("end", b"whether it listens") as bell, anyio.fail_after(BOUND):
        while not keeper.is_listening:
            await bell.wait(BOUND)


class Waiting:
    """Who of this process waits for something in the store."""

    def __init__(self) -> None:
        self._count = 0
        self._change = anyio.Event()

    async def reach(self, count: int) -> None:
        """Until so many do."""
        with anyio.fail_after(BOUND):
            while self._count < count:
                await self._change.wait()

    @contextmanager
    def hung_up(self, bells: Bells, kind: Kind, key: bytes) -> Generator[Bell]:
        with HANG_UP(bells, kind, key) as bell:
            self._turn(+1)
            try:
                yield bell
            finally:
                self._turn(-1)

    def _turn(self, by: int) -> None:
        self._count += by
        changed, self._change = self._change, anyio.Event()
        changed.set()


HANG_UP = Bells.hung_up


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Waiting:
    """From now on, all who begin to wait."""
    waiting = Waiting()

    def hung_up(bells: Bells, kind: Kind, key: bytes) -> AbstractContextManager[Bell]:
        return waiting.hung_up(bells, kind, key)

    monkeypatch.setattr(Bells, "hung_up", hung_up)
    return waiting


async def empty(connection: Shell, schema: str) -> None:
    """Quicker than to make the tables anew, if they are there."""
    if await connection.fetchval("SELECT to_regclass($1)", f"{schema}.migrations"):
        for table in ("claims", "settled", "spent", "vault", "ledger"):
            await connection.execute(f"DELETE FROM {schema}.{table}")
        await connection.execute(f"UPDATE {schema}.ledger_end SET number = 0")
