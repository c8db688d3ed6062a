"""Answers and notifications for sessions of other workers: delivered at once, or accepted and delivered later.

A client sends an answer once. The SDK's client ignores an error response to it, and its call would never end. So an
answer that cannot be delivered at once is accepted, and tried again for a bounded time until its worker has it.
"""

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple, cast

import anyio
from starlette.types import Message, Receive, Send

from askback.server.forwarding.forwarder import ForwardOutcome

logger = logging.getLogger("askback")

ACCEPT_AFTER = 2.0
"""Seconds that a client waits for its worker's own response to an answer; then the answer is accepted (202)."""

DELIVERY_TIMEOUT = 60.0
"""Seconds in which delivery is tried: twice as long as one attempt waits for a silent worker."""

FIRST_DELAY, MAX_DELAY = 0.1, 2.0
"""Seconds between two attempts; the delay doubles each time."""

MAX_MESSAGES, MAX_BYTES = 1_000, 16_777_216
"""Messages that are accepted and not delivered yet, and their bytes. Further messages are refused, so that clients
cannot fill the memory."""

MAX_UNROUTED, MAX_PER_SESSION = MAX_MESSAGES // 4, 20
"""Messages for sessions without a known route, whose ids a client can invent while the store does not answer; and
messages for one session. So one sender cannot take the places of all others."""

FLUSH_TIMEOUT = 5.0
"""Seconds to deliver the remaining messages when this worker ends."""

NEVER_DISCONNECTS = cast("Receive", anyio.sleep_forever)

Attempt = Callable[[Receive, Send], Awaitable[ForwardOutcome]]
"""Deliver the message once."""


class OutboxItem(NamedTuple):
    """What the limits of the outbox count of a message."""

    session: str
    size: int
    has_route: bool
    """Whether this worker knew the worker of the session when the message came."""


class Delivery(NamedTuple):
    """How the attempts to deliver a message ended, and the response of the worker that has it."""

    outcome: ForwardOutcome
    response: list[Message]

    @property
    def status(self) -> int | None:
        """The HTTP status of the response, if there was one."""
        return self.response[0].get("status") if self.response else None


class Outbox:
    """The messages that one server is delivering to other workers."""

    def __init__(self) -> None:
        self._items: dict[asyncio.Task[Delivery], OutboxItem] = {}

    async def deliver(self, attempt: Attempt, item: OutboxItem, *, may_repeat: bool) -> Delivery | None:
        """Deliver a message now, or accept it (None) and deliver it later. Without room, it is not delivered."""
        if not self._has_room(item):
            logger.error("too many answers wait for workers that do not answer: one is refused")
            return Delivery(ForwardOutcome.SILENT, [])
        # In a context of its own: it outlives its request.
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
        """Deliver what can be delivered now, and give up the rest."""
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
    """Try until it is delivered. A copy of an answer does no harm: the SDK ignores an answer to no question."""
    may_try_again = {ForwardOutcome.SILENT, ForwardOutcome.BROKEN} if may_repeat else {ForwardOutcome.SILENT}
    deadline, delay = anyio.current_time() + DELIVERY_TIMEOUT, FIRST_DELAY
    while True:
        response: list[Message] = []

        async def keep(message: Message, response: list[Message] = response) -> None:
            response.append(message)

        outcome = ForwardOutcome.SILENT
        with anyio.move_on_after(deadline - anyio.current_time()):
            outcome = await attempt(NEVER_DISCONNECTS, keep)
        if outcome not in may_try_again or anyio.current_time() + delay > deadline:
            return Delivery(outcome, response)
        await anyio.sleep(delay)
        delay = min(2 * delay, MAX_DELAY)


def _report(task: asyncio.Task[Delivery]) -> None:
    if task.cancelled():
        logger.error(
            "an answer that was accepted for another worker could not be delivered: this worker ends"
        )
    elif (error := task.exception()) is not None:
        logger.error("an answer that was accepted for another worker could not be delivered", exc_info=error)
    elif (task.result().status or 500) >= 400:
        logger.warning(
            "an answer that was accepted for another worker was not taken: %s, HTTP status %s",
            task.result().outcome.name,
            task.result().status or "unknown",
        )
