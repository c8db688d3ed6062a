"""The testing kit: what a scripted person can do, and what a test gets to see."""

from datetime import UTC, date, datetime
from enum import Enum
from typing import Any, Literal

import pytest
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from askback import Accepted, Answer, Askback, CannotAsk, ask, choose
from askback.testing import (
    Asked,
    ScriptMismatch,
    accept,
    fail,
    get_prompt,
    raw,
    read_resource,
    run_tool,
)
from askback.testing.script import Reply
from tests.support.tool_servers import HOSTS, mcpserver
from tests.testing.tools import ADA, JUNE, LATEST, LONDON, NOVEMBER, meet, on_every_revision

pytestmark = pytest.mark.anyio


async def test_replies_by_key_find_their_questions_in_any_order():
    run = await run_tool(mcpserver(meet), "t", None, {"town": LONDON, "person": ADA}, revision=LATEST)
    assert run.text == "Ada, 36, London"
    assert [asked.key for asked in run.asked] == ["person", "town"]


async def test_a_key_without_a_reply_and_a_reply_without_its_question_are_both_said():
    with pytest.raises(ScriptMismatch, match="no reply for the key 'town'"):
        await run_tool(mcpserver(meet), "t", None, {"person": ADA}, revision=LATEST)
    replies = {"person": ADA, "town": LONDON, "country": LONDON}
    with pytest.raises(ScriptMismatch, match="nobody asked for the key 'country'"):
        await run_tool(mcpserver(meet), "t", None, replies, revision=LATEST)


@pytest.mark.parametrize("revision", [JUNE, NOVEMBER])
async def test_where_keys_do_not_travel_a_script_by_key_says_what_to_do(revision: str):
    with pytest.raises(ScriptMismatch, match="in order, or a function of the question"):
        await run_tool(mcpserver(meet), "t", None, {"person": ADA, "town": LONDON}, revision=revision)


@on_every_revision
async def test_a_function_sees_the_question_as_the_client_does(revision: str):
    seen: list[Asked] = []

    def answer(asked: Asked) -> Reply:
        seen.append(asked)
        return ADA if "name" in asked.fields else LONDON

    run = await run_tool(mcpserver(meet), "t", None, answer, revision=revision)
    assert run.text == "Ada, 36, London"
    assert seen == run.asked
    assert [(asked.message, asked.mode) for asked in seen] == [
        ("Who are you?", "form"),
        ("From which town?", "form"),
    ]
    assert seen[0].schema["required"] == ["name"]


class Colour(Enum):
    RED = 1
    BLUE = "blue"


class Trip(BaseModel):
    day: date
    at: datetime
    colour: Colour
    seats: Literal[1, 2]
    colours: list[Colour]


@on_every_revision
async def test_values_can_be_given_as_python_has_them(revision: str):
    trip = Trip(
        day=date(2026, 7, 28),
        at=datetime(2026, 7, 28, 9, 30, tzinfo=UTC),
        colour=Colour.RED,
        seats=2,
        colours=[Colour.RED, Colour.BLUE],
    )
    seen: list[Answer[Trip]] = []

    async def body() -> str:
        seen.append(await ask("Which trip?", Trip))
        return "done"

    values: dict[str, Any] = dict(trip)
    await run_tool(mcpserver(body), "t", None, [accept(values)], revision=revision, always_replay=False)
    (taken,) = seen
    assert isinstance(taken, Accepted)
    assert taken.value == trip


@on_every_revision
async def test_one_of_a_list_is_chosen_by_its_value(revision: str):
    async def body() -> str:
        number = (await choose("How many?", [1, 2, 3])).or_stop("none")
        return f"{number + 1} of {(await choose('Which?', [1, 2, 3], multiple=True)).or_stop('none')}"

    run = await run_tool(mcpserver(body), "t", None, [accept(2), accept((1, 3))], revision=revision)
    assert run.text == "3 of [1, 3]"


async def pack() -> str:
    """Asks for several of several."""
    return str((await ask("What to pack?", list[Literal["map", "rope"]])).or_stop("nothing"))


async def test_on_2025_06_18_a_list_becomes_one_tick_each():
    run = await run_tool(mcpserver(pack), "t", None, [accept(["rope"])], revision=JUNE)
    assert run.text == "['rope']"
    (asked,) = run.asked
    assert asked.fields == ["value.map", "value.rope"]
    (answer,) = [line.body for line in run.transcript if line.what == "answer"]
    assert answer["content"] == {"value.map": False, "value.rope": True}


async def test_on_2025_06_18_a_choice_that_has_no_tick_is_a_mismatch():
    with pytest.raises(ScriptMismatch, match="chooses 'tent', which is not offered"):
        await run_tool(mcpserver(pack), "t", None, [accept(["rope", "tent"])], revision=JUNE)


@pytest.mark.parametrize("host", HOSTS)
@on_every_revision
async def test_the_transcript_has_every_message_in_order(revision: str, host: str):
    run = await run_tool(HOSTS[host](meet), "t", None, [ADA, LONDON], revision=revision)
    lines = [f"{line.direction} {line.what}" for line in run.transcript]
    question = ["<- elicitation/create", "-> answer"]
    assert lines == (
        ["-> tools/call", "<- result"] * 3
        if revision == LATEST
        else ["-> initialize", "<- result", "-> tools/call", *question, *question, "<- result"]
    )
    assert run.transcript[-1].body == run.result
    assert "Ada, 36, London" in str(run.transcript[-1])


@on_every_revision
async def test_prompts_and_resources_run_like_tools(revision: str):
    server: MCPServer[Any] = MCPServer("library")
    Askback(server)

    @server.prompt()
    async def letter(greeting: str) -> str:
        return f"{greeting} {(await ask('To whom?', str)).or_stop('nobody')}"

    @server.resource("shelf://{room}")
    async def shelf(room: str) -> str:
        return f"{room} {(await ask('Which shelf?', int)).or_stop('no shelf')}"

    dear = await get_prompt(server, "letter", {"greeting": "Dear"}, [accept("Ada")], revision=revision)
    assert (dear.text, dear.asked[0].message) == ("Dear Ada", "To whom?")
    attic = await read_resource(server, "shelf://attic", [accept(3)], revision=revision)
    assert (attic.text, attic.is_error, attic.structured) == ("attic 3", False, None)


@on_every_revision
async def test_a_reply_that_does_not_fit_shows_as_a_second_question(revision: str):
    bad = raw({"action": "accept", "content": {"name": 5}})
    run = await run_tool(mcpserver(meet), "t", None, [bad, ADA, LONDON], revision=revision)
    assert [asked.message.splitlines()[0] for asked in run.asked][:2] == ["Who are you?"] * 2
    assert run.text == "Ada, 36, London"


async def test_a_client_that_breaks_is_cannot_ask_on_push_and_gives_up_on_rounds():
    async def careful() -> str:
        try:
            return await meet()
        except CannotAsk as error:
            return error.reason

    broken = [fail(-32000, "window crashed")]
    for revision in (JUNE, NOVEMBER):
        run = await run_tool(mcpserver(careful), "t", None, broken, revision=revision)
        assert "window crashed" in run.text
    with pytest.raises(MCPError, match="window crashed"):
        await run_tool(mcpserver(careful), "t", None, broken, revision=LATEST)


@on_every_revision
async def test_what_the_client_declares_is_the_tests_choice(revision: str):
    async def careful() -> str:
        try:
            return await meet()
        except CannotAsk:
            return "nobody to ask"

    run = await run_tool(mcpserver(careful), "t", revision=revision, capabilities={})
    assert (run.text, run.asked) == ("nobody to ask", [])
