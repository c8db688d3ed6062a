"""Cafes with a tool for each style of asking, as programs: `python -m tests.end_to_end.outside.cafes FastMCP http`."""

import sys
from typing import Any

from fastmcp import FastMCP
from mcp.server import MCPServer

from askback import Askback
from tests.support.cafe import fastmcp, mcpserver

STYLES = {
    "FastMCP": {"ask": "ask", "elicit": "ctx.elicit", "own": "own result", "sync": "sync"},
    "MCPServer": {"resolve": "Resolve", "visit": "ctx.elicit_url"},
}
"""The tools of each host, and the style that each is written in."""


def on_fastmcp() -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("cafe")
    Askback(mcp)
    for tool, style in STYLES["FastMCP"].items():
        mcp.tool(fastmcp.BODIES[style], name=tool)
    return mcp


def on_mcpserver() -> MCPServer[Any]:
    mcp: MCPServer[Any] = MCPServer("cafe")
    Askback(mcp)
    for tool, style in STYLES["MCPServer"].items():
        mcp.add_tool(mcpserver.BODIES[style], name=tool)
    return mcp


def serve(host: str, transport: str) -> None:
    """Until the end; over HTTP on a port that is free."""
    match host, transport:
        case "FastMCP", "http":
            on_fastmcp().run("http", port=0, show_banner=False)
        case "FastMCP", _:
            on_fastmcp().run("stdio", show_banner=False)
        case _, "http":
            on_mcpserver().run("streamable-http", port=0)
        case _:
            on_mcpserver().run("stdio")


if __name__ == "__main__":
    serve(*sys.argv[1:])
