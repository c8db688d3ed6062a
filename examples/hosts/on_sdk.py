"""The SDK's own client, whose questions reach a person."""

from typing import Any, Literal

from mcp import Client, StdioServerParameters
from mcp.server import MCPServer
from mcp_types import CallToolResult

from askback.client import ElicitationCallbacks, Person

Server = str | StdioServerParameters | MCPServer[Any]
Era = Literal["auto", "legacy"]
"""The newest revision that the server speaks, or 2025-11-25 for every server."""

ROUNDS = 100
"""The SDK gives a call up after ten questions, unless told otherwise."""


# --8<-- [start:call]
async def call(
    server: Server, tool: str, arguments: dict[str, Any], person: Person, mode: Era = "auto"
) -> CallToolResult:
    answers = ElicitationCallbacks(person, label="the inn", purpose=f"tool {tool}")
    async with Client(
        server,
        mode=mode,
        elicitation_callback=answers.sdk,
        message_handler=answers.notice,
        input_required_max_rounds=ROUNDS,
    ) as client:
        return await answers.visiting(lambda: client.call_tool(tool, arguments))


# --8<-- [end:call]
