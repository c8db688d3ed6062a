"""The sessions that live in this process, and how their requests are let in when another worker brings them."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import DEFAULT_MAX_REQUEST_BODY_SIZE
from starlette.types import ASGIApp, Receive, Scope, Send

from askback.server.adapters.streamable import has_session
from askback.server.workers.parcels import Parcel, scope_of
from askback.server.workers.sealing import Ring

BROUGHT = "askback.brought"
"""In the scope of a request that another worker brought: it is never passed on again."""


class Home(NamedTuple):
    """Where one session lives."""

    manager: StreamableHTTPSessionManager
    app: ASGIApp
    """Where the request came in that opened it: what stands before the server there stands before all that follow."""
    state: Mapping[str, Any]
    """Of the application's lifespan. Nothing else of that request is kept, least of all its token."""

    async def let_in(self, parcel: Parcel, receive: Receive, send: Send) -> None:
        """The request as it came in at the other worker: authorization and all other checks are made here again."""
        scope: Scope = {**scope_of(parcel.scope), "state": dict(self.state), BROUGHT: True}
        await self.app(scope, receive, send)


class Homes:
    """The sessions of one server."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self._homes: dict[str, Home] = {}

    def add(self, id: str, home: Home) -> None:
        self._homes[id] = home

    def remove(self, id: str) -> None:
        self._homes.pop(id, None)

    def find(self, id: str) -> Home | None:
        home = self._homes.get(id)
        return home if home is not None and has_session(home.manager, id) else None

    def living(self) -> Iterator[str]:
        """All that have not ended; the others are forgotten."""
        for id in [*self._homes]:
            if self.find(id) is None:
                self.remove(id)
            else:
                yield id

    @property
    def longest_body(self) -> int:
        """Bytes that the server lets in."""
        limits = {home.manager.max_request_body_size for home in self._homes.values()}
        return max(limits, default=DEFAULT_MAX_REQUEST_BODY_SIZE)
