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

from askback.server.forwarding.forwarder import ForwardOutcome

logger = logging.getLogger("askback")

ACCEPT_AFTER = 2.0
"""Seconds that a client waits for its worker's own response to an answer; then the answer is accepted (202)."""

DELIVERY_TIMEOUT = 60.0
"""Seconds in which an accepted message is tried: twice as long as one attempt waits for a silent worker."""

FIRST_DELAY, MAX_DELAY = 0.1, 2.0
"""Seconds between two attempts, doubled each time."""

MAX_MESSAGES, MAX_BYTES = 1_000, 16_777_216
"""Accepted and not delivered yet. Beyond that a message is refused, so that nobody can fill the memory."""

MAX_UNROUTED, MAX_PER_SESSION = MAX_MESSAGES // 4, 20
"""Of these, for sessions that this worker has not looked up yet, whose ids anybody can make up while the store stands
still; and for any one session. So one sender cannot take the places of all others."""

FLUSH_TIMEOUT = 5.0
"""Seconds for what is not delivered yet when this worker ends."""

Attempt = Callable[[Receive, Send], Awaitable[ForwardOutcome]]
"""Deliver the message once."""


class OutboxFull(Exception):
    """No room for another message that cannot be delivered now."""


class OutboxItem(NamedTuple):
    """What is to be delivered, as far as its place in the outbox goes."""

    session: str
    size: int
    has_route: bool
    """Whether this worker knew where the session lives when the message came."""


class Delivery(NamedTuple):
    """How the attempts to deliver a message ended, and the response of the worker that has it."""

    outcome: ForwardOutcome
    response: list[Message]

    @property
    def status(self) -> int | None:
        """The HTTP status of the response, if there was one."""
        return self.response[0].get("status") if self.response else None

    @property
    def is_accepted(self) -> bool:
        return self.status is not None and self.status < 400


class Outbox:
    """The messages of one server's clients that are on their way to other workers."""

    def __init__(self) -> None:
        self._items: dict[asyncio.Task[Delivery], OutboxItem] = {}

    async def deliver(self, attempt: Attempt, item: OutboxItem, *, may_repeat: bool) -> Delivery | None:
        """How it ended, if that is known soon; None for what is delivered later. Raises `OutboxFull`."""
        if not self._has_room(item):
            raise OutboxFull
        # In a context of its own: it outlives the request that brought it.
        task = asyncio.get_running_loop().create_task(
            _deliver(attempt, may_repeat=may_repeat), context=contextvars.Context()
        )
        self._items[task] = item
        task.add_done_callback(self._items.pop)
        await asyncio.wait([task], timeout=ACCEPT_AFTER)
        if task.done():
            return task.result()
        task.add_done_callback(_report)
        return None

    async def close(self) -> None:
        """Deliver what can be delivered, and give the rest up."""
        if not self._items:
            return
        _done, late = await asyncio.wait([*self._items], timeout=FLUSH_TIMEOUT)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    def _has_room(self, item: OutboxItem) -> bool:
        items = self._items.values()
        return (
            len(items) < MAX_MESSAGES
            and sum(other.size for other in items) + item.size <= MAX_BYTES
            and sum(other.session == item.session for other in items) < MAX_PER_SESSION
            and (item.has_route or sum(not other.has_route for other in items) < MAX_UNROUTED)
        )


async def _deliver(attempt: Attempt, *, may_repeat: bool) -> Delivery:
    """Attempt after attempt. The SDK takes the second copy of an answer for one to no question, and drops it."""
    tried_again = {ForwardOutcome.SILENT, ForwardOutcome.BROKEN} if may_repeat else {ForwardOutcome.SILENT}
    deadline, delay = anyio.current_time() + DELIVERY_TIMEOUT, FIRST_DELAY
    while True:
        response: list[Message] = []

        async def keep(message: Message, response: list[Message] = response) -> None:
            response.append(message)

        outcome = ForwardOutcome.SILENT
        with anyio.move_on_after(deadline - anyio.current_time()):
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
            "an answer that was accepted for another worker was not taken: %s, HTTP status %s",
            task.result().outcome.name,
            task.result().status or "unknown",
        )
