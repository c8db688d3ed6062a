"""The ferry, rewritten with `ask`."""

from typing import Any, Literal

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from askback import Accepted, Askback, ask


# --8<-- [start:tool]
async def call_tool(_ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
    car = (params.arguments or {})["car"]
    match await ask("On which deck?", Literal["upper", "lower"]):
        case Accepted(deck):
            text = f"{car} on the {deck} deck"
        case _:
            text = f"{car} stays ashore."
    return CallToolResult(content=[TextContent(type="text", text=text)])


server = Server("ferry", on_call_tool=call_tool)
Askback(server)
# --8<-- [end:tool]
