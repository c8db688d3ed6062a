"""A post office on every host: one tool that sends, one that only looks; what really ran is kept."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)

from askback import Askback

LOOKS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


class Post:
    """What went out, and what was looked at. Functions of its own, since hosts leave marks on them."""

    def __init__(self) -> None:
        self.ran: list[tuple[Any, ...]] = []

        async def send(to: str, copies: int = 1) -> str:
            self.ran.append(("send", to, copies))
            return f"{copies} to {to}"

        def look(path: str = "box") -> str:
            self.ran.append(("look", path))
            return f"looked at {path}"

        self.send: Callable[..., Awaitable[str]] = send
        self.look = look


def mcpserver(post: Post, **options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("post")
    Askback(server, **options)
    server.add_tool(post.send, name="send")
    server.add_tool(post.look, name="look", annotations=LOOKS)
    return server


def fastmcp(post: Post, **options: Any) -> FastMCP[Any]:
    server = _office(post)
    Askback(server, **options)
    return server


def mounted(post: Post, **options: Any) -> FastMCP[Any]:
    parent: FastMCP[Any] = FastMCP("town")
    Askback(parent, **options)
    parent.mount(_office(post))
    return parent


def _office(post: Post) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("post")
    server.tool(post.send, name="send")
    server.tool(post.look, name="look", annotations=LOOKS)
    return server


SCHEMAS: dict[str, dict[str, Any]] = {
    "send": {"to": {"type": "string"}, "copies": {"type": "integer", "default": 1}},
    "look": {"path": {"type": "string", "default": "box"}},
}


def lowlevel(post: Post, **options: Any) -> Server[Any]:
    async def call(_ctx: Any, params: CallToolRequestParams) -> CallToolResult:
        arguments = params.arguments or {}
        text = await post.send(**arguments) if params.name == "send" else post.look(**arguments)
        return CallToolResult(content=[TextContent(type="text", text=text)])

    async def list_tools(_ctx: Any, _params: Any) -> ListToolsResult:
        tools = [
            Tool(
                name=name,
                input_schema={"type": "object", "properties": SCHEMAS[name]},
                annotations=LOOKS if name == "look" else None,
            )
            for name in SCHEMAS
        ]
        return ListToolsResult(tools=tools)

    server: Server[Any] = Server("post", on_call_tool=call, on_list_tools=list_tools)
    Askback(server, **options)
    return server


HOSTS: dict[str, Callable[..., Any]] = {
    "MCPServer": mcpserver,
    "Server": lowlevel,
    "FastMCP": fastmcp,
    "mounted": mounted,
}
