"""The pizzeria on the SDK's low-level server: no decorators, the same `ask`."""

from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from askback import Askback
from examples.pizzeria.server import order

ORDER = Tool(
    name="order",
    description="Order a pizza; the guest is asked about extras and must confirm.",
    input_schema={"type": "object", "properties": {"pizza": {"type": "string"}}, "required": ["pizza"]},
)

Context = ServerRequestContext[Any, Any]


async def list_tools(_ctx: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[ORDER])


async def call_tool(_ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    text = await order((params.arguments or {})["pizza"])
    return CallToolResult(content=[TextContent(type="text", text=text)])


server = Server("pizzeria", on_list_tools=list_tools, on_call_tool=call_tool)
Askback(server)


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
