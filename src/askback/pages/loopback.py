"""The pages on this machine: a listener that starts when the first link is sent and ends with the server, and the path
of one launch, which only its links contain."""

import asyncio
import contextvars
from collections.abc import Callable, Collection
from secrets import compare_digest, token_urlsafe
from urllib.parse import urlsplit

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from askback.pages.connect import OAuthStates
from askback.pages.loopback_server import LOOPBACK, STARTING_SECONDS, EmbeddedServer, bind_loopback
from askback.pages.requests import provider_answer
from askback.pages.settings import ROOT
from askback.pages.site import Site

LAUNCH_BYTES = 16
"""Random bytes in the path of a launch: nobody finds it by trying."""

OTHER_NAME = "These pages answer to the address in their own links, and to no other name."

MAX_DRAIN, IDLE, CHECK_INTERVAL = 1.5, 0.3, 0.03
"""Seconds at the end of a server. A post may end the very call for which the server ran, and the browser still loads
the page that says so, with its files. Clients give a server two seconds to end."""


class LoopbackListener:
    """One listener at a time, on the event loop of the server, where stores in memory are."""

    def __init__(self, make_app: Callable[[str], ASGIApp], *, port: int) -> None:
        self._make_app, self._port = make_app, port
        self._lock = anyio.Lock()
        self._base = ""
        self._running: tuple[EmbeddedServer, asyncio.Task[None]] | None = None
        self._requests, self._last_end = 0, float("-inf")

    async def base(self) -> str:
        """The address of the pages. The listener is started if it is not running."""
        async with self._lock:
            if self._running is None or self._running[1].done():
                await self._start()
        return self._base

    async def close(self) -> None:
        """End the listener, and wait for that. The next link starts it again."""
        if self._running is None:
            return
        (server, task), self._running = self._running, None
        try:
            for _ in range(round(MAX_DRAIN / CHECK_INTERVAL)):
                if not self._requests and anyio.current_time() >= self._last_end + IDLE:
                    break
                await anyio.sleep(CHECK_INTERVAL)
        finally:
            server.should_exit = True
        if not task.get_loop().is_closed():
            await asyncio.wait([task])

    async def _start(self) -> None:
        listener = bind_loopback(self._port, who="The page for this question")
        self._base = f"http://{LOOPBACK}:{listener.getsockname()[1]}{ROOT}/{token_urlsafe(LAUNCH_BYTES)}"
        server = EmbeddedServer(self._counted(self._make_app(self._base)))
        # In a context of its own: the listener outlives the call that needed it first.
        task = asyncio.get_running_loop().create_task(
            server.run_to_the_end(listener), context=contextvars.Context()
        )
        self._running = server, task
        with anyio.fail_after(STARTING_SECONDS):
            await server.is_up.wait()

    def _counted(self, app: ASGIApp) -> ASGIApp:
        async def count(scope: Scope, receive: Receive, send: Send) -> None:
            self._requests += 1
            try:
                await app(scope, receive, send)
            finally:
                self._requests -= 1
                self._last_end = anyio.current_time()

        return count


class LaunchPath:
    """Serves the pages below the path of this launch, and only under the name in its own links.

    A browser sends a cookie to every port of a host, and any user of this machine may listen on a port. The cookie is
    limited to the path of the launch, so a program that does not know this path cannot receive the cookie. Requests
    that bring something this server gave out, a state or a visit's id, are redirected to the path; all others are not.
    """

    def __init__(self, app: ASGIApp, site: Site, *, states: OAuthStates, owners: Collection[str]) -> None:
        self._app, self._site, self._states, self._owners = app, site, states, owners
        self._authority = urlsplit(site.base).netloc.encode()
        self._launch = site.base.rpartition("/")[2].encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        _, root, launch, rest = [*scope["path"].split("/", 3), "", "", ""][:4]
        response: ASGIApp = Response(status_code=403)
        if not self._has_own_name(scope):
            response = PlainTextResponse(OTHER_NAME, 403)
        elif f"/{root}" == ROOT and compare_digest(launch.encode("utf-8", "surrogatepass"), self._launch):
            scope, response = {**scope, "path": f"{ROOT}/{rest}"}, self._app
        elif f"/{root}" == ROOT and (target := await self._target(Request(scope), launch, rest)) is not None:
            response = RedirectResponse(target, 303)
        await response(scope, receive, send)

    def _has_own_name(self, scope: Scope) -> bool:
        """False if another site's name leads to this machine (DNS rebinding): the Host header has that name."""
        return [value for name, value in scope["headers"] if name == b"host"] == [self._authority]

    async def _target(self, request: Request, first: str, rest: str) -> str | None:
        if first == "callback":
            return await self._callback(request, rest)
        page, _, id = rest.partition("/")
        return await self._visit(id) if page == "visit" else None

    async def _callback(self, request: Request, name: str) -> str | None:
        """Providers know an address that stays the same. A person who comes from one brings a state of ours."""
        is_ours = name in self._site.connectors and request.method == "GET"
        if not is_ours or not await self._states.is_known(provider_answer(request).get("state", "")):
            return None
        return f"{self._site.base}/callback/{name}?{request.url.query}"

    async def _visit(self, id: str) -> str | None:
        """The link of an earlier launch leads to the page of this one. Links of callers over HTTP, who may be anybody,
        do not."""
        visit = await self._site.find(id)
        if visit is None or visit.owner not in self._owners or await self._site.visits.ended(id) is not None:
            return None
        return f"{self._site.base}/visit/{id}"
