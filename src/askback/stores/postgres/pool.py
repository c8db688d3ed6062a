"""The connections of one event loop: asyncpg's pool, the statements that run on it, and who waits there."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

import asyncpg

from askback.errors import StoreUnavailable
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
)
from askback.stores.postgres.wakeups import Wakeups

T = TypeVar("T")

Statement = Callable[[Connection, bool], Awaitable[T]]
"""Runs on a connection. The flag says that it was sent before on a connection that was lost, and may have been done."""

UNDONE: tuple[type[BaseException], ...] = (asyncpg.DeadlockDetectedError,)
"""The server rolled back all that the statement did, and the other side has gone on: it is tried once more."""

RETRY_INTERVAL = 0.25
"""Seconds after which a waiter looks again at a server that was away."""

WAIT_TIMEOUT = 10.0
"""Seconds for which a waiter bears with a server that is away."""

CLOSE_TIMEOUT = 1.0
"""Seconds that the server has to say goodbye to idle connections; one that stands still says nothing."""


class LookAgain(NamedTuple):
    """No answer yet. Look again after so many seconds, if no notification comes before."""

    seconds: float


class Pool:
    """Belongs to the event loop that is running now, and is closed when that ends."""

    def __init__(self, address: PostgresAddress) -> None:
        self._loop = asyncio.get_running_loop()
        self.wakeups = Wakeups()
        self._address = address
        self._is_closed = False
        self._missed_at = 0.0
        """When a statement failed first, if none has gone well since; else 0."""
        self._locks: WeakValueDictionary[tuple[object, ...], asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._pool = asyncpg.create_pool(
            **connect_options(address),
            init=lambda connection: greet(connection, address),
            reset=_leave_as_it_is,
            min_size=0,
            max_size=address.connections,
        )
        # In a context of its own: that of the first caller would be kept in memory with it.
        self._task = self._loop.create_task(self._serve(), name="askback postgres", context=Context())

    def call(self, callback: Callable[..., object], *arguments: object) -> None:
        """Call it on the loop of this pool, unless that is closed; from any thread."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *arguments)

    def cancel(self) -> None:
        """Begin to close."""
        self._task.cancel()

    async def close(self) -> None:
        """Fail all waiters, and wait for the statements that are under way."""
        self.cancel()
        await asyncio.wait([self._task])

    async def run(self, statement: Statement[T]) -> T:
        """Run one statement, and once more if its connection was lost; to its end even if the caller is cancelled."""
        task = self._loop.create_task(self._run(statement))
        self._tasks.add(task)
        task.add_done_callback(self._end)
        return await asyncio.shield(task)

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
        raise StoreUnavailable(
            store=self._address.shown,
            problem="it was closed while somebody waited",
            advice="Close it after the last call.",
        )

    async def rest(self) -> None:
        """Wait until all statements that were begun are answered."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _serve(self) -> None:
        """Keep the pool open until this task is cancelled, by us or by a loop that ends."""
        await self._pool
        try:
            await asyncio.Event().wait()
        finally:
            self._is_closed = True
            self.wakeups.notify_all()
            await self.rest()
            with suppress(Exception):  # then they were terminated
                async with asyncio.timeout(CLOSE_TIMEOUT):
                    await self._pool.close()

    def _end(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # the caller may have been cancelled, and then nobody else looks at it

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


async def _leave_as_it_is(_connection: object) -> None:
    """No statement changes the session, so resetting it would only be one more round trip."""
