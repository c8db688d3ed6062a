"""FastMCP's own client, from outside: it completes every way of asking, on both eras."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from itertools import product
from typing import Any, Literal
from uuid import uuid4

import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.client.elicitation import ElicitResult
from mcp.server import MCPServer
from mcp.server.mcpserver import Context as SDKContext
from mcp.shared.exceptions import MCPError
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY, InputRequiredResult, InputResponses
from mcp_types import ElicitResult as Reply
from pydantic import BaseModel

from askback import Accepted, Askback, Cancelled, Declined, ask, ask_all, choose, confirm, sync
from tests.server.hosts.fastmcp.cafe import Order, question
from tests.server.hosts.fastmcp.guests import CANCEL, DECLINE, MODES, Behaviour, Guest, say
from tests.support.fastmcp_http import fastmcp_served
from tests.support.servers.http import served

pytestmark = pytest.mark.anyio


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


async def order() -> str:
    """Asks once."""
    match await ask("What would you like?", Order):
        case Accepted(chosen):
            return f"{chosen.drink}, {chosen.sugar} sugar"
        case Declined():
            return "declined"
        case Cancelled():
            return "cancelled"


async def three() -> str:
    """Asks for one thing after the other, each of another kind."""
    name = (await ask("Your name?", str)).or_stop("stopped")
    size = (await ask("Which size?", Size)).or_stop("stopped")
    extras = (await choose("With what?", ["milk", "honey"], multiple=True)).or_stop("stopped")
    return f"{name} {size} {extras} {await confirm('Sure?')}"


async def together() -> str:
    """Asks for several things at once."""
    answers = await ask_all({"drink": ("A drink?", Order), "seat": ("Where?", Literal["in", "out"])})
    drink, seat = answers["drink"].or_stop("stopped"), answers["seat"].or_stop("stopped")
    return f"{drink.drink} {seat}"


def in_a_thread() -> str:
    return sync.ask("What would you like?", Order).or_stop("stopped").drink


def own_round(replies: InputResponses | None) -> str | InputRequiredResult:
    if replies is None:
        return InputRequiredResult(input_requests={"k": question("What would you like?")}, request_state="1")
    reply = replies["k"]
    assert isinstance(reply, Reply)
    return f"{reply.action} {(reply.content or {}).get('drink')}"


ASKING: dict[str, Callable[..., Any]] = {
    "order": order,
    "three": three,
    "together": together,
    "sync": in_a_thread,
}


def on_fastmcp() -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("cafe")
    Askback(mcp)
    for name, body in ASKING.items():
        mcp.tool(body, name=name)

    @mcp.tool
    async def elicit(ctx: Context) -> str:
        answer = await ctx.elicit("What would you like?", Order)
        return f"{answer.action} {answer.data.drink if answer.action == 'accept' else None}"

    @mcp.tool
    async def own(ctx: Context) -> str | InputRequiredResult:
        return own_round(ctx.input_responses)

    @mcp.tool
    async def visit(ctx: Context) -> str:
        number = str(uuid4())
        return (
            await ctx.session.elicit_url(
                "Please pay.", f"https://till.example/{number}", number, ctx.request_id
            )
        ).action

    return mcp


def on_mcpserver() -> MCPServer[Any]:
    mcp: MCPServer[Any] = MCPServer("cafe")
    Askback(mcp)
    for name, body in ASKING.items():
        mcp.add_tool(body, name=name)

    @mcp.tool()
    async def elicit(ctx: SDKContext[Any, Any]) -> str:
        answer = await ctx.elicit("What would you like?", Order)
        return f"{answer.action} {answer.data.drink if answer.action == 'accept' else None}"

    @mcp.tool()
    async def own(ctx: SDKContext[Any, Any]) -> str | InputRequiredResult:
        return own_round(ctx.input_responses)

    @mcp.tool()
    async def visit(ctx: SDKContext[Any, Any]) -> str:
        number = str(uuid4())
        return (await ctx.elicit_url("Please pay.", f"https://till.example/{number}", number)).action

    return mcp


HOSTS: dict[str, Callable[[], Any]] = {"FastMCP": on_fastmcp, "MCPServer": on_mcpserver}
PLACES = [*product(HOSTS, ("memory", "http"), MODES), *product(HOSTS, ("memory",), ("auto",))]
SPOKEN = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28", "auto": "2026-07-28"}


def filled_in(message: str) -> object:
    """Somebody who answers everything: with objects, with bare values, with models."""
    answers: dict[str, object] = {
        "What would you like?": Order(drink="tea", sugar=2),
        "A drink?": {"drink": "coffee"},
        "Your name?": "Ada",
        "Which size?": Size.LARGE,
        "With what?": ["milk", "honey"],
        "Sure?": {"yes": True},
        "Where?": "out",
        "Please pay.": ElicitResult(action="accept"),
    }
    return answers[message]


def second_thoughts() -> Behaviour:
    """Somebody whose first reply does not fit."""
    replies: list[object] = [{"drink": "wine"}, {"drink": "tea"}]
    return lambda _: replies.pop(0)


Story = tuple[str, Callable[[], Behaviour], str, int]

STORIES: list[Story] = [
    ("order", lambda: filled_in, "tea, 2 sugar", 1),
    ("order", lambda: lambda _: DECLINE, "declined", 1),
    ("order", lambda: lambda _: CANCEL, "cancelled", 1),
    ("order", second_thoughts, "tea, 0 sugar", 2),
    ("three", lambda: filled_in, "Ada large ['milk', 'honey'] True", 4),
    ("three", lambda: lambda message: DECLINE if message == "Which size?" else "Ada", "stopped", 2),
    ("together", lambda: filled_in, "coffee out", 2),
    ("sync", lambda: filled_in, "tea", 1),
    ("elicit", lambda: filled_in, "accept tea", 1),
    ("elicit", lambda: lambda _: DECLINE, "decline None", 1),
    ("elicit", second_thoughts, "accept tea", 2),
    ("own", lambda: filled_in, "accept tea", 1),
    ("own", lambda: lambda _: CANCEL, "cancel None", 1),
    ("visit", lambda: filled_in, "accept", 1),
    ("visit", lambda: lambda _: DECLINE, "decline", 1),
]
"""The tool, what the person does, what the tool says in the end, and how many questions the person saw."""


@asynccontextmanager
async def met(host: str, transport: str) -> AsyncGenerator[Any]:
    """The server itself, or where it is served."""
    server = HOSTS[host]()
    if transport == "memory":
        yield server
        return
    serving = fastmcp_served if host == "FastMCP" else served
    async with serving(server) as url:
        yield url


@pytest.mark.parametrize(("host", "transport", "mode"), PLACES)
async def test_it_completes_every_story(host: str, transport: str, mode: str):
    heard: list[tuple[str, str, int]] = []
    async with met(host, transport) as target:
        for tool, behaviour, *_ in STORIES:
            guest = Guest(behaviour())
            async with guest.at(target, mode) as client:
                assert client.protocol_version == SPOKEN[mode]
                heard.append((tool, await say(client, tool), len(guest.asked)))
    assert heard == [(tool, said, asked) for tool, _, said, asked in STORIES]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("mode", MODES)
async def test_what_did_not_fit_is_named_in_the_next_question(mode: str, host: str):
    guest = Guest(second_thoughts())
    async with guest.at(HOSTS[host](), mode) as client:
        await say(client, "order")
    again = guest.asked[1]
    assert again.startswith("What would you like?") and "tea" in again


@pytest.mark.parametrize("host", HOSTS)
async def test_without_a_handler_it_is_told_that_it_cannot_be_asked(host: str):
    async with Client(HOSTS[host](), mode="legacy") as client:
        assert "did not declare" in await say(client, "order")
    async with Client(HOSTS[host](), mode="2026-07-28") as client:
        with pytest.raises(MCPError) as raised:
            await say(client, "order")
    assert raised.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY


class Receipt(BaseModel):
    number: int
    drink: str


@pytest.mark.parametrize("mode", MODES)
async def test_it_reads_structured_results_into_objects(mode: str):
    mcp = on_fastmcp()

    @mcp.tool
    async def receipt() -> Receipt:
        return Receipt(number=1, drink=(await ask("What would you like?", Order)).or_stop("none").drink)

    async with Guest(filled_in).at(mcp, mode) as client:
        result = await client.call_tool("receipt")
    assert (result.data.number, result.data.drink) == (1, "tea")


@pytest.mark.parametrize("mode", MODES)
async def test_prompts_and_resources_ask_it_too(mode: str):
    mcp = on_fastmcp()
    mcp.prompt(order)
    mcp.resource("cafe://order")(order)
    guest = Guest(filled_in)
    async with guest.at(mcp, mode) as client:
        prompt = await client.get_prompt("order")
        (resource,) = await client.read_resource("cafe://order")
    assert "tea, 2 sugar" in prompt.model_dump_json()
    assert "tea, 2 sugar" in resource.model_dump_json()
    assert len(guest.asked) == 2
