"""The task that runs a body, and the way out of it from any task the body started.

Raising in the body's own task is enough, and lets its `finally` blocks await. From a task under `gather` it is not:
`gather` would hand the exception up and leave the siblings running behind the answer. There the body's task is
cancelled once, which takes the siblings with it, and the cancellation is absorbed where the body was called.
In a thread that the body waits for, raising is enough too: the exception reaches the body.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar

import anyio.lowlevel

from askback.errors import OutsideConversation

TURNS = 5
"""How many turns of the event loop siblings get to put their questions into the same round, or to be ended."""

ON_WAIT: ContextVar[Callable[[], None] | None] = ContextVar("askback_errand", default=None)
"""Set in a task that asks for a thread of the body, and called when the wait for a person begins."""


Task = asyncio.Task[object]


def running_task() -> Task | None:
    """The task that runs now, or None under another event loop than asyncio's."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


class BodyTask:
    """The task that runs one pass of a body; made in that task. Under trio there is none: nurseries cancel siblings."""

    __slots__ = ("_task", "is_interrupted", "others")

    def __init__(self) -> None:
        self._task = running_task()
        self.others: set[Task] = set()
        """Tasks of the body that wait for an answer."""
        self.is_interrupted = False

    def is_current(self) -> bool:
        """Whether raising is enough: this is the body's own task, or a thread that it waits for."""
        task = running_task()
        return task is None or task is self._task or not self._is_of_its_loop(task)

    def enter(self) -> Task | None:
        """The task that runs now. Refuses one of an event loop that the body started in a thread: the body could never
        be left from there."""
        task = running_task()
        if task is not None and task is not self._task and not self._is_of_its_loop(task):
            raise OutsideConversation(
                "This question is asked from another event loop than the one that serves the call. Write the tool with "
                "async def and await the question in it; do not wrap it in asyncio.run(...)."
            )
        return task

    def _is_of_its_loop(self, task: Task) -> bool:
        return self._task is None or task.get_loop() is self._task.get_loop()

    def begin_waiting(self, task: Task | None) -> Task | None:
        """From here this task, which runs, waits for an answer; gives it, if it is another than the body's own.

        It is ended with the body, since no answer could reach it then.
        """
        errand = ON_WAIT.get()
        if errand is not None:
            errand()
        if task is None or task is self._task or self._task is None:
            return None
        self.others.add(task)
        if errand is not None:
            task.add_done_callback(self.others.discard)
            return None
        return task

    def end_waiting(self, task: Task) -> None:
        """The task has its answer and goes on by itself."""
        self.others.discard(task)

    async def let_others_ask(self) -> None:
        """Give sibling tasks the chance to put their questions before the round closes."""
        for _ in range(TURNS):
            await anyio.lowlevel.checkpoint()

    def interrupt(self) -> None:
        """From another task: end whatever the body's own task waits for, and so the siblings it waits for."""
        if self._task is not None and not self.is_interrupted and not self.is_current():
            self.is_interrupted = True
            self._task.cancel()

    async def interrupt_and_wait(self) -> None:
        """In another task: end the body, and wait for its end to reach this task, if the body waits for it."""
        self.interrupt()
        for _ in range(TURNS):
            await anyio.lowlevel.checkpoint()

    async def clear(self) -> None:
        """Cancel what the body left waiting, and take back our own cancellation of its task."""
        for task in tuple(self.others):
            task.cancel()
        if self.is_interrupted and self._task is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
            self._task.uncancel()
