"""A fault point wherever a call is suspended: the store in the middle of a verb, a lock, a reply."""

from collections.abc import Awaitable, Generator
from pathlib import Path
from typing import Any

from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server

from askback.server.askback import middleware_of
from askback.server.call import Context
from tests.end_to_end.faults.points import Fuse


class Suspended:
    """An awaitable that passes by the fuse whenever it is left for the event loop."""

    def __init__(self, coroutine: Awaitable[Any], fuse: Fuse) -> None:
        self._coroutine, self._fuse = coroutine, fuse

    def __await__(self) -> Generator[Any, Any, Any]:
        steps: Any = self._coroutine.__await__()
        step, given = steps.send, None
        while True:
            try:
                wanted = step(given)
            except StopIteration as end:
                return end.value
            self._fuse.pass_by(f"the end of {_place(self._coroutine)}", "before")
            try:
                step, given = steps.send, (yield wanted)
            except BaseException as error:
                step, given = steps.throw, error


def _place(coroutine: Any) -> str:
    """The innermost line of Askback's that waits."""
    place = "?"
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "ag_frame", None)
        if frame is not None and "askback" in frame.f_code.co_filename:
            place = f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}"
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "ag_await", None)
    return place


def watch(lowlevel: Server[Any], fuse: Fuse) -> None:
    """From now on every call that goes through Askback has these points."""
    middleware = middleware_of(lowlevel)
    assert middleware is not None

    async def watched(ctx: Context, call_next: CallNext) -> HandlerResult:
        return await Suspended(middleware(ctx, call_next), fuse)

    lowlevel.middleware[lowlevel.middleware.index(middleware)] = watched
