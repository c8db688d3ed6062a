"""The connections of one process: a pool for the verbs, and one connection that listens.

They belong to the event loop of the lease thread. Verbs come there from any thread and any event loop, so one pool
serves them all, nothing is locked, and a loop that ends leaves no connection behind.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

import asyncpg

from askback.errors import StoreUnavailable
from askback.stores.leases import Leases
from askback.stores.postgres import statements as sql
from askback.stores.postgres.address import PostgresAddress
from askback.stores.postgres.connection import (
    ANSWER_TIMEOUT,
    GOES_ON,
    TROUBLE,
    Connection,
    Unusable,
    connect_options,
    explain,
    greet,
    is_lost,
    open_connection,
)
from askback.stores.postgres.wakeups import Wakeups

logger = logging.getLogger("askback")

T = TypeVar("T")

Statement = Callable[[Connection, bool], Awaitable[T]]
"""Runs on a connection. The flag says that it was sent before on a connection that was lost, and may have been done."""

UNDONE: tuple[type[BaseException], ...] = (asyncpg.DeadlockDetectedError,)
"""The server rolled back all that the statement did, and the other side has gone on: it is tried once more."""

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

WAIT_TIMEOUT = 10.0
"""Seconds for which a waiter bears with a server that is away."""


class LookAgain(NamedTuple):
    """No answer yet. Look again after so many seconds, if no notification comes before."""

    seconds: float


class Connections:
    """Opened at once; closed when the leases end. Does not know the store that opened them."""

    def __init__(self, address: PostgresAddress, *, clock: Callable[[], float], lease: float) -> None:
        self.epoch = ""
        """As the server said it last."""
        self.wakeups = Wakeups()
        self._is_closed = False
        self._missed_at = 0.0
        """When a statement failed first, if none has gone well since; else 0."""
        self._locks: WeakValueDictionary[tuple[object, ...], asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._address, self._clock = address, clock
        self._lease = timedelta(seconds=lease)
        self._interval = min(lease / 3, CHECK_INTERVAL)
        self._expire_at = time.monotonic() + EXPIRY_INTERVAL
        self.leases = Leases[bytes](lease, renew=self._renew, release=self._release)
        self._pool = asyncpg.create_pool(
            **connect_options(address),
            init=lambda connection: greet(connection, address),
            reset=_leave_as_it_is,
            min_size=0,
            max_size=address.connections,
            loop=self.leases.loop,
        )
        self._listener: Connection | None = None
        self._listener_lock = asyncio.Lock()
        self.submit(self._listen())

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run it on the loop of these connections; from any thread."""
        return asyncio.run_coroutine_threadsafe(work, self.leases.loop)

    # From here all is done on their own loop.

    async def run(self, statement: Statement[T]) -> T:
        """Run one statement, and once more if its connection was lost. Cancellation waits for the server's answer."""
        task = asyncio.ensure_future(self._run(statement))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise

    async def wait_for(self, topic: str, look: Callable[[], Awaitable[T | LookAgain]], *same: object) -> T:
        """Call `look` until it finds something: after each notification of the topic, and at intervals.

        Of those who wait for the same thing, one looks, and the others queue behind it. A server that becomes
        unreachable meanwhile is waited for, because it may only be restarting.
        """
        lock = self._locks.setdefault((topic, *same), asyncio.Lock())
        has_waited = lock.locked()
        async with lock:
            while not self._is_closed:
                event = self.wakeups.expect(topic)
                try:
                    found = await look()
                except StoreUnavailable:
                    if not has_waited or time.monotonic() > self._missed_at + WAIT_TIMEOUT:
                        raise
                    found = LookAgain(RETRY_INTERVAL)
                if not isinstance(found, LookAgain):
                    return found
                has_waited = True
                await self.wakeups.wait(event, found.seconds)
        raise self._unavailable("it was closed while somebody waited", "Close it after the last call.")

    async def drain(self) -> None:
        """Fail all waiters, and wait for the statements that are under way."""
        self._is_closed = True
        self.wakeups.notify_all()
        await self.rest()

    async def rest(self) -> None:
        """Wait until all statements that were begun are answered."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _run(self, statement: Statement[T]) -> T:
        try:
            answer = await self._run_twice(statement)
        except TROUBLE as error:
            self._missed_at = self._missed_at or time.monotonic()
            raise explain(error, self._address) from error
        self._missed_at = 0.0
        return answer

    async def _run_twice(self, statement: Statement[T]) -> T:
        try:
            return await self._attempt(statement, again=False)
        except UNDONE:
            return await self._attempt(statement, again=False)
        except TROUBLE as error:
            if is_lost(error) or isinstance(error, TimeoutError):
                await self._pool.expire_connections()  # what happened to one has most likely happened to all
            if not is_lost(error):
                raise
            return await self._attempt(statement, again=True)

    async def _attempt(self, statement: Statement[T], *, again: bool) -> T:
        connection = await self._acquire()
        try:
            return await statement(connection, again)
        except BaseException:
            connection.terminate()  # the next caller must not meet what was under way on it
            raise
        finally:
            await self._pool.release(connection)

    async def _acquire(self) -> Any:
        try:
            return await self._pool.acquire(timeout=ANSWER_TIMEOUT)
        except TimeoutError:
            most = self._address.connections
            raise Unusable(
                f"it did not answer, or all {most} connections were busy, for {ANSWER_TIMEOUT:g} seconds",
                f"{GOES_ON} If it is only slow, raise connections= in the address.",
            ) from None

    def _unavailable(self, problem: str, advice: str) -> StoreUnavailable:
        return StoreUnavailable(store=self._address.shown, problem=problem, advice=advice)

    # The connection that listens.

    async def _listen(self) -> None:
        """Keep the pool open and one connection listening, until the loop ends."""
        async with self._pool:
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
            self.wakeups.notify_all()  # what was notified before was not heard
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
        self.wakeups.notify(str(topic))

    async def _on_listener(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement beside the pool, whose connections may all be waiting for a lock."""
        async with self._listener_lock:
            if self._listener is None:
                raise self._unavailable("the connection that listens was lost", GOES_ON)
            return await self._listener.fetch(statement, *values)

    async def _renew(self, held: Mapping[str, bytes]) -> Collection[str]:
        """Renew leases; gives the tokens of claims that were lost."""
        tokens, keys = list(held), list(held.values())
        renewed = await self._on_listener(sql.RENEW, keys, tokens, self._lease)
        return {*tokens} - {str(row[0]) for row in renewed}

    async def _release(self, token: str, key: bytes) -> None:
        await self.run(lambda connection, _again: connection.execute(sql.RELEASE, key, token))


async def _leave_as_it_is(_connection: object) -> None:
    """No statement changes the session, so resetting it would only be one more round trip."""
