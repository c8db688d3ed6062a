"""A question that comes twice is shown once; and nothing that only claims to be the same gets its answer."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from fastmcp import Client as FastClient
from mcp import Client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context as ToolContext
from mcp.shared.exceptions import MCPError

from askback.answers import Accepted
from askback.client import Driver, ElicitationCallbacks, Person
from askback.client.intake import (
    DEDUPE_SECONDS,
    MAX_ANSWERS,
    MAX_COPIES,
    DuplicateQuestions,
    GivenAnswer,
)
from askback.client.person import Turn
from askback.protocol.client import IncomingForm
from askback.testing import accept, cancel, decline
from askback.testing.person import ScriptedPerson
from tests.client.stranger_servers import SIZE, Context, Heard, Stranger, Typing, asking, done, form, settle
from tests.client.turns import make_form

PUSH = ["2025-06-18", "2025-11-25"]


def named(id: str = "q1", message: str = "Which size?", schema: Any = SIZE, **meta: Any) -> dict[str, Any]:
    return {"message": message, "requestedSchema": schema, "_meta": {"askback/question": id, **meta}}


class Asking:
    """A server that sends these questions, all at once or one after another, and keeps what came back."""

    def __init__(self, *questions: Mapping[str, Any], revision: str = "2025-11-25", at_once: bool = False):
        self.replies: list[Any] = []
        self._questions, self._at_once = questions, at_once
        self.server = Stranger(self._call, revision=revision)

    async def _call(self, ctx: Context, heard: Heard) -> dict[str, Any]:
        if not self._at_once:
            for question in self._questions:
                await self._ask(ctx, question)
            return done()
        async with anyio.create_task_group() as group:
            for question in self._questions:
                group.start_soon(self._ask, ctx, question)
        return done()

    async def _ask(self, ctx: Context, question: Mapping[str, Any]) -> None:
        reply = await ctx.send_raw_request("elicitation/create", question)
        self.replies.append({name: reply[name] for name in ("action", "content") if name in reply})


async def call(asking: Asking, person: Person) -> None:
    async with Driver(asking.server.transport(), person) as driver:
        await driver.call_tool("order")


THREE = {"action": "accept", "content": {"size": 3}}


@pytest.mark.parametrize("revision", PUSH)
@pytest.mark.parametrize("at_once", [True, False])
async def test_a_copy_gets_the_answer_of_the_first(revision: str, at_once: bool):
    asking, person = (
        Asking(named(), named(), revision=revision, at_once=at_once),
        ScriptedPerson([accept(size=3)]),
    )
    await call(asking, person)
    assert asking.replies == [THREE, THREE]
    assert [turn.behind for turn in person.turns] == [0]


@pytest.mark.parametrize("reply", [decline(), cancel()])
async def test_a_no_is_one_for_the_copy_too(reply: Any):
    asking = Asking(named(), named())
    await call(asking, ScriptedPerson([reply]))
    assert asking.replies[0] == asking.replies[1]


OTHERS = [
    named(message="Which size, really?"),
    named(schema={"type": "object", "properties": {"size": {"type": "number"}}}),
    named(schema={"properties": {"size": {"type": "integer"}}, "type": "object"}),
    named(icon="ruler"),
    named("q2"),
    {"message": "Which size?", "requestedSchema": SIZE},
]


@pytest.mark.parametrize("other", OTHERS, ids=["message", "schema", "order", "meta", "id", "no-id"])
@pytest.mark.parametrize("at_once", [True, False])
async def test_what_differs_in_anything_is_shown(other: Mapping[str, Any], at_once: bool):
    asking = Asking(named(), other, at_once=at_once)
    await call(asking, ScriptedPerson([accept(size=3), decline()]))
    assert asking.replies == [THREE, {"action": "decline"}]


@pytest.mark.parametrize("id", [7, "", "x" * 300, None])
async def test_an_id_that_is_none_makes_no_copies(id: Any):
    asking = Asking(named(id), named(id))
    await call(asking, ScriptedPerson([accept(size=3), decline()]))
    assert asking.replies == [THREE, {"action": "decline"}]


async def test_questions_without_ids_are_each_shown():
    plain = {"message": "Which size?", "requestedSchema": SIZE}
    asking = Asking(plain, plain)
    await call(asking, ScriptedPerson([accept(size=3), decline()]))
    assert asking.replies == [THREE, {"action": "decline"}]


async def test_another_connection_shares_nothing():
    first, second, person = Asking(named()), Asking(named()), ScriptedPerson([accept(size=3), decline()])
    await call(first, person)
    await call(second, person)
    assert second.replies == [{"action": "decline"}]


async def test_another_call_gets_no_answer_of_an_earlier_one():
    """A person agreed to it for one tool: no server has that count for the next."""
    asking, person = Asking(named()), ScriptedPerson([accept(size=3), decline()])
    async with Driver(asking.server.transport(), person) as driver:
        await driver.call_tool("order")
        await driver.call_tool("cancel_order")
    assert asking.replies == [THREE, {"action": "decline"}]
    assert [turn.asked.purpose for turn in person.turns] == ["tool order", "tool cancel_order"]


async def test_in_rounds_another_call_gets_none_either():
    async def on_call(ctx: Context, heard: Heard) -> dict[str, Any]:
        if "inputResponses" in heard.params:
            return done(str(heard.params["inputResponses"]["a"]["action"]))
        return asking("a", a=form()) | {"_meta": {"askback/questions": {"a": {"id": "q1"}}}}

    person = ScriptedPerson([accept(size=3), decline()])
    async with Driver(Stranger(on_call).transport(), person) as driver:
        results = [await driver.call_tool(name) for name in ("order", "cancel_order")]
    assert [getattr(result.content[0], "text", "") for result in results] == ["accept", "decline"]


async def test_when_the_first_is_withdrawn_its_copy_is_shown_in_its_place():
    replies: list[Any] = []
    person = Typing()

    async def on_call(ctx: Context, heard: Heard) -> dict[str, Any]:
        async def copy() -> None:
            replies.append(await ctx.send_raw_request("elicitation/create", named()))

        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as scope:
                group.start_soon(withdraw, scope)
                group.start_soon(copy)
                await ctx.send_raw_request("elicitation/create", named())
        return done()

    async def withdraw(scope: anyio.CancelScope) -> None:
        await person.begun.wait()
        await settle()
        scope.cancel()
        while not person.turns[0].gone:
            await person.turns[0].changed()
        person.sends.set()

    server = Stranger(on_call, revision="2025-11-25")
    with anyio.fail_after(10):
        async with Driver(server.transport(), person) as driver:
            await driver.call_tool("order")
    assert [turn.gone is None for turn in person.turns] == [False, True]
    assert [reply["content"] for reply in replies] == [{"size": 3}]


async def test_in_rounds_a_copy_is_known_by_the_note_beside_it():
    rounds = iter("ab")

    async def on_call(ctx: Context, heard: Heard) -> dict[str, Any]:
        if (key := next(rounds, None)) is None:
            return done(str(heard.params["inputResponses"]["b"]["content"]))
        return asking(key, **{key: form()}) | {"_meta": {"askback/questions": {key: {"id": "q1"}}}}

    person = ScriptedPerson([accept(size=3)])
    async with Driver(Stranger(on_call).transport(), person) as driver:
        result = await driver.call_tool("order")
    assert getattr(result.content[0], "text", "") == "{'size': 3}"
    assert person.turns[0].asked.question == "q1"
    assert person.turns[0].asked.meta is None


def twice() -> MCPServer:
    """Sends the same question twice over, as a server does that got a call twice."""
    mcp = MCPServer("inn")

    @mcp.tool()
    async def book(ctx: ToolContext[Any, Any], other: bool = False) -> str:
        channel = ctx.session._request_outbound  # pyright: ignore[reportPrivateUsage] # raw parameters
        last = named(message="Whose?") if other else named()
        replies = [await channel.send_raw_request("elicitation/create", one) for one in (named(), last)]
        return " ".join(str(reply["action"]) for reply in replies)

    return mcp


def sdk(server: MCPServer, answers: ElicitationCallbacks) -> Any:
    return Client(server, mode="legacy", elicitation_callback=answers.sdk)


def fastmcp(server: MCPServer, answers: ElicitationCallbacks) -> Any:
    return FastClient(server, mode="legacy", elicitation_handler=answers.fastmcp)


@pytest.mark.parametrize("host", [sdk, fastmcp])
@pytest.mark.parametrize(("other", "text"), [(False, "accept accept"), (True, "accept decline")])
async def test_hosts_with_a_client_of_their_own_show_it_once(host: Any, other: bool, text: str):
    person = ScriptedPerson([accept(size=3), decline()] if other else [accept(size=3)])
    async with host(twice(), ElicitationCallbacks(person, label="inn")) as client:
        result = await client.call_tool("book", {"other": other})
    assert result.content[0].text == text
    person.finish()


class Kept:
    """Copies with a clock that stands, and a person who is counted."""

    def __init__(self) -> None:
        self.now, self.asked = 0.0, 0
        self.copies = DuplicateQuestions(lambda: self.now)

    async def put(self, id: str = "q1") -> GivenAnswer:
        return await self.copies.once(IncomingForm(message="Size?", schema=SIZE, question=id), self._ask)

    async def _ask(self) -> GivenAnswer:
        self.asked += 1
        return GivenAnswer(Accepted({"size": self.asked}), Turn(make_form().asked))


async def test_an_answer_is_kept_for_a_while():
    kept = Kept()
    await kept.put()
    kept.now = DEDUPE_SECONDS
    await kept.put()
    assert kept.asked == 1
    kept.now += 1
    await kept.put()
    assert kept.asked == 2


async def test_an_answer_serves_so_many_copies_and_then_the_person_is_asked():
    kept = Kept()
    for _ in range(MAX_COPIES + 1):
        await kept.put()
    assert kept.asked == 1
    await kept.put()
    assert kept.asked == 2


async def test_so_many_answers_are_kept():
    kept = Kept()
    for number in range(MAX_ANSWERS + 1):
        await kept.put(str(number))
    await kept.put("1")
    assert kept.asked == MAX_ANSWERS + 1
    await kept.put("0")
    assert kept.asked == MAX_ANSWERS + 2


async def test_a_first_that_fails_leaves_its_copies_to_ask():
    copies, words = DuplicateQuestions(), IncomingForm(message="Size?", schema=SIZE, question="q1")

    async def fail() -> GivenAnswer:
        raise MCPError(-1, "nobody")

    with pytest.raises(MCPError):
        await copies.once(words, fail)
    assert (await copies.once(words, Kept()._ask)).counts  # pyright: ignore[reportPrivateUsage] # its person
