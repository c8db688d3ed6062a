"""The same tool, unchanged, gives the same text on every revision, transport and host."""

import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal

import mcp_types as types
import pytest
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.session import ClientRequestContext, ElicitationFnT

from askback.testing import REVISIONS, accept, cancel, decline, run_tool
from askback.testing.replies import Reply
from examples.pizzeria import lowlevel, server
from tests.servers.clients import client_on
from tests.servers.http import served

pytestmark = pytest.mark.anyio

HOSTS = {"MCPServer": server.mcp, "Server": lowlevel.server}

STORIES: dict[str, tuple[list[Reply], str]] = {
    "accept": ([accept(drink="cola", tip=2), accept(yes=True)], "Order 1: Margherita, cola, tip 2"),
    "accept with defaults": ([accept(), accept(yes=True)], "Order 1: Margherita, none, tip 0"),
    "second thoughts": ([accept(drink="water"), accept(yes=False)], "Nothing ordered."),
    "decline": ([decline()], "Ordered Margherita without extras."),
    "decline the confirmation": ([accept(drink="water"), decline()], "Nothing ordered."),
    "cancel": ([cancel()], "Ask me again when you like."),
}


@pytest.fixture(autouse=True)
def empty_book() -> None:
    server.orders.clear()


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_in_memory_the_text_is_the_same_and_the_effect_happens_once(
    revision: str, host: str, story: str
):
    answers, text = STORIES[story]
    run = await run_tool(HOSTS[host], "order", {"pizza": "Margherita"}, answers, revision=revision)
    assert run.text == text
    assert len(server.orders) == text.startswith("Order 1")


Content = dict[str, str | int | float | bool | list[str] | None]

PERSON: dict[str, list[Content | Literal["decline", "cancel"]]] = {
    "accept": [{"drink": "cola", "tip": 2}, {"yes": True}],
    "decline": ["decline"],
    "cancel": ["cancel"],
}
"""What the person does with each question: fill it in, decline or cancel."""


def callback(story: str) -> ElicitationFnT:
    left = list(PERSON[story])

    async def answer(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        match left.pop(0):
            case dict() as content:
                return types.ElicitResult(action="accept", content=content)
            case action:
                return types.ElicitResult(action=action)

    return answer


@asynccontextmanager
async def connected(
    transport: str, host: str, revision: str, story: str
) -> AsyncGenerator[Client | ClientSession]:
    async with AsyncExitStack() as stack:
        target: Any = HOSTS[host]
        if transport == "stdio":
            module = {"MCPServer": "server", "Server": "lowlevel"}[host]
            target = StdioServerParameters(command=sys.executable, args=["-m", f"examples.pizzeria.{module}"])
        elif transport == "http":
            target = await stack.enter_async_context(served(HOSTS[host]))
        yield await stack.enter_async_context(client_on(revision, target, callback(story)))


@pytest.mark.parametrize("story", PERSON)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("transport", ["memory", "stdio", "http"])
@pytest.mark.parametrize("revision", REVISIONS)
async def test_with_the_sdks_own_client_too(revision: str, transport: str, host: str, story: str):
    async with connected(transport, host, revision, story) as client:
        assert client.protocol_version == revision
        result = await client.call_tool("order", {"pizza": "Margherita"})
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    assert content.text == STORIES[story][1]
