"""One body behind every kind of request that can ask, on every host."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NamedTuple

from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    TextResourceContents,
)

from askback import Askback
from tests.support.raw import Raw

Body = Callable[[], Awaitable[str]]
Context = ServerRequestContext[Any, Any]
Host = Literal["MCPServer", "Server", "FastMCP"]

URI = "once://t"


class Kind(NamedTuple):
    """A request that can ask, and what it is about."""

    method: str
    params: dict[str, Any]

    async def deliver(self, client: Raw, **fields: Any) -> dict[str, Any]:
        return await client.send(self.method, **self.params, **fields)


KINDS = {
    "tool": Kind("tools/call", {"name": "t", "arguments": {}}),
    "prompt": Kind("prompts/get", {"name": "t"}),
    "resource": Kind("resources/read", {"uri": URI}),
}


def serve(host: Host, body: Body, *, name: str = "once", **options: Any) -> Any:
    """A server whose tool, prompt and resource are all `body`."""

    async def t() -> str:
        return await body()

    server = {"MCPServer": _mcpserver, "Server": _lowlevel, "FastMCP": _fastmcp}[host](t, name)
    Askback(server, **options)
    return server


def _fastmcp(t: Body, name: str) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP(name)
    server.tool(t, name="t")
    server.prompt(t, name="t")
    server.resource(URI, mime_type="text/plain")(t)
    return server


def _mcpserver(t: Body, name: str) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer(name)
    server.add_tool(t, name="t")
    server.prompt(name="t")(t)
    server.resource(URI, mime_type="text/plain")(t)
    return server


def _lowlevel(t: Body, name: str) -> Server[Any]:
    async def call(_ctx: Context, _params: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=await t())])

    async def get(_ctx: Context, _params: GetPromptRequestParams) -> GetPromptResult:
        content = TextContent(type="text", text=await t())
        return GetPromptResult(messages=[PromptMessage(role="user", content=content)])

    async def read(_ctx: Context, _params: ReadResourceRequestParams) -> ReadResourceResult:
        return ReadResourceResult(contents=[TextResourceContents(uri=URI, text=await t())])

    return Server(name, on_call_tool=call, on_get_prompt=get, on_read_resource=read)
