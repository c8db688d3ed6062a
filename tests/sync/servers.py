"""Small servers for bodies written with `def`: one tool, made on the spot."""

from collections.abc import Callable
from typing import Any

import anyio.to_thread
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from askback import Askback

Body = Callable[[], str]


def mcpserver(body: Body, **options: Any) -> MCPServer[Any]:
    """An MCPServer whose tool "t" is `body`; it runs it in a thread by itself."""
    server: MCPServer[Any] = MCPServer("test")
    server.add_tool(body, name="t")
    Askback(server, **options)
    return server


def lowlevel(body: Body, **options: Any) -> Server[Any]:
    """A low-level Server that runs `body` in a thread of anyio's, as its author would."""

    async def call(_ctx: ServerRequestContext[Any, Any], _params: CallToolRequestParams) -> CallToolResult:
        text = await anyio.to_thread.run_sync(body)
        return CallToolResult(content=[TextContent(type="text", text=text)])

    server: Server[Any] = Server("test", on_call_tool=call)
    Askback(server, **options)
    return server


def fastmcp(body: Body, **options: Any) -> FastMCP[Any]:
    """A FastMCP server whose tool "t" is `body`; it runs it in a thread by itself."""
    server: FastMCP[Any] = FastMCP("test")
    server.tool(body, name="t")
    Askback(server, **options)
    return server


HOSTS: dict[str, Callable[..., Any]] = {"MCPServer": mcpserver, "Server": lowlevel, "FastMCP": fastmcp}
