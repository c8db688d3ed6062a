"""What a body written with `def` asks, and what it gets."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from fastmcp import FastMCP
from fastmcp.resources import template
from mcp.server import MCPServer
from pydantic import BaseModel, Field

from askback import Accepted, Ask, Askback, Cancelled, CannotAsk, Declined, Text, TimedOut, ask, sync
from askback.testing import Asked, accept, cancel, decline, get_prompt, raw, read_resource, run_tool, silence
from askback.testing.script import Reply
from tests.sync.conftest import RunBody

pytestmark = pytest.mark.anyio


class Extras(BaseModel):
    drink: str = Field("none", max_length=10)
    tip: int = Field(0, ge=0, le=20)


def order() -> str:
    match sync.ask("Extras?", Extras):
        case Accepted(extras):
            return f"{extras.drink}, {extras.tip}"
        case Declined():
            return "no extras"
        case Cancelled():
            return "later"


@pytest.mark.parametrize("always_replay", [True, False])
@pytest.mark.parametrize(
    ("reply", "text"), [(accept(drink="tea", tip=2), "tea, 2"), (decline(), "no extras"), (cancel(), "later")]
)
async def test_every_answer_reaches_the_body(run: RunBody, reply: Reply, text: str, always_replay: bool):
    assert (await run(order, [reply], always_replay=always_replay)).text == text


async def test_every_verb_in_one_body(run: RunBody):
    def body() -> str:
        name = sync.ask("Name?", str)
        place, day = sync.ask_all(Ask("place", "Place?", str), Ask("day", "Day?", int))
        several = sync.ask_all({"hat": ("Hat?", bool)})
        choice = sync.choose("Which?", ["a", "b"], multiple=True)
        return str(
            [name, place, day, several["hat"], choice, sync.confirm("Sure?"), sync.once("k", len, "abc")]
        )

    replies = {
        "Name?": accept("Ada"),
        "Place?": decline(),
        "Day?": accept(3),
        "Hat?": accept(True),
        "Which?": accept(["b"]),
        "Sure?": accept(yes=True),
    }
    expected = [Accepted("Ada"), Declined(), Accepted(3), Accepted(True), Accepted(["b"]), True, 3]
    assert (await run(body, lambda asked: replies[asked.message])).text == str(expected)


async def test_a_reply_that_does_not_fit_is_asked_again(run: RunBody):
    result = await run(order, [raw({"action": "accept", "content": {"tip": 99}}), accept(tip=20)])
    assert result.text == "none, 20"
    assert "should be 20 or less" in result.asked[1].message


async def test_questions_in_a_loop(run: RunBody):
    def body() -> str:
        names: list[str] = []
        while len(names) < 3:
            names.append(sync.ask(f"Name {len(names)}?", str).or_stop("enough"))
        return " ".join(names)

    assert (await run(body, [accept("Ada"), accept("Grace"), accept("Mary")])).text == "Ada Grace Mary"
    assert (await run(body, [accept("Ada"), decline()])).text == "enough"


async def test_a_silent_person_times_out_and_the_body_can_go_on(run: RunBody):
    def body() -> str:
        try:
            return str(sync.ask("Quick?", bool, timeout=0.05))
        except TimedOut as error:
            return f"too late after {error.seconds:g}: {sync.ask('Still there?', bool)}"

    assert (await run(body, [silence(), accept(True)])).text == "too late after 0.05: Accepted(value=True)"


async def test_where_nobody_can_be_asked_the_body_learns_it(run: RunBody):
    def body() -> str:
        try:
            return str(sync.ask("Name?", str))
        except CannotAsk as error:
            return error.mode

    assert (await run(body, capabilities={})).text == "form"


EMPTY: dict[str, Text] = {}


async def test_our_errors_say_their_advice_out_of_a_thread_too(run: RunBody):
    def body() -> str:
        return str(sync.ask("Name?", EMPTY))

    result = await run(body)
    assert result.is_error and "Instead:" in result.text


TEMPLATES_HAVE_THREADS = hasattr(template, "call_sync_fn_in_threadpool")
"""FastMCP up to 4.1.0 runs resource templates that are written with def on the event loop itself."""


@pytest.mark.parametrize("make", [MCPServer, FastMCP])
async def test_prompts_and_resources_ask_and_stop_alike(revision: str, make: Callable[[str], Any]):
    server = make("library")
    Askback(server)

    @server.prompt()
    def letter() -> str:
        return f"Dear {sync.ask('To whom?', str).or_stop('No letter.')}"

    if make is MCPServer or TEMPLATES_HAVE_THREADS:

        @server.resource("shelf://{room}")
        def shelf(room: str) -> str:
            return f"{room}: {sync.ask('Which shelf?', int).or_stop('No shelf.')}"
    else:

        @server.resource("shelf://{room}")
        async def shelf(room: str) -> str:
            return f"{room}: {(await ask('Which shelf?', int)).or_stop('No shelf.')}"

    @server.resource("desk://only")
    def desk() -> str:
        return f"drawer {sync.ask('Which drawer?', int).or_stop('No drawer.')}"

    async def texts(name: Reply, number: Reply) -> list[str]:
        return [
            (await get_prompt(server, "letter", None, [name], revision=revision)).text,
            (await read_resource(server, "shelf://attic", [number], revision=revision)).text,
            (await read_resource(server, "desk://only", [number], revision=revision)).text,
        ]

    assert await texts(accept("Ada"), accept(3)) == ["Dear Ada", "attic: 3", "drawer 3"]
    assert await texts(decline(), decline()) == ["No letter.", "No shelf.", "No drawer."]


@pytest.mark.slow
@pytest.mark.parametrize("always_replay", [True, False])
async def test_fifty_calls_at_once_get_each_their_own_answers(
    revision: str, host: Callable[..., Any], always_replay: bool
):
    def body() -> str:
        first = sync.ask("First?", int).or_stop("none")
        return f"{first} {sync.ask(f'After {first}?', int).or_stop('none')}"

    server, texts = host(body), dict[int, str]()

    async def call(number: int) -> None:
        def reply(asked: Asked) -> Reply:
            return accept(number if asked.message == "First?" else number + 1000)

        run = await run_tool(server, "t", None, reply, revision=revision, always_replay=always_replay)
        texts[number] = run.text

    async with anyio.create_task_group() as calls:
        for number in range(50):
            calls.start_soon(call, number)
    assert texts == {number: f"{number} {number + 1000}" for number in range(50)}
