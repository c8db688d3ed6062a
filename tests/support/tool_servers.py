"""Small servers for tests: one tool, made on the spot."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from askback import Askback

Body = Callable[[], Awaitable[str]]


def mcpserver(body: Body, **options: Any) -> MCPServer[Any]:
    """An MCPServer whose tool "t" is `body`."""
    server: MCPServer[Any] = MCPServer("test")
    server.add_tool(body, name="t")
    Askback(server, **options)
    return server


def lowlevel(body: Body, **options: Any) -> Server[Any]:
    """A low-level Server whose tool "t" is `body`."""

    async def call(_ctx: ServerRequestContext[Any, Any], _params: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=await body())])

    server: Server[Any] = Server("test", on_call_tool=call)
    Askback(server, **options)
    return server


def fastmcp(body: Body, **options: Any) -> FastMCP[Any]:
    """A FastMCP server whose tool "t" is `body`."""
    server = _serving(body)
    Askback(server, **options)
    return server


def mounted(body: Body, **options: Any) -> FastMCP[Any]:
    """A FastMCP server whose tool "t" is that of another one, mounted in it."""
    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(_serving(body))
    Askback(parent, **options)
    return parent


def _serving(body: Body) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("test")
    server.tool(body, name="t")
    return server


HOSTS: dict[str, Callable[..., Any]] = {
    "MCPServer": mcpserver,
    "Server": lowlevel,
    "FastMCP": fastmcp,
    "mounted": mounted,
}
