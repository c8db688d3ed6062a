"""redis-py's client on one event loop: its pool, our scripts, and who waits there for a message.

A connection is greeted before it is used: Redis may have been restarted since, and have lost what it kept.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import Context
from secrets import token_hex
from time import monotonic
from typing import Any

from redis.exceptions import RedisError, ResponseError

from askback.stores.redis.address import Address, Argument
from askback.stores.redis.keys import Keys
from askback.stores.redis.problems import CLOSED, explain
from askback.stores.redis.scripts import read_script
from askback.stores.redis.subscriber import Subscriber

logger = logging.getLogger("askback")

MAX_CONNECTIONS = 16
"""Of one event loop, beside the one that is subscribed. Further calls wait for their turn."""

ANSWER_TIMEOUT = 20.0
"""Seconds. A Redis that stands still for less than this has lost nothing: commands wait in its sockets. A client of
ours waits longer than that for an answer, and the SDK's drops an error without a word on 2025-11-25."""

CLOSE_TIMEOUT = 1.0

EVICTS = (
    "The store %s forgets keys when its memory is full (maxmemory-policy %s). Conversations that are under way are "
    "refused then, and secrets may be gone. Set its maxmemory-policy to noeviction."
)

DURABLE = {b"appendfsync": b"always", b"no-appendfsync-on-rewrite": b"no"}
"""How a Redis is configured that has everything on its disk before it answers."""


class Epoch:
    """The name of what Redis keeps at present, as it was last heard on any connection."""

    def __init__(self) -> None:
        self.name = ""
        self.is_warned = False
        self._heard_at = 0.0

    def hear(self, name: bytes) -> None:
        self.name, self._heard_at = name.decode(), monotonic()

    def is_as_of(self, seconds: float) -> bool:
        """Whether it was heard that recently."""
        return bool(self.name) and monotonic() - self._heard_at < seconds


class Client:
    """Belongs to the event loop that is running now, and is closed when that ends."""

    def __init__(self, address: Address, keys: Keys, epoch: Epoch) -> None:
        self.loop = asyncio.get_running_loop()
        self._address, self._keys, self._epoch = address, keys, epoch
        self._redis = address.client(self._greet)
        self._scripts: dict[str, Callable[[Sequence[bytes], Sequence[Argument]], Awaitable[Any]]] = {}
        self._turn = asyncio.Semaphore(MAX_CONNECTIONS)
        self._is_closed = False
        self.subscriber = Subscriber(address.client(self._greet, retries=0), timeout=ANSWER_TIMEOUT)
        # In a context of its own: that of the first caller would be kept in memory with it.
        self._task = self.loop.create_task(self._serve(), name="askback redis", context=Context())

    async def run(self, name: str, keys: Sequence[bytes], *arguments: Argument) -> Any:
        """A script, in one round trip."""
        script = self._scripts.get(name)
        if script is None:
            script = self._scripts[name] = self._redis.register_script(read_script(name))
        return await self.do(lambda _redis: script(keys, arguments))

    async def do(self, command: Callable[[Any], Awaitable[Any]]) -> Any:
        """One command. It is sent once more if the connection broke, or if it leads to what is a replica by now."""
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT), self._turn:
                return await command(self._redis)
        except TimeoutError as error:
            raise self.explain(
                TimeoutError(f"it did not answer within {ANSWER_TIMEOUT:g} seconds")
            ) from error
        except (RedisError, OSError) as error:
            raise self.explain(error) from error

    def explain(self, error: Exception) -> Exception:
        return explain(error, store=self._address.name, prefix=self._address.prefix)

    async def close(self) -> None:
        """Calls that still wait get an error."""
        self._task.cancel()
        await asyncio.wait([self._task])

    def close_soon(self) -> None:
        """From another thread."""
        with suppress(RuntimeError):  # the loop is closed, and the connections with it
            self.loop.call_soon_threadsafe(self._task.cancel)

    async def _serve(self) -> None:
        """Until it is cancelled, by us or by a loop that ends."""
        try:
            await self.subscriber.run()
        finally:
            self._is_closed = True
            await self._redis.aclose()

    async def _greet(self, connection: Any) -> None:
        if self._is_closed:
            raise RedisError(CLOSED)
        writer = connection._writer
        try:
            await connection.on_connect()
        except (
            RedisError
        ):  # a wrong password, which ends the connection: redis-py does not wait for the end of TLS
            with suppress(OSError):
                async with asyncio.timeout(CLOSE_TIMEOUT):
                    await writer.wait_closed()
            raise
        await connection.send_command("CONFIG", "GET", *DURABLE)
        try:
            said = await connection.read_response()
            is_durable = dict(zip(said[::2], said[1::2], strict=True)) == DURABLE
        except ResponseError:  # providers of Redis often forbid it; so a restart may have lost something
            is_durable = False
        mark = "1" if is_durable else ""
        await connection.send_command("EVAL", read_script("greet"), 1, self._keys.epoch, token_hex(8), mark)
        epoch, policy = await connection.read_response()
        self._epoch.hear(epoch)
        if policy != b"noeviction" and not self._epoch.is_warned:
            self._epoch.is_warned = True
            logger.warning(EVICTS, self._address.name, policy.decode())
