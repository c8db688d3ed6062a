"""`ctx.elicit()` as it was written before: on every revision, and with all that `ask` has."""

import asyncio
from enum import Enum
from typing import Any, Literal

import anyio
import pytest
from anyio import from_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

from askback import Askback, ask, once
from askback.testing import Run, accept, cancel, decline, get_prompt, raw, read_resource, run_tool
from tests.protocol.styles.conftest import LATEST, RunBody, Way
from tests.protocol.styles.servers import Name, Seat, fastmcp
from tests.support.corpus import corpus

pytestmark = pytest.mark.anyio


def messages(run: Run) -> list[str]:
    return [asked.message for asked in run.asked]


async def test_several_are_asked_in_their_order_and_once_each(run: RunBody):
    async def body(ctx: Context) -> str:
        rows = [await ctx.elicit(f"Row of guest {guest}?", Seat) for guest in (1, 2, 3)]
        return " ".join(str(row.data.row) for row in rows if row.action == "accept")

    result = await run(body, [accept(row=4), accept(row=5), accept(row=6)])
    assert result.text == "4 5 6"
    assert messages(result) == ["Row of guest 1?", "Row of guest 2?", "Row of guest 3?"]


async def test_they_mix_with_ask_before_between_and_after(run: RunBody):
    async def body(ctx: Context) -> str:
        said: list[object] = []
        for round_trip in ("out", "back"):
            answer = await ask(f"Row {round_trip}?", int)
            elicited = await ctx.elicit(f"Seat {round_trip}?", Seat)
            said.append((answer, elicited.action))
        last = await ask("Name?", str)
        return f"{said} {last}"

    result = await run(body, [accept(1), accept(row=2), accept(3), decline(), accept("Ada")])
    assert result.text == (
        "[(Accepted(value=1), 'accept'), (Accepted(value=3), 'decline')] Accepted(value='Ada')"
    )
    assert messages(result) == ["Row out?", "Seat out?", "Row back?", "Seat back?", "Name?"]


async def test_effects_between_them_run_once(run: RunBody):
    booked: list[int] = []

    async def body(ctx: Context) -> str:
        await ctx.elicit("Seat?", Seat)
        await once("book", booked.append, 1)
        last = await ctx.elicit("Name?", Name)
        return last.action

    result = await run(body, [accept(row=1), cancel()])
    assert (result.text, booked) == ("cancel", [1])


async def test_two_side_by_side_need_no_keys(run: RunBody, way: Way):
    async def body(ctx: Context) -> str:
        seat, name = await asyncio.gather(ctx.elicit("Seat?", Seat), ctx.elicit("Name?", Name))
        return f"{seat.action} {name.action}"

    result = await run(body, [accept(row=1), decline()])
    assert result.text == "accept decline"
    assert messages(result) == ["Seat?", "Name?"]
    if way.revision == LATEST:
        rounds = [
            line.body for line in result.transcript if line.what == "result" and "inputRequests" in line.body
        ]
        assert [list(one["inputRequests"]) for one in rounds] == [["elicit-1", "elicit-2"]]


async def test_two_in_a_task_group_too(run: RunBody):
    async def body(ctx: Context) -> str:
        said: dict[str, str] = {}

        async def elicit(message: str) -> None:
            said[message] = (await ctx.elicit(message, Name)).action

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(elicit, "Guest?")
            tasks.start_soon(elicit, "Host?")
        return f"{said['Guest?']} {said['Host?']}"

    result = await run(body, [accept(name="Ada"), cancel()])
    assert result.text == "accept cancel"


@pytest.mark.verifies("R14")
@corpus("unfit", [{"row": 99}, {"row": "two"}, {}, {"row": 1, "side": "roof"}, None])
async def test_a_reply_that_does_not_fit_is_asked_again(run: RunBody, unfit: object):
    async def body(ctx: Context) -> str:
        result = await ctx.elicit("Seat?", Seat)
        return str(result.data.row) if result.action == "accept" else result.action

    result = await run(body, [raw({"action": "accept", "content": unfit}), accept(row=2)])
    assert result.text == "2"
    first, second = messages(result)
    assert first == "Seat?" and second.startswith("Seat?\n") and len(second) > len("Seat?\n")


async def test_prompts_and_resources_have_it_too(way: Way):
    server: MCPServer = MCPServer("test")
    Askback(server)

    @server.prompt()
    async def invitation(ctx: Context) -> str:
        guest = await ctx.elicit("Whom?", Name)
        seat = await ask("Row?", int)
        return f"{guest.action} {seat}"

    @server.resource("seat://{guest}")
    async def seat(guest: str, ctx: Context) -> str:
        chosen = await ctx.elicit(f"Seat of {guest}?", Seat)
        return f"{guest} {chosen.data.row}" if chosen.action == "accept" else guest

    revision, always_replay = way
    answers = [accept(name="Ada"), accept(3)]
    prompt = await get_prompt(
        server, "invitation", None, answers, revision=revision, always_replay=always_replay
    )
    assert prompt.text == "accept Accepted(value=3)"
    resource = await read_resource(
        server, "seat://ada", [accept(row=7)], revision=revision, always_replay=always_replay
    )
    assert resource.text == "ada 7"


async def test_a_body_in_a_thread_may_call_it_on_the_loop(way: Way):
    server: MCPServer[Any] = MCPServer("test")
    Askback(server)

    @server.tool()
    def t(ctx: Context) -> str:
        seat = from_thread.run(ctx.elicit, "Seat?", Seat)
        name = from_thread.run(ctx.elicit, "Name?", Name)
        return f"{seat.action} {name.action}"

    revision, always_replay = way
    answers = [accept(row=1), decline()]
    result = await run_tool(server, "t", None, answers, revision=revision, always_replay=always_replay)
    assert (result.text, messages(result)) == ("accept decline", ["Seat?", "Name?"])


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


FASTMCP_TYPES: dict[str, tuple[Any, Any, Any]] = {
    "text": (str, "tea", "tea"),
    "a whole number": (int, 3, 3),
    "a number": (float, 1.5, 1.5),
    "yes or no": (bool, True, True),
    "one of a Literal": (Literal["tea", "coffee"], "tea", "tea"),
    "one of an Enum": (Colour, "red", Colour.RED),
    "one of a list": (["tea", "coffee"], "coffee", "coffee"),
    "one with a title": ({"t": {"title": "Tea"}, "c": {"title": "Coffee"}}, "c", "c"),
    "several of a list": ([["tea", "coffee"]], ["tea"], ["tea"]),
    "several with titles": ([{"t": {"title": "Tea"}, "c": {"title": "Coffee"}}], ["t", "c"], ["t", "c"]),
}
"""What FastMCP's `ctx.elicit()` takes besides models: the type, what is filled in, and what the body gets."""


@corpus("kind", FASTMCP_TYPES)
async def test_what_fastmcp_can_ask_for_arrives_on_every_revision(kind: str, way: Way):
    wanted, value, got = FASTMCP_TYPES[kind]
    given: list[object] = []

    async def body(ctx: Any) -> str:
        result = await ctx.elicit("What?", wanted)
        given.append(result.data)
        return result.action

    revision, always_replay = way
    result = await run_tool(
        fastmcp(body), "t", None, [accept(value)], revision=revision, always_replay=always_replay
    )
    assert (result.text, given) == ("accept", [got])
