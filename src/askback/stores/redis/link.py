"""One connection for all calls of one event loop: they are written one behind the other, and answered in that order.

So calls that come together travel together, and one that is cancelled leaves the connection whole.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from contextvars import Context
from typing import Any

from redis.exceptions import AuthenticationError, BusyLoadingError, ReadOnlyError, RedisError, ResponseError

from askback.stores.redis.address import SECONDS_TO_ANSWER, Argument, Connection, is_whole
from askback.stores.redis.problems import LinkClosed, LinkLost, NoAnswer

A_MOMENT = 0.1
"""Seconds between the end of patience and the end of the connection: where this process was held up, the answer may
be here already and only unread."""

SPEAKING = (AuthenticationError, BusyLoadingError)
"""Redis ends a conversation with these, and they say why."""


class Link:
    """Of a connection that is connected; ended for good by its first failure."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._asked: deque[tuple[asyncio.Future[Any], float]] = deque()
        self._end: Exception | None = None
        self._suspect: asyncio.Future[Any] | None = None
        self._watch: asyncio.TimerHandle | None = None
        # Of no caller: the first of them would be kept in memory as long as the connection lasts.
        self._context = Context()
        self._reader = asyncio.create_task(self._read(), name="askback redis", context=self._context)

    @property
    def is_open(self) -> bool:
        return self._end is None and is_whole(self._connection)

    async def ask(self, command: Sequence[Argument]) -> Any:
        if not self.is_open:
            raise self._end or LinkLost("the connection is gone")
        packed = pack(command)
        answer: asyncio.Future[Any] = self._loop.create_future()
        due = self._loop.time() + SECONDS_TO_ANSWER
        self._asked.append((answer, due))
        if self._watch is None:
            self._watch = self._loop.call_at(due, self._look_at_the_clock, context=self._context)
        try:
            await self._connection.send_packed_command(packed, check_health=False)
        except (RedisError, OSError) as error:
            self.end(_lost(error))
        except BaseException:
            answer.cancel()  # nobody waits for it any more
            raise
        return await answer

    def end(self, error: Exception) -> None:
        """All who wait get that error."""
        if self._end is not None:
            return
        self._end = error
        if self._watch is not None:
            self._watch.cancel()
        self._reader.cancel()
        for answer, _due in self._asked:
            if not answer.done():
                answer.set_exception(error)
        self._asked.clear()

    async def close(self) -> None:
        self.end(LinkClosed())
        await asyncio.wait([self._reader])

    async def _read(self) -> None:
        try:
            while True:
                said = await self._next()
                self._hand_out(said)
                self._leave_a_replica(said)
        except (RedisError, OSError) as error:
            self.end(_lost(error))
        finally:
            with suppress(RedisError, OSError):
                await self._connection.disconnect(nowait=True)

    async def _next(self) -> Any:
        try:
            return await self._connection.read_response(disconnect_on_error=False)
        except ResponseError as error:
            return error

    def _hand_out(self, said: Any) -> None:
        answer, _due = self._asked.popleft()
        if answer.done():  # nobody waits for it any more
            return
        if isinstance(said, ResponseError):
            answer.set_exception(said)
        else:
            answer.set_result(said)

    def _leave_a_replica(self, said: Any) -> None:
        """After a failover the same name may lead elsewhere; a primary that became a replica keeps its connections."""
        if isinstance(said, ReadOnlyError):
            self.end(said)

    def _look_at_the_clock(self) -> None:
        self._watch = None
        if not self._asked:
            return
        first, due = self._asked[0]
        if due > self._loop.time():
            self._watch = self._loop.call_at(due, self._look_at_the_clock)
        elif first is not self._suspect:
            self._suspect = first
            self._watch = self._loop.call_later(A_MOMENT, self._look_at_the_clock)
        else:
            self.end(no_answer())


def pack(command: Sequence[Argument]) -> bytes:
    """As redis-py does it, for the three kinds of arguments we have, in a third of the time."""
    parts = [b"*%d\r\n" % len(command)]
    for argument in command:
        if isinstance(argument, str):
            argument = argument.encode()
        elif isinstance(argument, int):
            argument = b"%d" % argument
        parts.append(b"$%d\r\n%b\r\n" % (len(argument), argument))
    return b"".join(parts)


def no_answer() -> NoAnswer:
    return NoAnswer(f"it did not answer within {SECONDS_TO_ANSWER:g} seconds")


def _lost(error: Exception) -> Exception:
    return error if isinstance(error, SPEAKING) else LinkLost(str(error))
