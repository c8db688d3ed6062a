"""What the tests of Redis share: a store of one's own on a server, and a shell beside it."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from bench.redis_client import RedisClient, bare_client

FAR = 4e9
BOUND = 20.0


class Shell:
    """Says anything to a server."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client

    async def say(self, *words: str | bytes | int) -> Any:
        return await self._client.execute_command(*words)

    async def keys(self, prefix: str) -> set[bytes]:
        """All but the name of the memory."""
        home = b"{%s}:" % prefix.encode()
        found: list[bytes] = await self.say("KEYS", "*")
        return {key.removeprefix(home) for key in found if key.startswith(home)} - {b"memory"}

    async def let_time_pass(self, prefix: str) -> None:
        """So long that Redis has forgotten all that it was told to forget by itself."""
        for key in await self.keys(prefix):
            name = b"{%s}:%s" % (prefix.encode(), key)
            if await self.say("PTTL", name) >= 0:
                await self.say("DEL", name)

    async def kill_all_others(self) -> int:
        return int(await self.say("CLIENT", "KILL", "SKIPME", "yes"))


@asynccontextmanager
async def shell(url: str) -> AsyncGenerator[Shell]:
    async with bare_client(url.partition("?")[0]) as client:
        yield Shell(client)


async def until_heard(url: str, topics: int) -> None:
    """Until so many topics are listened to."""
    async with shell(url) as redis:

        async def are_heard() -> bool:
            return len(await redis.say("PUBSUB", "CHANNELS")) == topics

        await until(are_heard)


async def until(is_true: Callable[[], Awaitable[Any]]) -> None:
    """Wait for what a server, thread or process is about to do; Redis is asked again as soon as it has answered."""
    with anyio.fail_after(BOUND):
        while not await is_true():
            pass
