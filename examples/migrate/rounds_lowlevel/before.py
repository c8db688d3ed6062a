"""A ferry that writes its rounds by hand, on the low-level Server."""

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
)

DECK = ElicitRequest(
    params=ElicitRequestFormParams(
        message="On which deck?",
        requested_schema={
            "type": "object",
            "properties": {"deck": {"type": "string", "enum": ["upper", "lower"]}},
            "required": ["deck"],
        },
    )
)


async def call_tool(
    _ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    reply = (params.input_responses or {}).get("deck")
    if not isinstance(reply, ElicitResult):
        return InputRequiredResult(input_requests={"deck": DECK}, request_state="deck asked")
    car = (params.arguments or {})["car"]
    text = f"{car} on the {reply.content['deck']} deck" if reply.content else f"{car} stays ashore."
    return CallToolResult(content=[TextContent(type="text", text=text)])


server = Server("ferry", on_call_tool=call_tool)
