"""Clients that others made: the SDK's and FastMCP's, with a person of ours behind them."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from fastmcp import Client as FastClient
from mcp import Client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import ElicitRequest, ElicitRequestURLParams, InputRequiredResult, TextContent

from askback import Askback, ask, ask_all
from askback.client import ElicitationCallbacks, Mode, QuestionLimits, VisitAsked, VisitReply
from askback.errors import NotVisited
from askback.testing import accept, decline, fail
from askback.testing.person import ScriptedPerson

MODES = ["legacy", "2026-07-28"]
"""Of the SDK's client: both eras."""

FORM_ONLY: frozenset[Mode] = frozenset({"form"})


def inn() -> MCPServer:
    mcp = MCPServer("inn")
    Askback(mcp)

    @mcp.tool()
    async def book() -> str:
        return f"{(await ask('How many nights?', int)).or_stop('No')} nights"

    @mcp.tool()
    async def menu() -> str:
        got = await ask_all({"soup": ("Soup?", str), "main": ("Main?", str)})
        return " and ".join(answer.or_stop("nothing") for answer in got.values())

    return mcp


def till() -> MCPServer:
    """Demands a visit until it was made."""
    mcp, calls = MCPServer("till"), list[int]()

    @mcp.tool()
    async def order(ctx: Context[Any, Any]) -> str:
        calls.append(1)
        if len(calls) == 1:
            link = ElicitRequestURLParams(message="Pay.", url="https://pay.example/1", elicitation_id="e1")
            raise UrlElicitationRequiredError([link])
        return "paid"

    @mcp.tool()
    async def settle(name: str, ctx: Context[Any, Any]) -> str:
        await ctx.session.send_elicit_complete(name)
        return "settled"

    return mcp


def text(result: Any) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@pytest.mark.parametrize("mode", MODES)
async def test_the_sdks_client_asks_our_person(mode: str):
    person = ScriptedPerson([accept(3)])
    answers = ElicitationCallbacks(person, label="inn", purpose="tool book")
    async with Client(inn(), mode=mode, elicitation_callback=answers.sdk) as client:
        assert text(await client.call_tool("book")) == "3 nights"
    assert [(one.asked.asker.label, one.asked.purpose, one.action) for one in answers.answered] == [
        ("inn", "tool book", "accept")
    ]


async def test_the_questions_of_one_round_come_one_at_a_time_though_that_client_sends_them_at_once():
    shown = 0

    class Counting(ScriptedPerson):
        async def answer(self, turn: Any) -> Any:
            nonlocal shown
            shown += 1
            assert shown == 1
            await anyio.lowlevel.checkpoint()
            shown -= 1
            return await super().answer(turn)

    answers = ElicitationCallbacks(Counting([accept("leek"), accept("pie")]), label="inn")
    async with Client(inn(), mode="2026-07-28", elicitation_callback=answers.sdk) as client:
        assert text(await client.call_tool("menu")) == "leek and pie"


async def test_fastmcps_client_asks_our_person():
    answers = ElicitationCallbacks(ScriptedPerson([accept(3), decline()]), label="inn")
    async with FastClient(inn(), elicitation_handler=answers.fastmcp) as client:
        assert text(await client.call_tool("book")) == "3 nights"
        assert text(await client.call_tool("book")) == "No"


@pytest.mark.verifies("R51")
async def test_what_the_person_cannot_be_shown_is_refused_although_that_client_declared_it():
    mcp, errors = MCPServer("till"), list[int]()

    @mcp.tool()
    async def pay(ctx: Context[Any, Any]) -> str:
        try:
            await ctx.elicit_url("Pay.", "https://pay.example/1", "e1")
        except MCPError as error:
            errors.append(error.code)
        return "done"

    answers = ElicitationCallbacks(ScriptedPerson(modes=FORM_ONLY), label="till")
    async with Client(mcp, mode="legacy", elicitation_callback=answers.sdk) as client:
        await client.call_tool("pay")
    assert errors == [-32602]


@pytest.mark.parametrize("reply", [fail(), accept(3)], ids=["nobody", "too many"])
async def test_a_question_that_stays_unanswered_is_an_error_with_one_fixed_sentence(reply: Any):
    answers = ElicitationCallbacks(ScriptedPerson([reply]), label="inn", limits=QuestionLimits(questions=0))
    async with Client(inn(), mode="legacy", elicitation_callback=answers.sdk) as client:
        assert "Nobody is there to answer this question" in text(await client.call_tool("book"))


