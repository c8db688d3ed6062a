"""Worker threads in which statements are looked at, a few at a time, and turns for the threads beside them."""

import time
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

MAX_THREADS = 4
"""For one event loop. More would only take the interpreter from one another, and from the loop."""

Result = TypeVar("Result")

_limiters: RunVar[anyio.CapacityLimiter] = RunVar("askback_sql_threads")


async def run_in_thread(work: Callable[[], Result]) -> Result:
    """Run it in a thread. If the caller is cancelled, the thread continues and its result is dropped."""
    limiter = _limiters.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(MAX_THREADS)
        _limiters.set(limiter)
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)


BATCH_SIZE = 200
"""Steps between two turns of other threads: a quarter of a millisecond of work."""

PAUSE = 1e-6
"""Seconds. Any time at all lets a waiting thread have the interpreter."""


class Turns:
    """Counts the steps of a long computation in a worker thread, and lets other threads run in between.

    Python takes the interpreter away from a busy thread only every 5 ms, and the event loop needs it some twenty times
    to answer one HTTP request: without turns, a ping beside a large statement waits for 100 ms and more.
    """

    def __init__(self) -> None:
        self._steps = 0

    def take(self) -> None:
        self._steps += 1
        if self._steps % BATCH_SIZE == 0:
            time.sleep(PAUSE)
