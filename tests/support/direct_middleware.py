"""Askback's middleware without a transport: a request comes as the boundary passes it on, its state in the clear."""

from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any

from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp_types import ClientCapabilities, ElicitationCapability

from askback import Askback
from askback.server.askback import middleware_of
from askback.stores import Store
from tests.support.raw import LATEST

Body = Callable[[], Awaitable[str]]

CAPABILITIES = ClientCapabilities(elicitation=ElicitationCapability())


class Session(ServerSession):
    """The session of one request, from a client that can show forms."""

    def __init__(self, capabilities: ClientCapabilities) -> None:
        """Nothing is sent over it."""
        self._declared = capabilities

    @property
    def client_capabilities(self) -> ClientCapabilities:
        return self._declared

    @property
    def client_params(self) -> None:
        """It never shook hands."""


class Direct:
    """A server whose requests cost some hundred microseconds."""

    def __init__(
        self, *, store: Store | None = None, capabilities: ClientCapabilities = CAPABILITIES, **options: Any
    ) -> None:
        server: Server[Any] = Server("direct")
        self._capabilities = capabilities
        self.askback = Askback(server, store=store, **options)
        middleware = middleware_of(server)
        assert middleware is not None
        self._middleware = middleware

    async def call(
        self,
        body: Body,
        *,
        arguments: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """One tools/call with `body` as the tool, and `requestState` and `inputResponses` among the fields; with
        `headers`, even none, as it comes over HTTP."""

        async def run(_ctx: ServerRequestContext[Any, Any]) -> HandlerResult:
            return {"content": [{"type": "text", "text": await body()}]}

        params = {"name": "t", "arguments": dict(arguments or {}), **fields}
        context = ServerRequestContext(
            session=Session(self._capabilities),
            lifespan_context=None,
            protocol_version=LATEST,
            method="tools/call",
            params=params,
            request_id=1,
            request=None if headers is None else SimpleNamespace(headers=headers),
        )
        result = await self._middleware(context, run)
        assert isinstance(result, dict)
        return result
