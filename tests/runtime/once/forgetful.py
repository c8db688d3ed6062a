"""A shop on a Redis that keeps nothing beyond its end, and a client that orders there."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.server import MCPServer

from askback import Askback, ask, once
from askback.stores.redis import RedisStore
from scripts.services import RedisServer, redis_server
from tests.support.deliveries import End, end_of
from tests.support.raw import Raw, accepting, answering, raw_client
from tests.support.services import found

KEYS = ["the same in all workers, 32 bytes and more"]
YES: dict[str, Any] = accepting(value=True)
FIND_OUT = "Find out first"


@pytest.fixture
def redis() -> Generator[RedisServer]:
    """Keeps nothing beyond its end."""
    with found(), redis_server(keeps=False) as server:
        yield server


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that begins in the first second after a loss may still carry the old epoch, and is refused; and one that
    comes in the first seconds after somebody was told may be a copy."""
    monkeypatch.setattr("askback.stores.redis.store.EPOCH_LIFE", 0.0)
    monkeypatch.setattr("askback.runtime.effect_claims.NOTICE_DELAY", 0.0)


async def start_anew(redis: RedisServer) -> None:
    await anyio.to_thread.run_sync(redis.kill)
    await anyio.to_thread.run_sync(redis.start)


class Shop:
    """Where orders arrive, which stays what it is whatever becomes of the store."""

    def __init__(self) -> None:
        self.placed: list[int] = []
        self.is_placing = anyio.Event()
        self.may_go_on = anyio.Event()
        self.may_go_on.set()

    async def place(self, number: int) -> str:
        self.placed.append(number)
        self.is_placing.set()
        await self.may_go_on.wait()
        return f"order {number} is placed"

    def worker(
        self, store: RedisStore, *, retry: bool = False, within: float | None = 3600
    ) -> MCPServer[Any]:
        server: MCPServer[Any] = MCPServer("shop")
        Askback(server, keys=KEYS, store=store)

        terms: dict[str, Any] = {"retry": retry} | ({} if within is None else {"within": within})

        async def t(number: int) -> str:
            (await ask("Sure?", bool)).or_stop("Not ordered.")
            return str(await once("place", self.place, number, **terms))

        server.add_tool(t)
        return server


@asynccontextmanager
async def working(redis: RedisServer, shop: Shop, **terms: Any) -> AsyncGenerator[tuple[MCPServer[Any], Raw]]:
    """A worker, and a client of it that sends what the test says."""
    store = RedisStore(redis.url)
    server = shop.worker(store, **terms)
    async with raw_client(server) as client:
        yield server, client
    await store.close()


async def order(client: Raw, number: int) -> End:
    """From the start, with a yes."""
    first = await end_of(client.call(arguments={"number": number}))
    if "requestState" not in first:
        return first
    return await end_of(client.call(arguments={"number": number}, **answering(first, ask_1=YES)))
