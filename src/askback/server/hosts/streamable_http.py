"""Sessions of the SDK's streamable HTTP: how their requests and their end are intercepted."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager as Manager
from sse_starlette.sse import EventSourceResponse
from starlette.types import Receive, Scope, Send

from askback.server.hosts.patches import (
    patch_event_store,
    patch_event_stream,
    patch_manager_run,
    patch_session_requests,
    require,
)

SESSION_ID = MCP_SESSION_ID_HEADER.encode("ascii")

DRAIN_TIMEOUT = 20.0
"""Seconds for the running calls of a worker that is told to end: less than the 30 that Kubernetes gives a pod."""

Handle = Callable[[Scope, Receive, Send], Awaitable[None]]


class SessionInterceptor(NamedTuple):
    """What Askback does with the sessions of one server."""

    handle: Callable[[Manager, Handle, Scope, Receive, Send], Awaitable[None]]
    """Handles each request. It gets the SDK's own handler, too."""
    stop: Callable[[], None]
    """Called when the process is told to end while calls still run."""
    drain: Callable[[], Awaitable[None]]
    """Called before the sessions end. They end when it returns."""


_INTERCEPTORS: WeakKeyDictionary[Server[Any], SessionInterceptor] = WeakKeyDictionary()
_RUNNING: WeakKeyDictionary[Server[Any], int] = WeakKeyDictionary()
"""Managers that run for a server, which may be served at several paths."""

_STOP: ContextVar[Callable[[], None] | None] = ContextVar("askback_stop", default=None)
"""For the stream of a call: what it calls when the process is told to end."""


def intercept_sessions(lowlevel: Server[Any], interceptor: SessionInterceptor) -> None:
    """Have `interceptor` handle all requests of this server's sessions, and their end."""
    patch_session_requests(_intercept_requests)
    patch_manager_run(_drain_before_end)
    patch_event_stream(DrainingStream)
    _INTERCEPTORS[lowlevel] = interceptor


def session_of(headers: Any) -> str | None:
    """The id of a session in the headers of a request or a response."""
    return next((value.decode("latin-1") for name, value in headers if name.lower() == SESSION_ID), None)


def caller_of(scope: Scope) -> object:
    """The caller whose sessions a request may use, by the SDK's rule; None if callers are not verified."""
    user: object = scope.get("user")
    return authorization_context(user) if isinstance(user, AuthenticatedUser) else None


def has_session(manager: Manager, id: str) -> bool:
    """Whether the session is here. Older versions of the SDK keep sessions that have ended."""
    transport = _sessions(manager).get(id)
    return transport is not None and not transport.is_terminated


def remember_events(manager: Manager, id: str, events: EventStore) -> None:
    """Keep the events of a session, if they are not kept yet, so that a client can resume a broken stream."""
    transport = _sessions(manager).get(id)
    if transport is not None:
        patch_event_store(transport, events)


async def end_session(manager: Manager, id: str) -> None:
    """End a session as if the client had ended it."""
    transport = _sessions(manager).pop(id, None)
    cast("dict[str, Any]", vars(manager).get("_session_owners", {})).pop(id, None)
    if transport is not None:
        with anyio.CancelScope(shield=True):
            await transport.terminate()


def _sessions(manager: Manager) -> dict[str, Any]:
    found = vars(manager).get("_server_instances")
    require(isinstance(found, dict), "StreamableHTTPSessionManager knows its sessions by their ids")
    return cast("dict[str, Any]", found)


def _intercept_requests(handle: Any) -> Any:
    async def handle_intercepted(self: Manager, scope: Scope, receive: Receive, send: Send) -> None:
        interceptor = _INTERCEPTORS.get(self.app)
        if interceptor is None:
            await handle(self, scope, receive, send)
            return
        token = _STOP.set(interceptor.stop if scope["method"] == "POST" else None)
        try:
            await interceptor.handle(self, handle.__get__(self), scope, receive, send)
        finally:
            _STOP.reset(token)

    return handle_intercepted


def _drain_before_end(run: Any) -> Any:
    @asynccontextmanager
    async def run_and_drain(self: Manager) -> AsyncGenerator[None]:
        interceptor = _INTERCEPTORS.get(self.app)
        async with run(self):
            _RUNNING[self.app] = _RUNNING.get(self.app, 0) + 1
            try:
                yield
            finally:
                _RUNNING[self.app] -= 1
                if interceptor is not None and not _RUNNING[self.app]:
                    with anyio.CancelScope(shield=True):
                        await interceptor.drain()

    return run_and_drain


class DrainingStream(EventSourceResponse):
    """The stream of a call goes on for a while when the process is told to end."""

    def __init__(self, *args: Any, **named: Any) -> None:
        cast("Any", super()).__init__(*args, **named)
        self._stop = _STOP.get()

    async def _listen_for_exit_signal(self) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] # theirs is static
        await EventSourceResponse._listen_for_exit_signal()
        if self._stop is not None:
            self._stop()
            await anyio.sleep(DRAIN_TIMEOUT)
