"""The sessions of this process, and how a forwarded request is let in to one of them."""

from collections.abc import Iterator
from typing import NamedTuple

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import DEFAULT_MAX_REQUEST_BODY_SIZE
from starlette.types import Receive, Scope, Send

from askback.server.forwarding.envelope import Envelope, unpack_scope, unpack_user
from askback.server.forwarding.seal import ForwardingKeys
from askback.server.hosts.entrance import Entrance
from askback.server.hosts.streamable_http import has_session

FORWARDED = "askback.forwarded"
"""In the scope of a request that another worker forwarded: it is never forwarded again."""


class LocalSession(NamedTuple):
    """One session of this process."""

    manager: StreamableHTTPSessionManager
    entrance: Entrance
    """Where the request came in that opened the session: all its requests pass the applications from there on."""

    async def serve(self, envelope: Envelope, receive: Receive, send: Send) -> None:
        """Let the request in as it came in at the other worker, with every check from the entrance on."""
        scope: Scope = {**unpack_scope(envelope.scope), FORWARDED: True}
        if not self.entrance.is_outermost:
            scope |= unpack_user(envelope.user)
        await self.entrance.admit(scope, receive, send)


class LocalSessions:
    """The sessions of one server in this process, and the keys with which others may reach them."""

    def __init__(self, keys: ForwardingKeys) -> None:
        self.keys = keys
        self._sessions: dict[str, LocalSession] = {}

    def add(self, id: str, session: LocalSession) -> None:
        self._sessions[id] = session

    def remove(self, id: str) -> None:
        self._sessions.pop(id, None)

    def find(self, id: str) -> LocalSession | None:
        session = self._sessions.get(id)
        return session if session is not None and has_session(session.manager, id) else None

    def list_alive(self) -> Iterator[str]:
        """The sessions that have not ended. The others are forgotten."""
        for id in [*self._sessions]:
            if self.find(id) is None:
                self.remove(id)
            else:
                yield id

    @property
    def max_body_size(self) -> int:
        """Bytes that the server accepts in one request."""
        limits = {session.manager.max_request_body_size for session in self._sessions.values()}
        return max(limits, default=DEFAULT_MAX_REQUEST_BODY_SIZE)
