"""The pages on this very machine: a listener that starts when the first link goes out, and ends with the server."""

import asyncio
import contextvars
from collections.abc import Callable
from secrets import token_urlsafe

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send

from askback.pages.loopback_server import LOOPBACK, STARTING_SECONDS, EmbeddedServer, bind_loopback
from askback.pages.settings import ROOT

LAUNCH_BYTES = 16
"""Of the path of one launch: nobody finds it by trying."""

LAST_PAGES, REST, LOOK = 1.5, 0.3, 0.03
"""Seconds at the end of a server: what somebody has just sent may end the very call that it ran for, and they still
come for the page that says so, and for what belongs to it. At most that long: clients give a server two to go."""


class LoopbackListener:
    """One listener at a time, on the event loop of the server: what is kept in memory is there."""

    def __init__(self, make_app: Callable[[str], ASGIApp], *, port: int) -> None:
        self._make_app, self._port = make_app, port
        self._lock = anyio.Lock()
        self._base = ""
        self._server: EmbeddedServer | None = None
        self._counter = RequestCounter()
        self._task: asyncio.Task[None] | None = None

    async def base(self) -> str:
        """Where its pages are; from now on they are there."""
        async with self._lock:
            if self._task is None or self._task.done():
                await self._start()
        return self._base

    async def close(self) -> None:
        """Wait until it has ended. It starts again where another link goes out."""
        if self._server is None or self._task is None:
            return
        server, task = self._server, self._task
        self._task, self._server = None, None
        try:
            await self._counter.rests()
        finally:
            server.should_exit = True
        if not task.get_loop().is_closed():
            await asyncio.wait([task])

    async def _start(self) -> None:
        listener = bind_loopback(self._port, who="The page for this question")
        self._base = f"http://{LOOPBACK}:{listener.getsockname()[1]}{ROOT}/{token_urlsafe(LAUNCH_BYTES)}"
        server = self._server = EmbeddedServer(self._counter.before(self._make_app(self._base)))
        # In a context of its own: it outlives the call that needed it first.
        self._task = asyncio.get_running_loop().create_task(
            server.run_to_the_end(listener), context=contextvars.Context()
        )
        with anyio.fail_after(STARTING_SECONDS):
            await server.is_up.wait()


class RequestCounter:
    """Whether anybody is being served, or was just now."""

    def __init__(self) -> None:
        self._open = 0
        self._last = float("-inf")

    def before(self, app: ASGIApp) -> ASGIApp:
        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            self._open += 1
            try:
                await app(scope, receive, send)
            finally:
                self._open -= 1
                self._last = anyio.current_time()

        return counted

    async def rests(self) -> None:
        """At once, where nobody was here lately."""
        for _ in range(round(LAST_PAGES / LOOK)):
            if not self._open and anyio.current_time() >= self._last + REST:
                return
            await anyio.sleep(LOOK)
