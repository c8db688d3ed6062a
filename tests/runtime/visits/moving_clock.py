"""An event loop whose time jumps when nobody has anything to do: an hour passes in a blink, and in its order."""

import asyncio
import selectors
from typing import Any

from anyio.to_thread import current_default_thread_limiter

BEGINNING = 1_800_000_000.0
"""Seconds since the epoch when such a loop begins."""

A_MOMENT = 0.005
"""Real seconds for sockets and threads to speak up, before the first jump after one of them did."""

AT_MOST = 30.0
"""Real seconds in which something must happen where nothing is planned."""


class MovingLoop(asyncio.SelectorEventLoop):
    """Its `time` moves by what timers wait for, and by nothing else."""

    def __init__(self) -> None:
        self.moved = 0.0
        self._limiter: Any = None
        super().__init__(_Leaping(self))

    def time(self) -> float:
        return self.moved

    def clock(self) -> float:
        """The same as seconds since the epoch, for `Askback(clock=...)`."""
        return BEGINNING + self.moved

    def mind_threads(self) -> None:
        """Do not jump while one of anyio's threads is at work for this loop."""
        self._limiter = current_default_thread_limiter()

    @property
    def has_threads_at_work(self) -> bool:
        return self._limiter is not None and self._limiter.borrowed_tokens > 0


def moving_loop() -> MovingLoop:
    """The loop of a running test."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, MovingLoop)
    loop.mind_threads()
    return loop


async def go_by(seconds: float) -> None:
    """Until the moving clock is so much further; to anybody else no time has passed."""
    is_time = asyncio.Event()
    moving_loop().call_later(seconds, is_time.set)
    await is_time.wait()


class _Leaping(selectors.DefaultSelector):
    """Where others would sleep, it moves the time."""

    def __init__(self, loop: MovingLoop) -> None:
        super().__init__()
        self._loop = loop
        self._is_quiet = False

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            ready = super().select(AT_MOST)
            assert ready, "nobody would ever wake this loop"
            return ready
        ready = super().select(0)
        if not ready and timeout > 0 and not (self._is_quiet and not self._loop.has_threads_at_work):
            ready = super().select(A_MOMENT)
            self._is_quiet = not ready and not self._loop.has_threads_at_work
            if not self._is_quiet:
                return ready
        if ready:
            self._is_quiet = False
        else:
            self._loop.moved += max(timeout, 0.0)
        return ready
