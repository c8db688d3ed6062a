"""Servers in servers: Askback on the one that clients meet covers all that is mounted in it."""

from typing import Any

import pytest
from fastmcp import Context, FastMCP
from fastmcp.server.providers import FastMCPProvider
from mcp_types import ElicitResult, InputRequiredResult

from askback import Askback, ask, sync
from askback.testing import decline, get_prompt, read_resource, run_tool
from tests.server.hosts.fastmcp.cafe import Order, question, tea
from tests.server.hosts.fastmcp.guests import MODES, Guest, say

pytestmark = pytest.mark.anyio


def bar() -> FastMCP[Any]:
    """Every style of asking, on a server without Askback."""
    mcp: FastMCP[Any] = FastMCP("bar")

    async def drink() -> str:
        return (await ask("What would you like?", Order)).or_stop("Nothing, then.").drink

    mcp.tool(drink, name="ask")
    mcp.prompt(drink, name="ask")
    mcp.resource("bar://drink")(drink)

    @mcp.resource("bar://drink/{table}")
    async def drink_at(table: str) -> str:
        return f"{await drink()} for table {table}"

    @mcp.tool
    async def elicit(ctx: Context) -> str:
        answer = await ctx.elicit("What would you like?", Order)
        return answer.data.drink if answer.action == "accept" else "Nothing, then."

    @mcp.tool(name="sync")
    def in_a_thread() -> str:
        return sync.ask("What would you like?", Order).or_stop("Nothing, then.").drink

    @mcp.tool
    async def own(ctx: Context) -> str | InputRequiredResult:
        if ctx.input_responses is None:
            return InputRequiredResult(input_requests={"k": question("What would you like?")})
        reply = ctx.input_responses["k"]
        assert isinstance(reply, ElicitResult)
        return str(reply.content["drink"]) if reply.content else "Nothing, then."

    return mcp


def mall(namespace: str | None, *, depth: int = 1, early: bool = False) -> FastMCP[Any]:
    """The bar in a server in a server; Askback on the outermost, before the mounting or after it."""
    inner = bar()
    for level in range(1, depth):
        outer: FastMCP[Any] = FastMCP(f"floor {level}")
        outer.mount(inner, namespace)
        inner = outer
    parent: FastMCP[Any] = FastMCP("mall")
    if early:
        Askback(parent)
    parent.mount(inner, namespace)
    if not early:
        Askback(parent)
    return parent


STYLES = ["ask", "elicit", "sync", "own"]
PLACES = {"plain": (None, 1, ""), "named": ("bar", 1, "bar_"), "two deep": ("bar", 2, "bar_bar_")}
"""The namespace of each mounting, how deep the bar lies, and what its names begin with."""


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("place", PLACES)
async def test_every_style_asks_through_the_parent(place: str, style: str, askback_revision: str):
    namespace, depth, prefix = PLACES[place]
    server = mall(namespace, depth=depth)
    taken = await run_tool(server, prefix + style, None, tea, revision=askback_revision)
    assert (taken.text, taken.is_error) == ("tea", False)
    assert [asked.message for asked in taken.asked] == ["What would you like?"]
    left = await run_tool(server, prefix + style, None, [decline()], revision=askback_revision)
    assert (left.text, left.structured) == ("Nothing, then.", {"result": "Nothing, then."})


@pytest.mark.parametrize("place", PLACES)
async def test_what_is_mounted_after_askback_asks_like_what_was_there_before(
    place: str, askback_revision: str
):
    namespace, depth, prefix = PLACES[place]
    server = mall(namespace, depth=depth, early=True)
    taken = await run_tool(server, f"{prefix}elicit", None, tea, revision=askback_revision)
    assert taken.text == "tea"


@pytest.mark.parametrize("place", PLACES)
async def test_so_do_prompts_resources_and_templates(place: str, askback_revision: str):
    namespace, depth, prefix = PLACES[place]
    server = mall(namespace, depth=depth)
    prompt = await get_prompt(server, prefix + "ask", None, tea, revision=askback_revision)
    assert prompt.text == "tea"
    address = f"bar://{'bar/' * depth if namespace else ''}drink"
    resource = await read_resource(server, address, tea, revision=askback_revision)
    assert resource.text == "tea"
    template = await read_resource(server, f"{address}/7", tea, revision=askback_revision)
    assert template.text == "tea for table 7"
    left = await read_resource(server, f"{address}/7", [decline()], revision=askback_revision)
    assert left.text == "Nothing, then."


async def test_a_bar_that_opens_later_asks_at_once(askback_revision: str):
    parent: FastMCP[Any] = FastMCP("mall")
    child: FastMCP[Any] = FastMCP("bar")
    parent.mount(child)
    Askback(parent)

    @child.tool
    async def late() -> str:
        return (await ask("What would you like?", Order)).or_stop("Nothing, then.").drink

    parent.add_provider(FastMCPProvider(bar()), namespace="provided")
    for tool in ("late", "provided_elicit"):
        assert (await run_tool(parent, tool, None, tea, revision=askback_revision)).text == "tea"


async def test_two_bars_in_one_mall_do_not_mix_their_questions(askback_revision: str):
    parent: FastMCP[Any] = FastMCP("mall")
    Askback(parent)
    for name in ("north", "south"):
        parent.mount(bar(), name)

    @parent.tool
    async def both(ctx: Context) -> str:
        drinks = [await ctx.fastmcp.call_tool(f"{name}_elicit") for name in ("north", "south")]
        return f"{[drink.structured_content for drink in drinks]}"

    run = await run_tool(parent, "both", None, tea, revision=askback_revision)
    assert run.text.count("tea") == len(run.asked) == 2


@pytest.mark.parametrize("style", STYLES)
async def test_askback_on_parent_and_child_is_one_conversation(style: str, askback_revision: str):
    parent, child = FastMCP[Any]("mall"), bar()
    parent.mount(child)
    Askback(child)
    Askback(parent)
    for server in (parent, child):
        run = await run_tool(server, style, None, tea, revision=askback_revision)
        assert (run.text, len(run.asked)) == ("tea", 1)


@pytest.mark.parametrize("style", ["ask", "sync"])
@pytest.mark.parametrize("mode", MODES)
async def test_askback_on_the_child_alone_is_passed_by_and_says_where_it_belongs(mode: str, style: str):
    parent, child = FastMCP[Any]("mall"), bar()
    parent.mount(child)
    Askback(child)
    guest = Guest()
    async with guest.at(parent, mode) as client:
        said = await say(client, style)
    assert "Askback" in said and "no such call" in said
    assert guest.asked == []


async def test_what_needs_no_askback_works_there_as_it_does_without():
    parent, child = FastMCP[Any]("mall"), bar()
    parent.mount(child)
    Askback(child)
    async with Guest().at(parent, "legacy") as client:
        assert await say(client, "elicit") == "tea"
    async with Guest().at(parent, "2026-07-28") as client:
        assert await say(client, "own") == "tea"
        assert "unavailable on 2026-07-28" in await say(client, "elicit")


@pytest.mark.parametrize("mode", MODES)
async def test_the_child_asks_where_it_is_met_directly(mode: str):
    child = bar()
    FastMCP[Any]("mall").mount(child)
    Askback(child)
    async with Guest().at(child, mode) as client:
        assert [await say(client, style) for style in STYLES] == ["tea"] * 4
