"""A travel agency as each of several workers serves it, on every host."""

import os
from collections.abc import Callable
from typing import Any, Literal

import anyio
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from starlette.applications import Starlette
from starlette.routing import Mount

from askback import Accepted, Askback, ask

Host = Literal["MCPServer", "Server", "FastMCP"]
HOSTS: list[Host] = ["MCPServer", "Server", "FastMCP"]

PACKING = 1.0
"""Seconds: longer than a worker needs to notice that it is to end."""

KEYS = ["the same for all workers, 32 bytes or more"]
BEARERS = ("ada", "bob")


class Tokens:
    """A token is the name of its bearer."""

    async def verify_token(self, token: str) -> AccessToken | None:
        if token not in BEARERS:
            return None
        return AccessToken(token=token, client_id="app", scopes=[], subject=token)


async def book(city: str) -> str:
    """A tool that asks; it says which process it ran in."""
    match await ask(f"How many to {city}?", int):
        case Accepted(count):
            return f"{count} to {city}, booked in {os.getpid()}"
        case other:
            return type(other).__name__


async def pack() -> str:
    """Takes its time, and asks nobody."""
    await anyio.sleep(PACKING)
    return "packed"


def travel(host: Host, *, is_protected: bool = False, **options: Any) -> Any:
    """The server; `bell` rings on the session's own stream."""
    server = MAKES[host](is_protected)
    given: dict[str, Any] = {"keys": KEYS, **options}
    Askback(server, **given)
    return server


def app_of(host: Host, server: Any, **options: Any) -> Any:
    """Its application; that of a low-level server is mounted in another."""
    if host == "FastMCP":
        return server.http_app(**options)
    app = server.streamable_http_app(**options)
    if host == "MCPServer":
        return app
    return Starlette(routes=[Mount("/", app)], lifespan=app.router.lifespan_context)


def _mcpserver(is_protected: bool) -> Any:
    address: Any = "http://127.0.0.1/"
    auth = AuthSettings(
        issuer_url=address, resource_server_url=address, required_scopes=[], validate_token_resource=False
    )
    protection: dict[str, Any] = {"token_verifier": Tokens(), "auth": auth} if is_protected else {}
    server: MCPServer[Any] = MCPServer("travel", **protection)
    server.add_tool(book)
    server.add_tool(pack)

    rings: list[str] = []

    @server.tool()
    async def rung() -> int:
        """How often the bell of this worker was rung."""
        return len(rings)

    @server.tool()
    async def bell(ctx: Context[Any, Any]) -> str:
        rings.append("ring")
        await ctx.session.send_tool_list_changed()
        return "rung"

    return server


def _fastmcp(is_protected: bool) -> Any:
    tokens: dict[str, dict[str, Any]] = {
        name: {"client_id": name, "sub": name, "scopes": []} for name in BEARERS
    }
    server: FastMCP[Any] = FastMCP("travel", auth=StaticTokenVerifier(tokens) if is_protected else None)
    server.tool(book)
    server.tool(pack)

    @server.tool
    async def bell(ctx: FastContext) -> str:
        await ctx.session.send_tool_list_changed()
        return "rung"

    return server


def _lowlevel(_is_protected: bool) -> Any:
    async def call(ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        if params.name == "bell":
            await ctx.session.send_tool_list_changed()
            text = "rung"
        else:
            text = await book(str((params.arguments or {})["city"]))
        return CallToolResult(content=[TextContent(type="text", text=text)])

    async def tools(_ctx: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[])

    return Server("travel", on_call_tool=call, on_list_tools=tools)


MAKES: dict[Host, Callable[[bool], Any]] = {
    "MCPServer": _mcpserver,
    "Server": _lowlevel,
    "FastMCP": _fastmcp,
}
