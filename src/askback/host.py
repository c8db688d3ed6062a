"""The task that runs a body, and the way out of it from any task the body started.

Raising in the body's own task is enough, and lets its `finally` blocks await. From a task under `gather` it is not:
`gather` would hand the exception up and leave the siblings running behind the answer. There the body's task is
cancelled once, which takes the siblings with it, and the cancellation is absorbed where the body was called.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NoReturn, TypeVar

import anyio
import anyio.lowlevel

from askback.current import Leave

A = TypeVar("A")
T = TypeVar("T")

TURNS = 5
"""How many turns of the event loop siblings get to put their questions into the same round."""


def _running_task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # another event loop than asyncio's; its nurseries cancel siblings by themselves
        return None


class Host:
    """One per pass of a body; made in the task that runs it."""

    def __init__(self) -> None:
        self._task = _running_task()
        self._others: set[asyncio.Task[object]] = set()
        self._interrupted = False
        self._over: anyio.Event | None = None

    def is_here(self) -> bool:
        """Whether the running task is the body's own."""
        return self._task is None or _running_task() is self._task

    def begin_waiting(self) -> None:
        """From here the running task waits for an answer; it ends with the body, since nobody could answer it then."""
        task = _running_task()
        if task is not None and task is not self._task:
            self._others.add(task)

    def end_waiting(self) -> None:
        """The running task goes on by itself."""
        task = _running_task()
        if task is not None:
            self._others.discard(task)

    async def let_others_ask(self) -> None:
        """Give sibling tasks the chance to put their questions before the round closes."""
        for _ in range(TURNS):
            await anyio.lowlevel.checkpoint()

    async def leave(self, way: type[Leave]) -> NoReturn:
        """Get the whole body out. A class is raised, not an object: a frame that held it would be a cycle."""
        if self.is_here():
            raise way
        if not self._interrupted and self._task is not None:
            self._interrupted = True
            self._task.cancel()
        self._over = self._over or anyio.Event()
        await self._over.wait()
        raise way

    async def run(self, body: Callable[[A], Awaitable[T]], argument: A) -> T:
        """Run the body; afterwards nothing of it is waiting, and our own cancellation is gone."""
        try:
            return await body(argument)
        finally:
            if self._over is not None:
                self._over.set()
            for task in tuple(self._others):
                task.cancel()
            if self._interrupted:
                await self._absorb()

    async def _absorb(self) -> None:
        assert self._task is not None
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        self._task.uncancel()
