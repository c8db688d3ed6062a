"""How verbs reach Redis from any event loop, thread or process, and what becomes of those who wait."""

import asyncio
import os
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import anyio
import anyio.to_thread
from redis.exceptions import ReadOnlyError

from askback.errors import OperatorError, StoreUnavailable
from askback.stores.redis.address import SECONDS_TO_RENEW, Address, Argument
from askback.stores.redis.ears import LOOK_EACH
from askback.stores.redis.keeper import Keeper
from askback.stores.redis.keys import Keys
from askback.stores.redis.line import Line, Memory
from askback.stores.redis.problems import TROUBLES, LinkClosed, LinkLost, explain
from askback.stores.redis.scripts import script

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds that somebody who waits bears with a Redis that is away: it may just be started anew."""


class Waits(NamedTuple):
    """Somebody else is at it."""

    seconds: float
    """When to look again, if nothing is heard."""
    epoch: str = ""
    runner: str = ""


class Open:
    """What a store has open in this process."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.lines: dict[asyncio.AbstractEventLoop, Line] = {}
        self.keeper: Keeper | None = None

    def abandon(self) -> None:
        """The store is gone, or closed elsewhere."""
        if self.process == os.getpid():
            for line in self.lines.values():
                line.close_soon()
            if self.keeper is not None:
                self.keeper.end()


class Switchboard:
    """A line for each event loop and a keeper for each process, opened when they are needed."""

    def __init__(self, address: Address, *, lease: float) -> None:
        self._address, self._lease = address, lease
        self.keys = Keys(address.prefix)
        self.memory = Memory()
        self._lock = threading.Lock()
        self._inherited: Open | None = None
        self._begin()

    async def run(
        self, name: str, keys: Sequence[bytes], *arguments: Argument, again: Sequence[Argument] = ()
    ) -> Any:
        """A script; once more, with what it is told `again`, if the connection broke before it was answered, or leads
        to what is a replica by now."""
        try:
            try:
                return await self._line().run(script(name), keys, *arguments)
            except (LinkLost, ReadOnlyError):
                return await self._line().run(script(name), keys, *(again or arguments))
        except TROUBLES as error:
            raise self._explain(error) from error

    async def ask(self, *command: Argument) -> Any:
        """What only reads, and may so be asked again."""
        try:
            try:
                return await self._line().ask(*command)
            except LinkLost:
                return await self._line().ask(*command)
        except TROUBLES as error:
            raise self._explain(error) from error

    async def wait_for(self, topic: bytes, look: Callable[[], Awaitable[T | Waits]]) -> T:
        """Look when it is rung for, and now and then, until there is something to be seen."""
        seconds = LOOK_EACH
        try:
            async with self._line().ears.listening(topic) as bell:
                while True:
                    await bell.rung(seconds)
                    try:
                        found = await look()
                    except StoreUnavailable:
                        bell.away_since = bell.away_since or time.monotonic()
                        if time.monotonic() - bell.away_since > PATIENCE:
                            bell.ring()  # the next has waited as long
                            raise
                        seconds = LOOK_EACH
                        continue
                    bell.away_since = 0.0
                    if not isinstance(found, Waits):
                        return found
                    seconds = found.seconds
        except LinkClosed as error:
            raise self._explain(error) from None

    @property
    def keeper(self) -> Keeper:
        opened = self._opened()
        if opened.keeper is None:
            with self._lock:
                opened.keeper = opened.keeper or Keeper(self._address, self.keys, lease=self._lease)
        return opened.keeper

    async def close(self) -> None:
        former = self._opened()
        with self._lock:
            self._ending.detach()
            self._begin()
        here = former.lines.pop(asyncio.get_running_loop(), None)
        former.abandon()
        if here is not None:
            await here.close()
        if former.keeper is not None:
            await anyio.to_thread.run_sync(former.keeper.join, SECONDS_TO_RENEW)

    def _begin(self) -> None:
        self._open = Open()
        self._ending = weakref.finalize(self, self._open.abandon)

    def _opened(self) -> Open:
        if self._open.process != os.getpid():
            # After a fork the parent's connections must be neither used nor closed here, so they are left alone.
            self._inherited = self._open
            self._lock = threading.Lock()  # another thread of the parent may have held it
            self._ending.detach()
            self._begin()
        return self._open

    def _line(self) -> Line:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise OperatorError(
                f"The store {self._address.name} needs asyncio; this event loop is another."
            ) from None
        opened = self._opened()
        line = opened.lines.get(loop)
        if line is None:
            with self._lock:
                for closed in [other for other in opened.lines if other.is_closed()]:
                    opened.lines.pop(closed, None)
                line = opened.lines[loop] = Line(self._address, self.keys, self.memory)
        return line

    def _explain(self, error: Exception) -> StoreUnavailable:
        return explain(error, store=self._address.name, prefix=self._address.prefix)
