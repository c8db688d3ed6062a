"""MCP servers over HTTP with MCP authorization: tokens and visitors come from one OpenID provider."""

import socket
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import anyio
import httpx2
from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from mcp import Client
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl
from starlette.types import ASGIApp

from askback import Askback
from askback.oauth import Provider
from askback.pages import Pages, SignIn
from askback.pages.loopback_server import EmbeddedServer, bind_loopback
from tests.support.openid.provider import OpenID
from tests.support.openid.revisions import mode_of
from tests.support.openid.sign_in import access_token

Host = Literal["mcp", "fastmcp"]
HOSTS: tuple[Host, ...] = ("mcp", "fastmcp")

WAITING = 60
"""Seconds for one answer of the server: people sign in meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Takes the provider's JWTs that were made for one MCP server."""

    issuer: str
    resource: str
    keys: KeySet

    async def verify_token(self, token: str) -> AccessToken | None:
        rules = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": self.issuer},
            aud={"essential": True, "value": self.resource},
            exp={"essential": True},
            sub={"essential": True},
        )
        try:
            claims = jwt.decode(token, self.keys, algorithms=["RS256"]).claims
            rules.validate(claims)
        except (JoseError, ValueError):
            return None
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=claims["scope"].split(),
            expires_at=claims["exp"],
            resource=self.resource,
            subject=claims["sub"],
            claims=claims,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """A running server."""

    openid: OpenID
    base: str
    asked: Askback

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    @asynccontextmanager
    async def client(self, name: str, revision: str, callback: ElicitationFnT) -> AsyncGenerator[Client]:
        """The MCP client of that person, with their token."""
        token = await access_token(self.openid, name, resource=self.url)
        headers = {"authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=WAITING, trust_env=False) as http,
            Client(
                streamable_http_client(self.url, http_client=http),
                mode=mode_of(revision),
                elicitation_callback=callback,
            ) as client,
        ):
            yield client


@asynccontextmanager
async def guarded(
    openid: OpenID,
    *tools: Callable[..., Any],
    providers: Iterable[Provider] = (),
    service: OpenID | None = None,
    host: Host = "mcp",
    **options: Any,
) -> AsyncGenerator[Guarded]:
    """Serve these tools. `openid` guards the server and its pages; `service`, or `openid` itself, is where `providers`
    are: their callbacks are registered there under their client ids. `options` are those of `Askback`."""
    with bind_loopback(0, who="A test's server") as listener:
        base = _base(listener)
        server = await _server(openid, base, host)
        for tool in tools:
            server.tool()(tool)
        pages_id = await openid.register(f"pages of {base}", f"{base}/askback/sign-in/callback")
        asked = Askback(
            server,
            pages=Pages(url=base, door=SignIn(issuer=openid.issuer, client_id=pages_id)),
            providers=await registered(service or openid, f"{base}/askback", providers),
            **options,
        )
        app = server.http_app() if isinstance(server, FastMCP) else server.streamable_http_app()
        async with _served(app, listener):
            yield Guarded(openid=openid, base=base, asked=asked)


async def registered(openid: OpenID, pages: str, providers: Iterable[Provider]) -> list[Provider]:
    """Make each known to the OpenID provider, with its callback under these pages."""
    known = list(providers)
    for one in known:
        await openid.register(one.client_id, f"{pages}/callback/{one.name}", secret=one.client_secret)
    return known


def _base(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


async def _server(openid: OpenID, base: str, host: Host) -> "MCPServer[Any] | FastMCP[Any]":
    if host == "fastmcp":
        verifier = JWTVerifier(
            jwks_uri=f"{openid.issuer}/jwks",
            issuer=openid.issuer,
            audience=f"{base}/mcp",
            required_scopes=["tools"],
        )
        trusted = [AnyHttpUrl(openid.issuer)]
        return FastMCP("tools", auth=RemoteAuthProvider(verifier, trusted, base))
    response = (await openid.client.get("/jwks")).raise_for_status()
    resource = f"{base}/mcp"
    return MCPServer(
        "tools",
        token_verifier=Tokens(
            issuer=openid.issuer, resource=resource, keys=KeySet.import_key_set(response.json())
        ),
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(openid.issuer),
            resource_server_url=AnyHttpUrl(resource),
            required_scopes=["tools"],
            validate_token_resource=True,
        ),
    )


@asynccontextmanager
async def _served(app: ASGIApp, listener: socket.socket) -> AsyncGenerator[None]:
    server = EmbeddedServer(app)
    server.config.lifespan = "on"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.run_to_the_end, listener)
        try:
            with anyio.fail_after(20):
                await server.is_up.wait()
            yield
        finally:
            server.should_exit = True
