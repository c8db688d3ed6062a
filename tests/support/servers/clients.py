"""The SDK's clients on any revision. They cannot pin 2025-06-18, so there the handshake is made by hand."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import mcp_types as types
from mcp import Client, ClientSession, StdioServerParameters, stdio_client
from mcp.client._memory import InMemoryTransport
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client

JUNE, NOVEMBER = "2025-06-18", "2025-11-25"


@asynccontextmanager
async def client_on(
    revision: str, target: Any, callback: ElicitationFnT, *, shows_links: bool = False
) -> AsyncGenerator[Client | ClientSession]:
    """A connected client; both kinds can `call_tool`. In June 2025 links are no part of the protocol, but some clients
    declare them; later the SDK's do."""
    if revision == JUNE:
        async with (
            _streams(target) as (read, write),
            ClientSession(read, write, elicitation_callback=callback) as session,
        ):
            await _shake_hands(session, shows_links=shows_links)
            yield session
        return
    async with Client(
        target, mode="legacy" if revision == NOVEMBER else revision, elicitation_callback=callback
    ) as client:
        yield client


def _streams(target: Any) -> AbstractAsyncContextManager[Any]:
    match target:
        case str():
            return streamable_http_client(target)
        case StdioServerParameters():
            return stdio_client(target)
        case _:
            return InMemoryTransport(target)


async def _shake_hands(session: ClientSession, *, shows_links: bool) -> None:
    both = types.ElicitationCapability(
        form=types.FormElicitationCapability(), url=types.UrlElicitationCapability()
    )
    hello = types.InitializeRequestParams(
        protocol_version=JUNE,
        capabilities=types.ClientCapabilities(
            elicitation=both if shows_links else types.ElicitationCapability()
        ),
        client_info=types.Implementation(name="june", version="1"),
    )
    session.adopt(await session.send_request(types.InitializeRequest(params=hello), types.InitializeResult))
    await session.send_notification(types.InitializedNotification())
