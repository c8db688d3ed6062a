"""The SDK's streamable HTTP with sessions: where its private parts are touched, and nowhere else."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import anyio
from mcp.server import streamable_http
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager as Manager
from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from askback.server.hosts.mcp import require

HANDLE = "_handle_stateful_request"
"""Behind the limit on bodies and the parting of revisions: only requests with sessions come here."""

EVENTS = "_event_store"
"""Of a session's transport."""

SESSION_ID = MCP_SESSION_ID_HEADER.encode("ascii")

STREAM, LISTEN = "EventSourceResponse", "_listen_for_exit_signal"
"""What the SDK answers calls with; it waits for the word that the process is to end, and is cut then."""

DRAIN_TIMEOUT = 20.0
"""Seconds for the calls that run when a worker is told to end: less than the 30 that Kubernetes gives a pod."""

ENTRANCE = "askback.entrance"
"""In the scope of a request: where it came in."""

Handle = Callable[[Scope, Receive, Send], Awaitable[None]]


class SessionInterceptor(NamedTuple):
    """What Askback has to do with the sessions of one server."""

    handle: Callable[[Manager, Handle, Scope, Receive, Send], Awaitable[None]]
    """Each request; it is given the SDK's own way."""
    stop: Callable[[], None]
    """The process was told to end, and calls are still being answered."""
    drain: Callable[[], Awaitable[None]]
    """The sessions end as soon as this returns."""


_WATCHERS: WeakKeyDictionary[Server[Any], SessionInterceptor] = WeakKeyDictionary()
_RUNNING: WeakKeyDictionary[Server[Any], int] = WeakKeyDictionary()
"""Managers of a server: it may be served on several transports."""

_STOP: ContextVar[Callable[[], None] | None] = ContextVar("askback_stop", default=None)
"""For the stream of a call: what to do when the process is told to end."""


class Entrance(NamedTuple):
    """The outermost application that a request met, and the request as it was then."""

    app: ASGIApp
    scope: Scope


def intercept_sessions(lowlevel: Server[Any], watcher: SessionInterceptor) -> None:
    """Have `watcher` handle all requests of this server's sessions, and their end."""
    _wrap_managers()
    _patch_run()
    _patch_streams()
    _WATCHERS[lowlevel] = watcher


def session_of(headers: Any) -> str | None:
    """The id of a session in the headers of a request or an answer."""
    return next((value.decode("latin-1") for name, value in headers if name.lower() == SESSION_ID), None)


def caller_of(scope: Scope) -> object:
    """Whose sessions a request may use, as the SDK has it; None where nobody had to say who they are."""
    user: object = scope.get("user")
    return authorization_context(user) if isinstance(user, AuthenticatedUser) else None


def has_session(manager: Manager, id: str) -> bool:
    """Whether it lives here. Older versions keep those that were ended, too."""
    transport = _sessions(manager).get(id)
    return transport is not None and not transport.is_terminated


def remember_events(manager: Manager, id: str, events: EventStore) -> None:
    """From now on, where nothing else remembers them: a client can then take a broken stream up again."""
    transport = _sessions(manager).get(id)
    if transport is not None and getattr(transport, EVENTS, events) is None:
        setattr(transport, EVENTS, events)


async def end_session(manager: Manager, id: str) -> None:
    """As if the client had ended it."""
    transport = _sessions(manager).pop(id, None)
    cast("dict[str, Any]", vars(manager).get("_session_owners", {})).pop(id, None)
    if transport is not None:
        with anyio.CancelScope(shield=True):
            await transport.terminate()


def entrance_of(scope: Scope, handle: ASGIApp) -> Entrance:
    """Where a request came in; `handle` itself, where no application of Starlette's is around it."""
    return scope.get(ENTRANCE) or Entrance(handle, scope)


def _sessions(manager: Manager) -> dict[str, Any]:
    found = vars(manager).get("_server_instances")
    require(isinstance(found, dict), "StreamableHTTPSessionManager knows its sessions by their ids")
    return cast("dict[str, Any]", found)


@lru_cache(maxsize=1)
def _wrap_managers() -> None:
    """Once for all managers, also those that were made before; servers that nobody watches pass."""
    handle: Callable[..., Awaitable[None]] | None = getattr(Manager, HANDLE, None)
    require(handle is not None, f"StreamableHTTPSessionManager has {HANDLE}")
    assert handle is not None

    @wraps(handle)
    async def handle_and_watch(self: Manager, scope: Scope, receive: Receive, send: Send) -> None:
        watcher = _WATCHERS.get(self.app)
        if watcher is None:
            await handle(self, scope, receive, send)
            return
        token = _STOP.set(watcher.stop if scope["method"] == "POST" else None)
        try:
            await watcher.handle(self, handle.__get__(self), scope, receive, send)
        finally:
            _STOP.reset(token)

    setattr(Manager, HANDLE, handle_and_watch)


@lru_cache(maxsize=1)
def _patch_run() -> None:
    """`StreamableHTTPSessionManager.run` cancels what its sessions run; a watcher's calls are finished before that."""
    run = Manager.run

    @asynccontextmanager
    async def run_and_drain(self: Manager) -> AsyncGenerator[None]:
        watcher = _WATCHERS.get(self.app)
        if watcher is None:
            async with run(self):
                yield
            return
        async with run(self):
            _RUNNING[self.app] = _RUNNING.get(self.app, 0) + 1
            try:
                yield
            finally:
                _RUNNING[self.app] -= 1
                if not _RUNNING[self.app]:
                    with anyio.CancelScope(shield=True):
                        await watcher.drain()

    Manager.run = wraps(run)(run_and_drain)


@lru_cache(maxsize=1)
def _patch_streams() -> None:
    """`EventSourceResponse` of the SDK's sessions ends as soon as the process is told to; that of a call is held."""
    require(
        getattr(streamable_http, STREAM, None) is EventSourceResponse
        and hasattr(EventSourceResponse, LISTEN),
        f"the SDK answers calls with an {STREAM} that has {LISTEN}",
    )
    setattr(streamable_http, STREAM, DrainingStream)


class DrainingStream(EventSourceResponse):
    """The stream of a call goes on for a while when the process is told to end."""

    def __init__(self, *args: Any, **named: Any) -> None:
        cast("Any", super()).__init__(*args, **named)
        self._stop = _STOP.get()
        setattr(self, LISTEN, self._listen_and_hold)

    async def _listen_and_hold(self) -> None:
        listen: Callable[[], Awaitable[None]] = getattr(EventSourceResponse, LISTEN)
        await listen()
        if self._stop is not None:
            self._stop()
            await anyio.sleep(DRAIN_TIMEOUT)


@lru_cache(maxsize=1)
def note_entrances() -> None:
    """Have requests tell where they came in, for `entrance_of`: each application writes itself into the scope over the
    one around it, and nothing else tells the outermost."""
    enter = Starlette.__call__

    @wraps(enter)
    async def note_and_enter(self: Starlette, scope: Scope, receive: Receive, send: Send) -> None:
        if _WATCHERS and scope["type"] == "http" and ENTRANCE not in scope:
            as_it_was = {**scope, "state": dict(scope.get("state", {}))}
            scope[ENTRANCE] = Entrance(self, as_it_was)
        await enter(self, scope, receive, send)

    Starlette.__call__ = note_and_enter
