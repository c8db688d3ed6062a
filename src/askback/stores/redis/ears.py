"""Who waits for what, and the one connection that hears of it.

Redis tells only those who listen at that moment. So whoever waits looks once more when he is heard to listen, and each
second in case something was missed.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import Context

from redis.exceptions import RedisError

from askback.stores.redis.address import Connection, is_whole
from askback.stores.redis.link import pack
from askback.stores.redis.problems import LinkClosed, NoAnswer

logger = logging.getLogger("askback")

LOOK_EACH = 1.0
"""Seconds between two looks without being told."""

PAUSE = 0.2
"""Seconds until a lost connection is opened again, as long as somebody waits."""


class Bell:
    """Those of one event loop who wait for one topic; the first of them looks, and the others when it is done."""

    def __init__(self) -> None:
        self.waiting = 0
        self.is_heard = False
        self.is_closed = False
        self.away_since = 0.0
        """When Redis was first missed by those who wait; 0 while it is there."""
        self.turn = asyncio.Lock()
        self._rings = asyncio.Event()

    def ring(self) -> None:
        self._rings.set()

    async def rung(self, seconds: float) -> None:
        """At the next ring, or after that time."""
        if not self.is_closed:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(seconds, LOOK_EACH)):
                    await self._rings.wait()
        self._rings.clear()
        if self.is_closed:
            raise LinkClosed()


class Ears:
    """Of one event loop; opened when somebody waits."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connect = connect
        self._connection: Connection | None = None
        self._bells: dict[bytes, Bell] = {}
        self._listener: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listening(self, topic: bytes) -> AsyncGenerator[Bell]:
        """For one's turn among those who wait for it here."""
        bell = self._bells.get(topic)
        is_new = bell is None
        if bell is None:
            bell = self._bells[topic] = Bell()
        bell.waiting += 1
        if self._listener is None or self._listener.done():
            self._listener = asyncio.create_task(
                self._listen(), name="askback redis listens", context=Context()
            )
        try:
            if is_new:
                await self._say("SUBSCRIBE", topic)
            async with bell.turn:
                if bell.is_heard:
                    bell.ring()  # what came before was for the one before
                yield bell
        finally:
            bell.waiting -= 1
            if not bell.waiting and self._bells.get(topic) is bell:
                del self._bells[topic]
                await self._say("UNSUBSCRIBE", topic)

    async def close(self) -> None:
        """Those who still wait get an error."""
        for bell in self._bells.values():
            bell.is_closed = True
            bell.ring()
        self._bells.clear()
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.wait([self._listener])

    async def _listen(self) -> None:
        while self._bells:
            try:
                await self._hear()
            except (RedisError, OSError, NoAnswer) as error:
                logger.debug("Redis tells nothing for now: %s", error)
            for bell in self._bells.values():
                bell.is_heard = False
                bell.ring()
            await asyncio.sleep(PAUSE)

    async def _hear(self) -> None:
        connection = await self._connect()
        try:
            self._connection = connection
            await self._say("SUBSCRIBE", *self._bells)
            while True:
                kind, topic, _said = await connection.read_response(disconnect_on_error=False)
                bell = self._bells.get(topic)
                if bell is not None:
                    bell.is_heard = bell.is_heard or kind == b"subscribe"
                    bell.ring()
        finally:
            self._connection = None
            with suppress(RedisError, OSError):
                await connection.disconnect(nowait=True)

    async def _say(self, *command: str | bytes) -> None:
        """Where nobody listens yet, it is said when somebody does."""
        connection = self._connection
        if connection is not None and is_whole(connection) and len(command) > 1:
            with suppress(RedisError, OSError):  # the listener meets the same, and begins anew
                await connection.send_packed_command(pack(command), check_health=False)
