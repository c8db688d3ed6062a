"""Worker threads in which statements are looked at, a few at a time."""

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
