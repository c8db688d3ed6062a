"""Leases: a run counts as alive while its process says so. One thread for each store says it for all runs."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from math import isfinite
from typing import Generic, NamedTuple, TypeVar

from askback.errors import OperatorError, StoreUnavailable

logger = logging.getLogger("askback")

LEASE = 15.0
"""Seconds, renewed at every third of it."""

RETRY_INTERVAL = 1.0
"""Seconds until the thread tries again what failed."""

Row = TypeVar("Row")


def require_lease(lease: float, *, of: str) -> float:
    """A time that can pass."""
    if not (isfinite(lease) and lease > 0):
        raise OperatorError(
            f"{of}(lease={lease}) is no time to live. Give it some seconds, such as {LEASE:g}."
        )
    return lease


class Abandoned(NamedTuple, Generic[Row]):
    """A claim that may have been granted, and that nobody will run."""

    row: Row
    repeat_until: float
    """A release before this moment may have come too early: the claim may still have been on its way."""
    give_up_at: float


class Leases(Generic[Row]):
    """A thread that renews the leases of all runs of one store in this process, and releases abandoned claims.

    It has an event loop of its own, so a body that blocks its loop does not pass for dead. `renew` and `release` are
    called on that loop; `renew` gives the tokens of claims that were lost. Neither may refer to the store itself, or
    the store could never be collected.
    """

    def __init__(
        self,
        lease: float,
        *,
        renew: Callable[[Mapping[str, Row]], Awaitable[Collection[str]]],
        release: Callable[[str, Row], Awaitable[None]],
    ) -> None:
        self.process = os.getpid()
        self.loop = asyncio.new_event_loop()
        self._lease, self._call_renew, self._call_release = lease, renew, release
        self._held: dict[str, tuple[Row, asyncio.AbstractEventLoop | None]] = {}
        self._abandoned: dict[str, Abandoned[Row]] = {}
        self._wake = asyncio.Event()
        self._is_ending = self._is_failing = False
        self._thread = threading.Thread(target=self._run, name="askback leases", daemon=True)
        self._thread.start()

    # From any thread: each step is one operation on a dict, so nothing is locked.

    def hold(self, token: str, row: Row) -> None:
        """The running event loop runs this claim from now on."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # of another library, which cannot be asked whether it is closed
            loop = None
        self._held[token] = row, loop

    def holds(self, token: str) -> bool:
        return token in self._held

    def drop(self, token: str) -> None:
        """Renew it no more."""
        self._held.pop(token, None)

    def abandon(self, token: str, row: Row, *, repeat_for: float = 0.0) -> None:
        """Release this claim as soon as the store can be reached, and again for as long as `repeat_for` says."""
        self.drop(token)
        now = time.monotonic()
        self._abandoned[token] = Abandoned(row, now + repeat_for, now + repeat_for + 4 * self._lease)
        self.call(self._wake.set)

    def end(self) -> None:
        """End the thread; what it held may be taken over when its lease has passed."""
        self._is_ending = True
        self.call(self._wake.set)

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def call(self, callback: Callable[[], object]) -> None:
        """On the loop of the thread, if that has not ended."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(callback)

    # In the thread.

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._attend())

    async def _attend(self) -> None:
        while not self._is_ending:
            self._wake.clear()
            is_well = await self._try(self._renew, self._release)
            pause = self._lease / 3
            if not is_well or self._abandoned:
                pause = min(RETRY_INTERVAL, pause)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()
        await self._try(self._release)

    async def _renew(self) -> None:
        for token, (_row, loop) in list(self._held.items()):
            if loop is not None and loop.is_closed():  # the body is gone with it
                self.drop(token)
        held = {token: row for token, (row, _loop) in list(self._held.items())}
        if held:
            for token in await self._call_renew(held):
                self.drop(token)

    async def _release(self) -> None:
        for token, abandoned in list(self._abandoned.items()):
            began = time.monotonic()
            if began < abandoned.give_up_at:
                await self._call_release(token, abandoned.row)
            if began >= abandoned.repeat_until:
                self._abandoned.pop(token, None)

    async def _try(self, *steps: Callable[[], Awaitable[None]]) -> bool:
        """Whether all went well. No caller waits for it, so the log says what failed, once until it works again."""
        try:
            for step in steps:
                await step()
        except Exception as error:
            if not self._is_failing:
                unexpected = None if isinstance(error, StoreUnavailable) else error
                logger.warning("%s", error, exc_info=unexpected)
            self._is_failing = True
            return False
        self._is_failing = False
        return True
