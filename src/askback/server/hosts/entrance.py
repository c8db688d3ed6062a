"""The application through which HTTP requests come in, so that forwarded requests can pass it as well."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from askback.server.hosts.patches import patch_http_app, patch_middleware_stack

NOTED = "askback.entrance"
"""The key in the scope of a request under which its `Arrival` is noted."""


class Entrance:
    """An application, and the way by which forwarded requests go into it."""

    def __init__(self, app: ASGIApp, *, way_in: ASGIApp | None = None, is_outermost: bool = False) -> None:
        """Without `way_in`, requests go in at `app`; `is_outermost` means that it verifies callers by itself."""
        self.is_outermost = is_outermost
        self._app, self._way_in = app, AuthContextMiddleware(way_in or app)
        self._state: Mapping[str, Any] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            self._state = scope.get("state", {})
        elif scope["type"] == "http" and NOTED not in scope:
            scope[NOTED] = Arrival(self, dict(scope))
        await self._app(scope, receive, send)

    async def admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a forwarded request in, with the state of the lifespan and without the state of earlier requests."""
        await self._way_in({**scope, "state": dict(self._state)}, receive, send)


class Arrival(NamedTuple):
    """The first known entrance that a request met, and the request as it was there."""

    entrance: Entrance
    scope: Scope


def wrap(app: ASGIApp) -> ASGIApp:
    """Wrap an application that stands around an MCP server, as FastAPI or Starlette with its own authentication.

    A request of a 2025 session that another worker forwards then goes through the whole application again:
    `app = askback.wrap(app)`, after everything was added to it, and on all workers. Without it, the request goes in at
    the MCP application, with the user that the first worker verified.
    """
    return Entrance(app, is_outermost=True)


def arrival_of(scope: Scope, handle: ASGIApp) -> Arrival:
    """The entrance of a request. It is `handle` if no application around it is known."""
    return scope.get(NOTED) or Arrival(Entrance(handle), scope)


def note_arrivals(server: object, name: str, package: str = "mcp") -> None:
    """Have the applications that a server makes note where their requests come in."""
    patch_http_app(server, name, _make_app, package)


def _make_app(make: Any, *args: Any, **options: Any) -> Starlette:
    app: Starlette = make(*args, **options)

    def build_noting_stack(build: Any) -> Entrance:
        return Entrance(build(), way_in=app)

    patch_middleware_stack(app, build_noting_stack)
    return app