@pytest.mark.verifies("R79", "R80")
@pytest.mark.parametrize("maker", [Client, FastClient], ids=["SDK", "FastMCP"])
async def test_demanded_visits_are_made_and_the_call_is_made_again(maker: Any):
    person = ScriptedPerson([accept()])
    answers = ElicitationCallbacks(person, label="till")
    async with maker(till(), mode="legacy") as client:
        assert text(await answers.visiting(lambda: client.call_tool("order"))) == "paid"
    assert person.visited == ["https://pay.example/1"]


async def test_a_demanded_visit_that_is_declined_ends_the_call():
    answers = ElicitationCallbacks(ScriptedPerson([decline()]), label="till")
    async with Client(till(), mode="legacy") as client:
        with pytest.raises(NotVisited):
            await answers.visiting(lambda: client.call_tool("order"))


@pytest.mark.verifies("R80")
async def test_those_clients_hear_that_a_visit_is_finished_and_ignore_ids_of_others():
    class Patient(ScriptedPerson):
        """Says nothing; the server does."""

        async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
            await client.call_tool("settle", {"name": "somebody else's"})
            assert not finished.is_set()
            await client.call_tool("settle", {"name": "e1"})
            await finished.wait()
            return "done"

    answers = ElicitationCallbacks(Patient([accept()]), label="till")
    async with Client(till(), mode="legacy", message_handler=answers.notice) as client:
        assert text(await answers.visiting(lambda: client.call_tool("order"))) == "paid"


def toll() -> MCPServer:
    """Asks for the same visit in each of three rounds."""
    mcp, calls = MCPServer("toll"), list[int]()
    link = ElicitRequestURLParams(message="Pay.", url="https://pay.example/1", elicitation_id="e1")

    @mcp.tool()
    async def order() -> str | InputRequiredResult:
        calls.append(1)
        if len(calls) <= 3:
            return InputRequiredResult(
                input_requests={"pay": ElicitRequest(params=link)}, request_state="unpaid"
            )
        return "paid"

    return mcp


@asynccontextmanager
async def at_the_toll(
    maker: Any, answers: ElicitationCallbacks
) -> AsyncGenerator[Callable[[], Awaitable[Any]]]:
    """The call that is made there, in rounds, by a client with these answers."""
    sdk, fastmcp = {"elicitation_callback": answers.sdk}, {"elicitation_handler": answers.fastmcp}
    callback: dict[str, Any] = sdk if maker is Client else fastmcp
    async with maker(toll(), mode="2026-07-28", **callback) as client:
        yield lambda: client.call_tool("order")


VISITS: dict[str, tuple[list[VisitReply], int]] = {
    "done each time": ([], 1),
    "opened again once": (["again"], 2),
}
"""What the person says when the link comes again, and how often they were sent there."""


@pytest.mark.parametrize("words", VISITS)
@pytest.mark.parametrize("maker", [Client, FastClient], ids=["SDK", "FastMCP"])
async def test_a_link_that_comes_again_in_a_later_round_is_consented_to_once(maker: Any, words: str):
    said, times = VISITS[words]
    person = ScriptedPerson(lambda _: accept(), words=said)
    answers = ElicitationCallbacks(person, label="toll")
    async with at_the_toll(maker, answers) as call:
        assert text(await answers.visiting(call)) == "paid"
    assert person.visited == ["https://pay.example/1"] * times
    assert [one.action for one in answers.answered] == ["accept"] * 3


async def test_who_gives_up_on_a_link_that_comes_again_cancels_it():
    answers = ElicitationCallbacks(ScriptedPerson([accept()], words=["cancel", "cancel"]), label="toll")
    async with at_the_toll(Client, answers) as call:
        await answers.visiting(call)
    assert [one.action for one in answers.answered] == ["accept", "cancel", "cancel"]


async def test_consent_is_for_one_call_and_one_server():
    """Outside of `visiting` a callback cannot know that it is the same call, and asks."""
    person = ScriptedPerson(lambda _: accept())
    first, second, unknown = (ElicitationCallbacks(person, label=label) for label in ("one", "two", "three"))
    async with at_the_toll(Client, first) as outer, at_the_toll(Client, second) as inner:

        async def both() -> Any:
            await outer()
            return await inner()

        await first.visiting(both)
        assert len(person.visited) == 1 + 3
    async with at_the_toll(Client, unknown) as call:
        await call()
    assert len(person.visited) == 1 + 3 + 3
