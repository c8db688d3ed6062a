"""Answers and notifications for sessions of other workers: delivered at once, or accepted and delivered later.

A client sends an answer once. The SDK's client drops an error to it without a word, and its call would never end. So
what cannot be delivered at once is accepted, and tried again until its worker has it, for a bounded time.
"""

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import anyio
from starlette.types import Message, Receive, Send

from askback.server.workers.bringing import Outcome

logger = logging.getLogger("askback")

ACCEPT_AFTER = 2.0
"""Seconds that a client waits for its worker's own response to an answer; then the answer is accepted (202)."""

DELIVERY_TIMEOUT = 60.0
"""Seconds in which an accepted message is tried: twice as long as a worker may be silent before it counts as dead."""

FIRST_DELAY, MAX_DELAY = 0.1, 2.0
"""Seconds between two attempts, doubled each time."""

MAX_MESSAGES, MAX_BYTES = 1_000, 16_777_216
"""Accepted and not delivered yet. Beyond that a message is refused, so that nobody can fill the memory."""

FLUSH_TIMEOUT = 5.0
"""Seconds for what is not delivered yet when this worker ends."""

Attempt = Callable[[Receive, Send], Awaitable[Outcome]]
"""Deliver the message once."""


class OutboxFull(Exception):
    """No room for another message that cannot be delivered now."""


class Delivery(NamedTuple):
    """How the attempts to deliver a message ended, and the response of the worker that has it."""

    outcome: Outcome
    response: list[Message]

    @property
    def is_accepted(self) -> bool:
        return bool(self.response) and self.response[0].get("status", 0) < 400


class Outbox:
    """The messages of one server's clients that are on their way to other workers."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Delivery]] = set()
        self._size = 0

    async def deliver(self, attempt: Attempt, *, size: int, may_repeat: bool) -> Delivery | None:
        """How it ended, if that is known soon; None for what is delivered later. Raises `OutboxFull`."""
        if len(self._tasks) >= MAX_MESSAGES or self._size + size > MAX_BYTES:
            raise OutboxFull
        # In a context of its own: it outlives the request that brought it.
        task = asyncio.get_running_loop().create_task(
            _deliver(attempt, may_repeat=may_repeat), context=contextvars.Context()
        )
        self._tasks.add(task)
        self._size += size
        task.add_done_callback(lambda task: self._remove(task, size))
        await asyncio.wait([task], timeout=ACCEPT_AFTER)
        if task.done():
            return task.result()
        task.add_done_callback(_report)
        return None

    async def close(self) -> None:
        """Deliver what can be delivered, and give the rest up."""
        if not self._tasks:
            return
        _done, late = await asyncio.wait(self._tasks, timeout=FLUSH_TIMEOUT)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    def _remove(self, task: asyncio.Task[Delivery], size: int) -> None:
        self._tasks.discard(task)
        self._size -= size


async def _deliver(attempt: Attempt, *, may_repeat: bool) -> Delivery:
    """Attempt after attempt. The SDK takes the second copy of an answer for one to no question, and drops it."""
    tried_again = {Outcome.SILENT, Outcome.BROKEN} if may_repeat else {Outcome.SILENT}
    deadline, delay = anyio.current_time() + DELIVERY_TIMEOUT, FIRST_DELAY
    while True:
        response: list[Message] = []

        async def keep(message: Message, response: list[Message] = response) -> None:
            response.append(message)

        outcome = await attempt(_stay, keep)
        if outcome not in tried_again or anyio.current_time() + delay > deadline:
            return Delivery(outcome, response)
        await anyio.sleep(delay)
        delay = min(2 * delay, MAX_DELAY)


async def _stay() -> Message:
    """Whoever waits for the delivery does not go."""
    await anyio.sleep_forever()
    raise AssertionError


def _report(task: asyncio.Task[Delivery]) -> None:
    if task.cancelled():
        logger.error(
            "an answer that was accepted for another worker could not be delivered: this worker ends"
        )
    elif (error := task.exception()) is not None:
        logger.error("an answer that was accepted for another worker could not be delivered", exc_info=error)
    elif not task.result().is_accepted:
        logger.warning(
            "an answer that was accepted for another worker was not taken: %s", task.result().outcome.name
        )
