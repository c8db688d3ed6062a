"""How verbs reach Redis from any event loop, thread or process: one client for each loop, opened when it is needed."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import anyio.to_thread
from redis.exceptions import RedisError

from askback.errors import OperatorError
from askback.stores.leases import Leases
from askback.stores.redis.address import Address, Argument
from askback.stores.redis.client import Client, Epoch
from askback.stores.redis.keys import Keys
from askback.stores.redis.subscriber import Waits

T = TypeVar("T")

BATCH_SIZE = 500
"""Leases renewed in one script, so that others are served in between."""

MARK_LIFE = 60_000
"""Milliseconds that an abandoned claim is marked: longer than it can be on its way."""

END_TIMEOUT = 5.0
"""Seconds that a store that is closed waits for its thread: a Redis that stands still would keep it longer."""


class RedisConnections:
    """What one store has open. Knows nothing of the store, so that one that is dropped can be collected."""

    def __init__(self, address: Address, *, lease: float) -> None:
        self._address, self._lease = address, lease
        self.keys = Keys(address.prefix)
        self.epoch = Epoch()
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._clients: dict[asyncio.AbstractEventLoop, Client] = {}
        self._leases: Leases[bytes] | None = None
        self._inherited: object = None

    async def run(self, name: str, keys: Sequence[bytes], *arguments: Argument) -> Any:
        return await self._client().run(name, keys, *arguments)

    async def do(self, command: Callable[[Any], Awaitable[Any]]) -> Any:
        return await self._client().do(command)

    async def wait_for(self, topic: bytes, look: Callable[[], Awaitable[T | Waits]]) -> T:
        client = self._client()
        try:
            return await client.subscriber.wait_for(topic, look)
        except RedisError as error:
            raise client.explain(error) from None

    @property
    def leases(self) -> Leases[bytes]:
        self._enter_process()
        if self._leases is None:
            with self._lock:
                self._leases = self._leases or Leases(self._lease, renew=self._renew, release=self._release)
        return self._leases

    async def close(self) -> None:
        self._enter_process()
        here, leases = self._clients.pop(asyncio.get_running_loop(), None), self._leases
        self.close_soon()
        if here is not None:
            await here.close()
        if leases is not None:
            await anyio.to_thread.run_sync(leases.join, END_TIMEOUT)

    def close_soon(self) -> None:
        """From any thread: the store is dropped, or closed elsewhere."""
        if self._process == os.getpid():
            clients, leases, self._clients, self._leases = self._clients, self._leases, {}, None
            for client in clients.values():
                client.close_soon()
            if leases is not None:
                leases.end()

    def _client(self) -> Client:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise OperatorError(
                f"The store {self._address.name} needs asyncio; this event loop is another."
            ) from None
        self._enter_process()
        client = self._clients.get(loop)
        if client is None:
            with self._lock:
                for closed in [other for other in self._clients if other.is_closed()]:
                    del self._clients[closed]
                client = self._clients[loop] = Client(self._address, self.keys, self.epoch)
        return client

    def _enter_process(self) -> None:
        """After a fork, what the parent has open must be neither used nor closed here, so it is left alone."""
        if self._process != os.getpid():
            self._inherited = (self._inherited, self._clients, self._leases)
            self._process, self._clients, self._leases = os.getpid(), {}, None
            self._lock = threading.Lock()  # another thread of the parent may have held it

    # Of the thread that renews leases.

    async def _renew(self, held: Mapping[str, bytes]) -> Collection[str]:
        tokens, lost = list(held), list[str]()
        for start in range(0, len(tokens), BATCH_SIZE):
            batch = tokens[start : start + BATCH_SIZE]
            rows = [held[token] for token in batch]
            places = await self.run("renew", rows, int(1000 * self._lease), *batch)
            lost += [batch[place - 1] for place in places]
        return lost

    async def _release(self, token: str, row: bytes) -> None:
        await self.run("release", [row, self.keys.withdrawn(token)], token, MARK_LIFE)
