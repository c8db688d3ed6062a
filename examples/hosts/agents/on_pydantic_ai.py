"""A pydantic-ai agent with the tools of an MCP server, whose questions reach a person."""

from typing import Any, Literal

from fastmcp import Client
from fastmcp.client.transports import ClientTransport
from mcp.server import MCPServer
from pydantic_ai.mcp import MCPToolset

from askback.client import ElicitationCallbacks, Person

Server = str | ClientTransport | MCPServer[Any]
Era = Literal["auto", "legacy"]
"""The newest revision that the server speaks, or 2025-11-25 for every server."""

ROUNDS = 100
"""FastMCP, on which pydantic-ai builds, gives a call up after ten questions, unless told otherwise."""


# --8<-- [start:toolset]
def toolset(server: Server, person: Person, mode: Era = "auto") -> MCPToolset[object]:
    """For `Agent(toolsets=[...])`."""
    answers = ElicitationCallbacks(person, label="the inn")
    # A client of our own: `MCPToolset(elicitation_handler=...)` warns on 2026-07-28 that it is never called.
    return MCPToolset(
        Client(
            server,
            mode=mode,
            elicitation_handler=answers.fastmcp,
            message_handler=answers.notice,
            input_required_max_rounds=ROUNDS,
        )
    )


# --8<-- [end:toolset]
