"""Servers for tests of guards: functions as tools, and what ran of them."""

from collections.abc import Callable
from typing import Any

from fastmcp import FastMCP
from mcp.server import MCPServer

from askback import Askback

Serve = Callable[..., Any]


def mcpserver(*functions: Callable[..., Any], **options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("test")
    for function in functions:
        server.add_tool(function)
    Askback(server, **options)
    return server


def fastmcp(*functions: Callable[..., Any], **options: Any) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("test")
    for function in functions:
        server.tool(function)
    Askback(server, **options)
    return server


HOSTS: dict[str, Serve] = {"MCPServer": mcpserver, "FastMCP": fastmcp}


class Disk:
    """What was done, in order. Bodies are replayed, so what counts is whether there is anything at all."""

    def __init__(self) -> None:
        self.done: list[Any] = []
