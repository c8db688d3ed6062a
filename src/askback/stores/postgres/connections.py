"""What one store has open in this process: a pool for each event loop, and one connection that listens.

The listening connection and the leases belong to the event loop of one thread, so a body that blocks its own loop
neither loses its lease nor keeps others from being woken. A verb runs on the loop of its caller.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

import anyio.to_thread

from askback.errors import StoreUnavailable
from askback.stores.leases import Leases
from askback.stores.postgres import statements as sql
from askback.stores.postgres.address import PostgresAddress
from askback.stores.postgres.connection import GOES_ON, Connection, explain, open_connection
from askback.stores.postgres.pool import Pool

logger = logging.getLogger("askback")

NAME = "askback listener"
"""How pg_stat_activity shows the connection that listens."""

RETRY_INTERVAL = 0.25
"""Seconds between two attempts to connect it again."""

CHECK_INTERVAL = 5.0
"""Seconds between two checks that it is still there, and that the epoch is still the same."""

EXPIRY_INTERVAL = 10.0
"""Seconds between two looks for expired rows, when the last one found few."""

BATCH_SIZE = 500
"""Expired rows of a table that are deleted in one transaction."""

CLOSE_TIMEOUT = 5.0
"""Seconds that closing waits for releases of claims; a server that stands still would take longer."""


class Connections:
    """Opened at once. Does not know the store that opened them, so that one that is dropped can be collected."""

    def __init__(self, address: PostgresAddress, *, clock: Callable[[], float], lease: float) -> None:
        self.epoch = ""
        """As the server said it last."""
        self._address, self._clock = address, clock
        self._lease = timedelta(seconds=lease)
        self._interval = min(lease / 3, CHECK_INTERVAL)
        self._expire_at = time.monotonic() + EXPIRY_INTERVAL
        self._pools: dict[asyncio.AbstractEventLoop, Pool] = {}
        self.leases = Leases[bytes](lease, renew=self._renew, release=self._release)
        self._listener: Connection | None = None
        self._listener_lock = asyncio.Lock()
        asyncio.run_coroutine_threadsafe(self._listen(), self.leases.loop)

    def pool(self) -> Pool:
        """The pool of the running event loop."""
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            for closed in [other for other in list(self._pools) if other.is_closed()]:
                self._pools.pop(closed, None)
            pool = self._pools[loop] = Pool(self._address)
        return pool

    async def close(self) -> None:
        """Fail all waiters, and wait for the statements of this event loop."""
        if pool := self._pools.get(asyncio.get_running_loop()):
            await pool.close()
        self.close_soon()  # not sooner: what was granted meanwhile, and is wanted no longer, is released
        await anyio.to_thread.run_sync(self.leases.join, CLOSE_TIMEOUT)

    def close_soon(self) -> None:
        """From any thread: the store is dropped, or closed elsewhere."""
        for loop, pool in list(self._pools.items()):
            if loop is not self.leases.loop:  # which still releases claims, and closes its pool when it ends
                pool.call(pool.cancel)
        self.leases.end()

    # The connection that listens, on the loop of the leases.

    async def _listen(self) -> None:
        """Keep one connection listening, until the loop ends."""
        while True:
            try:
                connection = await open_connection(self._address, application_name=NAME)
            except Exception as error:  # noqa: BLE001 - callers of the store meet the same, and are told
                logger.debug("%s", explain(error, self._address))
                await asyncio.sleep(RETRY_INTERVAL)
            else:
                await self._attend(connection)

    async def _attend(self, connection: Connection) -> None:
        """Listen on this connection until it is lost."""
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _connection: lost.set())
        try:
            await connection.add_listener(self._address.schema, self._hear)
            self._listener = connection
            for pool in list(self._pools.values()):
                pool.call(pool.wakeups.notify_all)  # what was notified before was not heard
            while True:
                [[self.epoch]] = await self._on_listener(sql.EPOCH)
                await self._delete_expired()
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(self._interval, self._expire_at - time.monotonic())):
                        await lost.wait()
        except Exception as error:
            logger.warning("%s", explain(error, self._address), exc_info=error)
        finally:
            self._listener = None
            connection.terminate()

    async def _delete_expired(self) -> None:
        if time.monotonic() >= self._expire_at:
            [[deleted]] = await self._on_listener(sql.FORGET_ALONE, self._clock(), BATCH_SIZE)
            self._expire_at = time.monotonic() + (0.0 if (deleted or 0) >= BATCH_SIZE else EXPIRY_INTERVAL)

    def _hear(self, _connection: object, _process: int, _channel: str, topic: object) -> None:
        for pool in list(self._pools.values()):
            pool.call(pool.wakeups.notify, str(topic))

    async def _on_listener(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement beside the pools, whose connections may all be waiting for a lock."""
        async with self._listener_lock:
            if self._listener is None:
                raise StoreUnavailable(
                    store=self._address.shown, problem="the connection that listens was lost", advice=GOES_ON
                )
            return await self._listener.fetch(statement, *values)

    async def _renew(self, held: Mapping[str, bytes]) -> Collection[str]:
        """Renew leases; gives the tokens of claims that were lost."""
        tokens, keys = list(held), list(held.values())
        renewed = await self._on_listener(sql.RENEW, keys, tokens, self._lease)
        return {*tokens} - {str(row[0]) for row in renewed}

    async def _release(self, token: str, key: bytes) -> None:
        await self.pool().run(lambda connection, _again: connection.execute(sql.RELEASE, key, token))
