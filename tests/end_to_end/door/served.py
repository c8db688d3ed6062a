"""Servers over HTTP that know their callers by tokens; no provider and no browser is needed for that."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequestURLParams, ElicitResult, Implementation, TextContent
from pydantic import AnyHttpUrl
from starlette.requests import Request

from askback import Accepted, Askback, secret
from askback.pages import Pages
from tests.support.fastmcp_http import fastmcp_served
from tests.support.openid.guarded_server import Host, mode_of
from tests.support.servers.http import served
from tests.support.visitor import visitor

ISSUER = "https://id.example"
BASE = "http://127.0.0.1:9"
"""Of the pages, which nobody serves: visitors go to the application itself."""

WHO = "x-signed-in-as"

CLAIMS: dict[str, dict[str, Any]] = {
    "alice": {"iss": ISSUER, "sub": "alice"},
    "bob": {"iss": ISSUER, "sub": "bob"},
    "alice of elsewhere": {"iss": "https://id.elsewhere.example", "sub": "alice"},
    "one without a subject": {"iss": ISSUER},
    "another without a subject": {"iss": ISSUER},
    "one with an empty subject": {"iss": ISSUER, "sub": ""},
    "one without an issuer": {"sub": "alice"},
    "alice, as the MCP client knows her": {"iss": ISSUER, "sub": "m-1", "tid": "corp", "oid": "0-7"},
    "alice, as another client knows her": {"iss": ISSUER, "sub": "n-1", "tid": "corp", "oid": "0-7"},
    "bob, as the MCP client knows him": {"iss": ISSUER, "sub": "m-1", "tid": "corp", "oid": "0-8"},
}
"""What the authorization server says of the bearer of each token; all have the same client."""

TOKENS: dict[str, dict[str, Any]] = {
    name: {"client_id": "app", "scopes": [], **claims} for name, claims in CLAIMS.items()
}


class Known:
    """Takes these tokens and no others."""

    async def verify_token(self, token: str) -> AccessToken | None:
        claims = TOKENS.get(token)
        if claims is None:
            return None
        return AccessToken(
            token=token, client_id="app", scopes=[], subject=claims.get("sub"), claims=CLAIMS[token]
        )


async def reveal(whose: str = "") -> str:
    """Whoever may read this secret."""
    match await secret("The key of the shed.", "shed"):
        case Accepted(found):
            return found.reveal()
        case other:
            return repr(other)


async def who_is_there(request: Request) -> Mapping[str, Any] | None:
    return CLAIMS.get(request.headers.get(WHO, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shed:
    """A running server, whose only tool gives the caller's secret away to the caller."""

    url: str
    asked: Askback

    async def call(
        self,
        token: str | None,
        revision: str,
        *,
        types: str | None = None,
        visits_as: str | None = None,
        calls_itself: str = "a client",
        meta: dict[str, Any] | None = None,
        **headers: str,
    ) -> str:
        """What the client of that bearer reads. Whoever is sent to a page types `types` there, or nothing at all."""

        async def go(context: ClientRequestContext, params: Any) -> ElicitResult:
            assert isinstance(params, ElicitRequestURLParams)
            if types is None:
                return ElicitResult(action="decline")
            async with visitor(self.asked.pages) as browser:
                browser.client.headers[WHO] = visits_as or token or ""
                shown = await browser.give(params.url, types)
            return ElicitResult(action="accept" if shown.status == 200 else "cancel")

        bearer = {} if token is None else {"authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers={**bearer, **headers}, timeout=30, trust_env=False) as http,
            Client(
                streamable_http_client(self.url, http_client=http),
                mode=mode_of(revision),
                elicitation_callback=go,
                client_info=Implementation(name=calls_itself, version="1"),
            ) as client,
        ):
            return await _text(client, meta)


async def _text(client: Client, meta: Any) -> str:
    try:
        [content] = (await client.call_tool("reveal", {"whose": "alice"}, meta=meta)).content
    except MCPError as error:
        return error.error.message
    assert isinstance(content, TextContent)
    return content.text


def server_of(host: Host, *, is_protected: bool = True) -> "MCPServer[Any] | FastMCP[Any]":
    if host == "fastmcp":
        return FastMCP("tools", auth=StaticTokenVerifier(TOKENS) if is_protected else None)
    if not is_protected:
        return MCPServer("tools")
    auth = AuthSettings(issuer_url=AnyHttpUrl(ISSUER), resource_server_url=None)
    return MCPServer("tools", token_verifier=Known(), auth=auth)


@asynccontextmanager
async def shed(
    host: Host, *, is_protected: bool = True, claims: tuple[str, ...] = ("iss", "sub"), **options: Any
) -> AsyncGenerator[Shed]:
    server = server_of(host, is_protected=is_protected)
    server.tool()(reveal)
    pages = Pages(url=BASE, door=who_is_there, claims=claims) if is_protected else Pages()
    given: dict[str, Any] = {"pages": pages, **options}
    asked = Askback(server, **given)
    opened = fastmcp_served(server) if isinstance(server, FastMCP) else served(server)
    async with opened as url:
        yield Shed(url=url, asked=asked)
