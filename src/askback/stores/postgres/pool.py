"""The connections of one event loop: made as they are needed, at most so many, and dropped when one is lost."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import asyncpg

from askback.errors import StoreUnavailable
from askback.stores.postgres.address import Address
from askback.stores.postgres.bells import Lines
from askback.stores.postgres.connection import ANSWER, GOES_ON, TROUBLE, Greeted, explain, greet, is_lost

T = TypeVar("T")

Statement = Callable[[Greeted, bool], Awaitable[T]]
"""To be run on a connection; told whether it was tried before on one that was lost, so that it may have been done."""

UNDONE: tuple[type[BaseException], ...] = (asyncpg.DeadlockDetectedError,)
"""All that the statement did was rolled back, and whoever stood in its way has gone on: it is tried once more."""


class Pool:
    """Belongs to the loop it was made on."""

    def __init__(self, address: Address) -> None:
        self.loop = asyncio.get_running_loop()
        self._address = address
        self._idle: list[Greeted] = []
        self._free = asyncio.Semaphore(address.connections)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_abandoned = False
        self.lines = Lines()

    def start(self, statement: Statement[T]) -> "asyncio.Task[T]":
        """In a task of its own: whoever asked may go, and what was sent is still heard to the end."""
        task = self.loop.create_task(self._run(statement))
        self._tasks.add(task)
        task.add_done_callback(self._end)
        return task

    def _end(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever asked may be gone, and then nobody else looks at it

    async def _run(self, statement: Statement[T]) -> T:
        try:
            return await self._run_twice(statement)
        except TROUBLE as error:
            raise explain(error, self._address) from error

    async def _run_twice(self, statement: Statement[T]) -> T:
        await self._come_up()
        try:
            try:
                return await self._attempt(statement, again=False)
            except TROUBLE as error:
                if is_lost(error) or isinstance(error, TimeoutError):
                    self.drop()  # what happened to one has most likely happened to all
                if isinstance(error, UNDONE):
                    return await self._attempt(statement, again=False)
                if not is_lost(error):
                    raise
                return await self._attempt(statement, again=True)
        finally:
            self._free.release()

    async def _come_up(self) -> None:
        if not self._free.locked():
            await self._free.acquire()  # at once
            return
        try:
            async with asyncio.timeout(ANSWER):
                await self._free.acquire()
        except TimeoutError:
            raise StoreUnavailable(
                store=self._address.shown,
                problem=f"all {self._address.connections} connections were busy for {ANSWER:g} seconds",
                advice=f"{GOES_ON} If it is only slow, raise connections= in the address.",
            ) from None

    async def _attempt(self, statement: Statement[T], *, again: bool) -> T:
        greeted = self._take() or await greet(self._address)
        try:
            answer = await statement(greeted, again)
        except BaseException:
            # Whatever was under way on it: nothing of that must be met by the next.
            greeted.connection.terminate()
            raise
        if self._is_abandoned:
            greeted.connection.terminate()
        else:
            self._idle.append(greeted)
        return answer

    def _take(self) -> Greeted | None:
        while self._idle:
            greeted = self._idle.pop()
            if not greeted.connection.is_closed():
                return greeted
        return None

    def drop(self) -> None:
        """Those that rest are ended without a word."""
        while self._idle:
            self._idle.pop().connection.terminate()

    async def rest(self) -> None:
        """Until all statements that were begun are answered."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """End those that rest, and wait for those that are at work."""
        await self.rest()
        idle, self._idle = self._idle, []
        for greeted in idle:
            try:
                await greeted.connection.close(timeout=ANSWER)
            except Exception:  # noqa: BLE001 - it was not to be used any more anyway
                greeted.connection.terminate()

    def abandon(self) -> None:
        """From outside its loop, which may be closed: nothing can be said there, so let the server know at least."""
        self._is_abandoned = True
        for greeted in self._idle:
            with suppress(Exception):
                transport: Any = getattr(greeted.connection, "_transport", None)
                transport.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        self._idle.clear()
