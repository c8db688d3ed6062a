"""The SDK's streamable HTTP with sessions: where its private parts are touched, and nowhere else."""

from collections.abc import Awaitable, Callable
from functools import lru_cache, wraps
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager as Manager
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from askback.server.adapters.mcp import require

HANDLE = "_handle_stateful_request"
"""Behind the limit on bodies and the parting of revisions: only requests with sessions come here."""

EVENTS = "_event_store"
"""Of a session's transport."""

SESSION_ID = MCP_SESSION_ID_HEADER.encode("ascii")

ENTRANCE = "askback.entrance"
"""In the scope of a request: where it came in."""

Handle = Callable[[Scope, Receive, Send], Awaitable[None]]
Watcher = Callable[[Manager, Handle, Scope, Receive, Send], Awaitable[None]]

_WATCHERS: WeakKeyDictionary[Server[Any], Watcher] = WeakKeyDictionary()


class Entrance(NamedTuple):
    """The outermost application that a request met, and the request as it was then."""

    app: ASGIApp
    scope: Scope


def watch_requests(lowlevel: Server[Any], watcher: Watcher) -> None:
    """Have `watcher` handle all requests of this server's sessions; it is given the SDK's own way."""
    _wrap_managers()
    _note_entrances()
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
        else:
            await watcher(self, handle.__get__(self), scope, receive, send)

    setattr(Manager, HANDLE, handle_and_watch)


@lru_cache(maxsize=1)
def _note_entrances() -> None:
    """Each application writes itself into the scope over the one around it; nothing else tells the outermost."""
    enter = Starlette.__call__

    @wraps(enter)
    async def note_and_enter(self: Starlette, scope: Scope, receive: Receive, send: Send) -> None:
        if _WATCHERS and scope["type"] == "http" and ENTRANCE not in scope:
            as_it_was = {**scope, "state": dict(scope.get("state", {}))}
            scope[ENTRANCE] = Entrance(self, as_it_was)
        await enter(self, scope, receive, send)

    Starlette.__call__ = note_and_enter
