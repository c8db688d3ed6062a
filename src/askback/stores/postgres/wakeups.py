"""Wakeups: notifications of the server, by topic, for the tasks of one event loop."""

import asyncio
import hashlib
from contextlib import suppress
from typing import Literal
from weakref import WeakValueDictionary

LOOK_INTERVAL = 1.0
"""Seconds after which a waiter looks by itself: a notification may be lost with the connection that would bring it."""


def name_topic(kind: Literal["run", "end"], key: bytes) -> str:
    """The payload of a notification, as the functions in the database write it."""
    return f"{kind} {hashlib.sha256(key).hexdigest()}"


class Wakeups:
    """One event for each topic that is waited for. It is dropped with its last waiter."""

    def __init__(self) -> None:
        self._events: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()

    def expect(self, topic: str) -> asyncio.Event:
        """An event that the next notification sets. Take it before you look, or you may miss one."""
        event = self._events.get(topic)
        if event is None:
            event = self._events[topic] = asyncio.Event()
        return event

    def notify(self, topic: str) -> None:
        if event := self._events.pop(topic, None):
            event.set()

    def notify_all(self) -> None:
        for topic in list(self._events):
            self.notify(topic)

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        """Wait until the event is set, or until it is time to look."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.01, min(seconds, LOOK_INTERVAL))):
                await event.wait()
