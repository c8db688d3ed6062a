"""Tools with the SDK's resolvers: alone, and beside what the body itself asks."""

from collections.abc import Callable
from typing import Annotated, Any

import anyio
import pytest
from mcp.server import MCPServer
from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Elicit, ListRoots, Resolve, Sample
from mcp_types import CreateMessageResult, ListRootsResult, SamplingMessage, TextContent

from askback import Accepted, Askback, ask, once
from askback.testing import Run, accept, cancel, decline, raw, run_tool
from askback.testing.script import Answers
from tests.protocol.styles.conftest import LATEST, Way
from tests.protocol.styles.people import run_well_equipped
from tests.protocol.styles.servers import Name, Seat

pytestmark = pytest.mark.anyio


def who() -> Elicit[Name]:
    return Elicit("Who?", Name)


async def where() -> Elicit[Seat]:
    return Elicit("Where?", Seat)


async def where_for(guest: Annotated[Name, Resolve(who)]) -> Elicit[Seat]:
    return Elicit(f"Where does {guest.name} sit?", Seat)


def serving(tool: Callable[..., Any]) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("test")
    Askback(server)
    server.add_tool(tool, name="t")
    return server


async def run(tool: Callable[..., Any], answers: Answers, way: Way) -> Run:
    return await run_tool(
        serving(tool), "t", None, answers, revision=way.revision, always_replay=way.always_replay
    )


def messages(run: Run) -> list[str]:
    return [asked.message for asked in run.asked]


def rounds(run: Run) -> list[int]:
    """How many questions each round had."""
    results = [line.body for line in run.transcript if line.what == "result"]
    return [len(result["inputRequests"]) for result in results if "inputRequests" in result]


async def test_two_that_are_independent_take_one_round(way: Way):
    async def tool(guest: Annotated[Name, Resolve(who)], seat: Annotated[Seat, Resolve(where)]) -> str:
        return f"{guest.name} {seat.row}"

    result = await run(tool, [accept(name="Ada"), accept(row=3)], way)
    assert (result.text, messages(result)) == ("Ada 3", ["Who?", "Where?"])
    assert rounds(result) == ([2] if way.revision == LATEST else [])


async def test_one_that_depends_on_another_takes_two(way: Way):
    async def tool(guest: Annotated[Name, Resolve(who)], seat: Annotated[Seat, Resolve(where_for)]) -> str:
        return f"{guest.name} {seat.row}"

    result = await run(tool, [accept(name="Ada"), accept(row=3)], way)
    assert (result.text, messages(result)) == ("Ada 3", ["Who?", "Where does Ada sit?"])
    assert rounds(result) == ([1, 1] if way.revision == LATEST else [])


@pytest.mark.parametrize(
    ("reply", "word"), [(decline(), "decline"), (cancel(), "cancel")], ids=["decline", "cancel"]
)
async def test_a_no_ends_the_call_as_the_sdk_ends_it(way: Way, reply: Any, word: str):
    bodies: list[int] = []

    async def tool(guest: Annotated[Name, Resolve(who)]) -> str:
        bodies.append(1)
        return guest.name

    result = await run(tool, [reply], way)
    assert result.is_error and not bodies
    assert result.text.endswith(f"Resolver for parameter 'guest' could not resolve: elicitation was {word}")


async def test_a_body_that_takes_every_answer_gets_every_answer(way: Way):
    async def tool(
        guest: Annotated[ElicitationResult[Name], Resolve(who)],
        seat: Annotated[ElicitationResult[Seat], Resolve(where)],
    ) -> str:
        row = seat.data.row if seat.action == "accept" else 0
        return f"{guest.action} {seat.action} {row} {await ask('Sure?', bool)}"

    for first in (decline(), cancel()):
        result = await run(tool, [first, accept(row=3), accept(True)], way)
        assert result.text == f"{first.reply['action']} accept 3 Accepted(value=True)"


async def test_the_body_may_ask_and_elicit_and_its_effects_happen_once(way: Way):
    done: list[str] = []

    async def tool(
        ctx: Context, guest: Annotated[Name, Resolve(who)], seat: Annotated[Seat, Resolve(where_for)]
    ) -> str:
        await once("greet", done.append, f"Hello {guest.name}")
        drink = await ask("Drink?", str)
        meal = await ctx.elicit("Meal?", Name)
        await once("book", done.append, f"row {seat.row}")
        last = await ask("Anything else?", str)
        return f"{drink} {meal.action} {last}"

    answers = [accept(name="Ada"), accept(row=3), accept("tea"), decline(), accept("no")]
    result = await run(tool, answers, way)
    assert result.text == "Accepted(value='tea') decline Accepted(value='no')"
    assert messages(result) == ["Who?", "Where does Ada sit?", "Drink?", "Meal?", "Anything else?"]
    assert done == ["Hello Ada", "row 3"]


async def test_a_resolver_may_ask_by_itself(way: Way):
    done: list[str] = []

    async def wherever(ctx: Context) -> int:
        await once("look", done.append, "looked")
        answer = await ask("Row?", int)
        side = await ctx.elicit("Side?", Name)
        return answer.value if isinstance(answer, Accepted) and side.action == "accept" else 0

    async def tool(guest: Annotated[Name, Resolve(who)], row: Annotated[int, Resolve(wherever)]) -> str:
        return f"{guest.name} {row} {await ask('Sure?', bool)}"

    answers = {
        "Who?": accept(name="Ada"),
        "Row?": accept(3),
        "Side?": accept(name="left"),
        "Sure?": accept(True),
    }
    result = await run(tool, lambda asked: answers[asked.message], way)
    assert result.text == "Ada 3 Accepted(value=True)"
    assert sorted(messages(result)) == sorted(answers)
    assert done == ["looked"]


async def test_what_a_model_and_the_roots_say_is_resolved_beside_a_question(way: Way):
    def haiku() -> Sample:
        please = SamplingMessage(role="user", content=TextContent(text="A haiku, please."))
        return Sample([please], max_tokens=20)

    def roots() -> ListRoots:
        return ListRoots()

    async def tool(
        poem: Annotated[CreateMessageResult, Resolve(haiku)],
        home: Annotated[ListRootsResult, Resolve(roots)],
        guest: Annotated[Name, Resolve(who)],
    ) -> str:
        assert isinstance(poem.content, TextContent)
        answer = await ask("Sure?", bool)
        return f"{poem.content.text} {home.roots[0].name} {guest.name} {answer}"

    with anyio.fail_after(20):
        answers = [accept(name="Ada"), accept(True)]
        result = await run_well_equipped(serving(tool), answers, way=way)
    assert result.text == "a haiku home Ada Accepted(value=True)"
    assert messages(result) == ["Who?", "Sure?"]


async def test_a_reply_that_does_not_fit_is_asked_again_where_it_is_pushed(way: Way):
    async def tool(seat: Annotated[Seat, Resolve(where)]) -> str:
        return str(seat.row)

    unfit = raw({"action": "accept", "content": {"row": 99}})
    if way.revision == LATEST:  # the SDK reads it there, and ends the call
        result = await run(tool, [unfit], way)
        assert result.is_error and "does not match the requested schema" in result.text
    else:
        result = await run(tool, [unfit, accept(row=2)], way)
        assert result.text == "2"
