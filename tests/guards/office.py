"""An office on FastMCP with one tool, which keeps what it was really run with."""

from typing import Any

from fastmcp import FastMCP
from fastmcp.tools import Tool

from askback import Askback
from askback.testing import Run, accept, decline, run_tool

YES = accept(yes=True)

ran: list[Any] = []
"""Empty it before each test."""


def send(to: str, copies: int = 1, priority: str = "low") -> str:
    ran.append((to, copies, priority))
    return f"sent to {to}"


def office(*guards: Any) -> FastMCP[Any]:
    """With Askback, if there are any."""
    server: FastMCP[Any] = FastMCP("office")
    if guards:
        Askback(server, guards=guards)
    server.tool(send)
    return server


async def sending() -> Tool:
    """The tool of an office without guards."""
    tool = await office().get_tool("send")
    assert tool is not None
    return tool


async def asked_and_ran(server: FastMCP[Any], tool: str, arguments: dict[str, Any], *, times: int = 1) -> Run:
    """After a no nothing has run; after so many yeses it has."""
    refused = await run_tool(server, tool, arguments, [YES] * (times - 1) + [decline()])
    assert refused.is_error and "not run" in refused.text and ran == []
    run = await run_tool(server, tool, arguments, [YES] * times)
    assert len(run.asked) == times
    return run
