"""The sessions that live in this process, and how their requests are let in when another worker brings them."""

from collections.abc import Iterator
from typing import NamedTuple

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import DEFAULT_MAX_REQUEST_BODY_SIZE
from starlette.types import Receive, Scope, Send

from askback.server.forwarding.envelope import Envelope, unpack_scope, unpack_user
from askback.server.forwarding.seal import ForwardingKeys
from askback.server.hosts.entrance import Entrance
from askback.server.hosts.streamable_http import has_session

FORWARDED = "askback.brought"
"""In the scope of a request that another worker brought: it is never passed on again."""


class LocalSession(NamedTuple):
    """Where one session lives."""

    manager: StreamableHTTPSessionManager
    entrance: Entrance
    """Where the request came in that opened it: what stands before the server there stands before all that follow."""

    async def serve(self, envelope: Envelope, receive: Receive, send: Send) -> None:
        """Let in the request as it came in at the other worker: all checks from the entrance on are made again."""
        scope: Scope = {**unpack_scope(envelope.scope), FORWARDED: True}
        if not self.entrance.is_outermost:
            scope |= unpack_user(envelope.user)
        await self.entrance.admit(scope, receive, send)


class LocalSessions:
    """The sessions of one server."""

    def __init__(self, ring: ForwardingKeys) -> None:
        self.ring = ring
        self._homes: dict[str, LocalSession] = {}

    def add(self, id: str, home: LocalSession) -> None:
        self._homes[id] = home

    def remove(self, id: str) -> None:
        self._homes.pop(id, None)

    def find(self, id: str) -> LocalSession | None:
        home = self._homes.get(id)
        return home if home is not None and has_session(home.manager, id) else None

    def list_alive(self) -> Iterator[str]:
        """All that have not ended; the others are forgotten."""
        for id in [*self._homes]:
            if self.find(id) is None:
                self.remove(id)
            else:
                yield id

    @property
    def max_body_size(self) -> int:
        """Bytes that the server lets in."""
        limits = {home.manager.max_request_body_size for home in self._homes.values()}
        return max(limits, default=DEFAULT_MAX_REQUEST_BODY_SIZE)
