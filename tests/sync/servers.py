"""Small servers for bodies written with `def`: of `tests.support.tool_servers`, and the low-level one with a thread."""

from collections.abc import Callable
from typing import Any

import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from askback import Askback
from tests.support import tool_servers

Body = Callable[[], str]

mcpserver: Callable[..., MCPServer[Any]] = tool_servers.mcpserver


def lowlevel(body: Body, **options: Any) -> Server[Any]:
    """A low-level Server that runs `body` in a thread of anyio's, as its author would."""

    async def call(_ctx: ServerRequestContext[Any, Any], _params: CallToolRequestParams) -> CallToolResult:
        text = await anyio.to_thread.run_sync(body)
        return CallToolResult(content=[TextContent(type="text", text=text)])

    server: Server[Any] = Server("test", on_call_tool=call)
    Askback(server, **options)
    return server


HOSTS: dict[str, Callable[..., Any]] = {**tool_servers.HOSTS, "Server": lowlevel}
