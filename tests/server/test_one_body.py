"""The same tool, unchanged, gives the same text on every revision, transport and host."""

import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal

import mcp_types as types
import pytest
from fastmcp import FastMCP
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.session import ClientRequestContext, ElicitationFnT

from askback import Askback
from askback.server.hosts import lowlevel_of
from askback.testing import REVISIONS, accept, cancel, decline, run_tool
from askback.testing.script import Reply
from examples.fastmcp import server as fastmcp
from examples.pizzeria import lowlevel, server
from tests.support.fastmcp_http import fastmcp_served
from tests.support.servers.clients import client_on
from tests.support.servers.http import served

pytestmark = pytest.mark.anyio


def mall() -> FastMCP[Any]:
    """A server with the pizzeria mounted in it, which has no Askback of its own."""
    parent: FastMCP[Any] = FastMCP("mall")
    Askback(parent)
    pizzeria: FastMCP[Any] = FastMCP("pizzeria")
    pizzeria.tool(server.order)
    parent.mount(pizzeria)
    return parent


HOSTS: dict[str, Any] = {
    "MCPServer": server.mcp,
    "Server": lowlevel.server,
    "FastMCP": fastmcp.mcp,
    "mounted": mall(),
}

ON_FASTMCP = {"FastMCP", "mounted"}

MODULES = {"MCPServer": "pizzeria.server", "Server": "pizzeria.lowlevel", "FastMCP": "fastmcp.server"}
"""What runs each host as a program of its own."""

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
Deed = Content | Literal["decline", "cancel"]

PERSON: dict[str, list[Deed]] = {
    "accept": [{"drink": "cola", "tip": 2}, {"yes": True}],
    "decline": ["decline"],
    "cancel": ["cancel"],
}
"""What the person does with each question: fill it in, decline or cancel."""


def callback() -> ElicitationFnT:
    left: list[Deed] = [deed for deeds in PERSON.values() for deed in deeds]

    async def answer(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        match left.pop(0):
            case dict() as content:
                return types.ElicitResult(action="accept", content=content)
            case action:
                return types.ElicitResult(action=action)

    return answer


@asynccontextmanager
async def connected(transport: str, host: str, revision: str) -> AsyncGenerator[Client | ClientSession]:
    async with AsyncExitStack() as stack:
        target: Any = HOSTS[host]
        if transport == "stdio":
            target = StdioServerParameters(command=sys.executable, args=["-m", f"examples.{MODULES[host]}"])
        elif transport == "http":
            serving = fastmcp_served if host in ON_FASTMCP else served
            target = await stack.enter_async_context(serving(target))
        elif host in ON_FASTMCP:
            target = lowlevel_of(target)  # the SDK's client knows the SDK's servers alone
        yield await stack.enter_async_context(client_on(revision, target, callback()))


PLACES = [(transport, host) for transport in ("memory", "http") for host in HOSTS]

PROGRAMS = list(zip(REVISIONS, MODULES, strict=True))
"""Each host once as a program of its own, and each revision."""


@pytest.mark.parametrize(
    ("revision", "transport", "host"),
    [
        *((revision, *place) for revision in REVISIONS for place in PLACES),
        *((revision, "stdio", host) for revision, host in PROGRAMS),
    ],
)
async def test_with_the_sdks_own_client_too(revision: str, transport: str, host: str):
    async with connected(transport, host, revision) as client:
        assert client.protocol_version == revision
        for story in PERSON:
            result = await client.call_tool("order", {"pizza": "Margherita"})
            [content] = result.content
            assert isinstance(content, types.TextContent)
            assert content.text == STORIES[story][1]
