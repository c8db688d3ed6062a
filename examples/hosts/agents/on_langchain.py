"""LangChain tools from an MCP server, whose questions reach a person."""

from typing import Any, Literal

from fastmcp import Client
from fastmcp.client.transports import ClientTransport
from langchain.mcp import MCPAdapter
from mcp.server import MCPServer

from askback.client import ElicitationCallbacks, Person

Server = str | ClientTransport | MCPServer[Any]
Era = Literal["auto", "legacy"]
"""The newest revision that the server speaks, or 2025-11-25 for every server."""

ROUNDS = 100
"""FastMCP, on which LangChain builds, gives a call up after ten questions, unless told otherwise."""


# --8<-- [start:adapter]
def adapter(server: Server, person: Person, mode: Era = "auto") -> MCPAdapter:
    """`await adapter(...).list_tools()` gives what `create_agent` takes."""
    answers = ElicitationCallbacks(person, label="the inn")
    return MCPAdapter(
        Client(
            server,
            mode=mode,
            elicitation_handler=answers.fastmcp,
            message_handler=answers.notice,
            input_required_max_rounds=ROUNDS,
        )
    )


# --8<-- [end:adapter]
