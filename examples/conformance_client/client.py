"""The client of the official conformance suite: `client.py URL`, with the scenario in the environment.

Its person fills in nothing and sends what the form offers, so it shows what the driver does by itself.
"""

import os
import sys
from typing import Any

import anyio
from mcp.client.session import ClientRequestContext
from mcp_types import CreateMessageRequestParams, CreateMessageResult, ListRootsResult, TextContent

from askback import Accepted, Answer, Declined
from askback.client import Driver, FormAsked, Mode, Turn, VisitAsked, VisitReply
from askback.client.forms import Draft


class Agreeable:
    """Sends every form as it came, with its defaults; opens no link."""

    modes: frozenset[Mode] = frozenset({"form", "url"})
    shows_several = False

    async def answer(self, turn: Turn) -> Answer[Any]:
        if not isinstance(turn.asked, FormAsked):
            return Declined()
        return Accepted(Draft(turn.asked.blank).content())

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        return "cancel"


async def sample(context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
    """A model with little to say."""
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="Yes."), model="none")


async def list_roots(context: ClientRequestContext) -> ListRootsResult:
    return ListRootsResult(roots=[])


async def call_everything(url: str, revision: str | None) -> None:
    """All tools that need no arguments, side by side: what belongs to one call must not show in another."""
    driving = Driver(url, Agreeable(), revision=revision, sampling=sample, roots=list_roots)
    async with driving as driver, anyio.create_task_group() as calls:
        for tool in await driver.list_tools():
            calls.start_soon(driver.call_tool, tool.name)


if __name__ == "__main__":
    anyio.run(call_everything, sys.argv[-1], os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION"))
