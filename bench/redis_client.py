"""redis-py's own client, as anybody would use it. All that is loosely typed in it is given its types here."""

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, cast

from redis import asyncio as redis


class RedisClient(Protocol):
    """What we use of it."""

    async def execute_command(self, *command: str | bytes | int) -> Any:
        """One round trip."""
        ...


def bare_client(url: str) -> AbstractAsyncContextManager[RedisClient]:
    made: Any = cast("Any", redis.Redis).from_url(url)
    return made
