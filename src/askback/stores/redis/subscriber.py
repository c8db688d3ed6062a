"""Who waits for a message on one event loop, and the connection that is subscribed for all of them.

Redis tells only those who are subscribed at that moment. So a waiter looks once more when its subscription is
confirmed, and each second in case a message was missed.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, TypeVar

from redis.exceptions import RedisError

from askback.errors import StoreUnavailable
from askback.stores.redis.problems import CLOSED

logger = logging.getLogger("askback")

T = TypeVar("T")

LOOK_INTERVAL = 1.0
"""Seconds between two looks without a message."""

RECONNECT_INTERVAL = 0.2
"""Seconds until a lost connection is opened again."""

OUTAGE_TIMEOUT = 10.0
"""Seconds that a waiter bears with a Redis that is away: it may just be restarted."""


class Waits(NamedTuple):
    """There is nothing to be seen yet."""

    seconds: float
    """When to look again without a message."""
    epoch: str = ""
    runner: str = ""


class Wakeup:
    """All who wait for one topic. One at a time looks, so a crowd asks Redis no more often than one waiter does."""

    def __init__(self) -> None:
        self.waiting = 0
        self.turn = asyncio.Lock()
        self.event = asyncio.Event()
        self.away_since = 0.0
        """When Redis was first missed; 0 while it is there."""

    async def sleep(self, seconds: float) -> None:
        """Until the next message, and no longer than that."""
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, LOOK_INTERVAL)):
                await self.event.wait()
        self.event.clear()

    async def look(self, look: Callable[[], Awaitable[T | Waits]]) -> T | Waits:
        """Redis may be away for a while."""
        try:
            found = await look()
        except StoreUnavailable:
            self.away_since = self.away_since or time.monotonic()
            if time.monotonic() - self.away_since > OUTAGE_TIMEOUT:
                raise
            return Waits(LOOK_INTERVAL)
        self.away_since = 0.0
        return found


class Subscriber:
    """The subscriptions of one event loop; connects when somebody waits."""

    def __init__(self, redis: Any, *, timeout: float) -> None:
        self._redis, self._timeout = redis, timeout
        self._pubsub: Any = None
        self._wakeups: dict[bytes, Wakeup] = {}
        self._wanted = asyncio.Event()
        self._is_closed = False

    async def wait_for(self, topic: bytes, look: Callable[[], Awaitable[T | Waits]]) -> T:
        """Look at each message on this topic, and now and then, until there is something to be seen."""
        async with self._subscribed(topic) as wakeup, wakeup.turn:
            try:
                seconds = LOOK_INTERVAL
                while True:
                    await wakeup.sleep(seconds)
                    if self._is_closed:
                        raise RedisError(CLOSED)
                    found = await wakeup.look(look)
                    if not isinstance(found, Waits):
                        return found
                    seconds = found.seconds
            finally:
                wakeup.event.set()  # the next one looks at once: what came meanwhile was for this one

    async def run(self) -> None:
        """Keep the connection as long as somebody waits, until this task is cancelled."""
        try:
            while True:
                if not self._wakeups:
                    self._wanted.clear()
                await self._wanted.wait()
                try:
                    await self._listen()
                except (RedisError, OSError) as error:
                    logger.debug("Redis sends no messages for now: %s", error)
                self._wake_all()
                await asyncio.sleep(RECONNECT_INTERVAL)
        finally:
            self._is_closed = True
            self._wake_all()
            await self._redis.aclose()

    async def _listen(self) -> None:
        async with self._redis.pubsub() as pubsub:
            async with asyncio.timeout(self._timeout):
                await pubsub.connect()
                self._pubsub = pubsub
                if self._wakeups:
                    await pubsub.subscribe(*self._wakeups)
            while True:
                message = await pubsub.get_message(timeout=None)
                wakeup = self._wakeups.get(message["channel"])
                if wakeup is not None:
                    wakeup.event.set()

    @asynccontextmanager
    async def _subscribed(self, topic: bytes) -> AsyncGenerator[Wakeup]:
        wakeup = self._wakeups.get(topic)
        is_new = wakeup is None
        if wakeup is None:
            wakeup = self._wakeups[topic] = Wakeup()
        wakeup.waiting += 1
        self._wanted.set()
        try:
            if is_new:
                await self._say("subscribe", topic)
            yield wakeup
        finally:
            wakeup.waiting -= 1
            if not wakeup.waiting:
                del self._wakeups[topic]
                await self._say("unsubscribe", topic)

    async def _say(self, verb: str, topic: bytes) -> None:
        """Where nothing is connected, `_listen` subscribes to all topics as soon as it is."""
        pubsub = self._pubsub
        if pubsub is not None and pubsub.connection is not None and pubsub.connection.is_connected:
            with suppress(RedisError, OSError):  # `_listen` meets the same, and connects again
                await getattr(pubsub, verb)(topic)

    def _wake_all(self) -> None:
        for wakeup in self._wakeups.values():
            wakeup.event.set()
