"""Questions that come while the call is open: what the server gets back."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    URL_ELICITATION_REQUIRED,
    CallToolResult,
    TextContent,
)

from askback.answers import Answer
from askback.client import Driver, Mode, Turn, VisitAsked, VisitReply
from askback.client.person import AnswerRecord
from askback.errors import AnswerRefused, Unanswered
from askback.testing import accept, cancel, decline, fail, raw
from askback.testing.person import ScriptedPerson
from tests.client.stranger_servers import (
    JULY,
    SIZE,
    Context,
    Heard,
    Stranger,
    Typing,
    asking,
    done,
    form,
    visit,
)

NOVEMBER = "2025-11-25"
PUSH = ["2025-06-18", NOVEMBER]
FORM = {"message": "Which size?", "requestedSchema": SIZE}
LINK = {"mode": "url", "message": "Please pay.", "url": "https://pay.example/7", "elicitationId": "e1"}


class Asking:
    """A server that asks these questions in one call and keeps what came back."""

    def __init__(self, *questions: Mapping[str, Any], revision: str = NOVEMBER) -> None:
        self.replies: list[Any] = []
        self._questions = questions
        self.server = Stranger(self._ask, revision=revision)

    async def _ask(self, ctx: Context, heard: Heard) -> dict[str, Any]:
        for question in self._questions:
            try:
                self.replies.append(await ctx.send_raw_request("elicitation/create", question))
            except MCPError as error:
                self.replies.append(error.code)
        return done()


async def call(asking: Asking, person: ScriptedPerson) -> None:
    async with Driver(asking.server.transport(), person) as driver:
        await driver.call_tool("order")


@pytest.mark.verifies("R52")
@pytest.mark.parametrize("revision", PUSH)
async def test_decline_and_cancel_are_two_things_and_neither_carries_content(revision: str):
    asking = Asking(FORM, FORM, FORM, revision=revision)
    await call(asking, ScriptedPerson([accept(size=3), decline(), cancel()]))
    assert asking.replies == [
        {"action": "accept", "content": {"size": 3}},
        {"action": "decline"},
        {"action": "cancel"},
    ]


@pytest.mark.verifies("R46")
async def test_a_missing_mode_is_a_form():
    asking = Asking(FORM, {**FORM, "mode": "form"})
    await call(asking, ScriptedPerson([accept(size=1), accept(size=1)]))
    assert asking.replies == [{"action": "accept", "content": {"size": 1}}] * 2


@pytest.mark.verifies("R67")
async def test_a_consented_visit_is_accepted_at_once_and_carries_nothing():
    asking, person = Asking(LINK), ScriptedPerson([accept()])
    await call(asking, person)
    assert asking.replies == [{"action": "accept"}]
    assert person.visited == ["https://pay.example/7"]


UNDECLARED: list[tuple[str, frozenset[Mode], Mapping[str, Any]]] = [
    (NOVEMBER, frozenset({"form"}), LINK),
    (NOVEMBER, frozenset({"url"}), FORM),
    (NOVEMBER, frozenset(), FORM),
    ("2025-06-18", frozenset({"form", "url"}), LINK),
    (NOVEMBER, frozenset({"form", "url"}), {"mode": "voice", "message": "Hm?"}),
    (NOVEMBER, frozenset({"form", "url"}), {"mode": "form"}),
]


@pytest.mark.verifies("R51")
@pytest.mark.parametrize(
    ("revision", "modes", "question"), UNDECLARED, ids=["url", "form", "nobody", "june", "voice", "empty"]
)
async def test_a_question_that_was_not_allowed_for_is_invalid_and_nobody_is_shown_it(
    revision: str, modes: frozenset[Mode], question: Mapping[str, Any]
):
    asking, person = Asking(question, revision=revision), ScriptedPerson(modes=modes)
    await call(asking, person)
    assert asking.replies == [INVALID_PARAMS]
    assert person.turns == []


async def test_questions_sent_at_once_are_put_one_after_another():
    async def two_at_once(ctx: Context, heard: Heard) -> dict[str, Any]:
        async with anyio.create_task_group() as both:
            for message in ("One?", "Two?"):
                both.start_soon(ctx.send_raw_request, "elicitation/create", {**FORM, "message": message})
        return done()

    person = ScriptedPerson([accept(size=1), accept(size=2)])
    async with Driver(Stranger(two_at_once, revision=NOVEMBER).transport(), person) as driver:
        await driver.call_tool("order")
    assert [turn.asked.message for turn in person.turns] == ["One?", "Two?"]
    assert [turn.number for turn in person.turns] == [1, 2]


async def test_where_questions_come_in_results_none_may_be_sent():
    asking, person = Asking(FORM, revision=JULY), ScriptedPerson()
    await call(asking, person)
    assert asking.replies == [METHOD_NOT_FOUND]
    assert person.turns == []


async def test_with_two_calls_under_way_the_end_of_one_takes_no_question_from_the_other():
    """The wire does not say which of them asks."""
    other_ended = anyio.Event()

    async def one_asks(ctx: Context, heard: Heard) -> dict[str, Any]:
        if heard.params["name"] == "asks":
            reply = await ctx.send_raw_request("elicitation/create", FORM)
            return done(str(reply["content"]["size"]))
        await person.begun.wait()
        return done()

    async def call_other(driver: Driver) -> None:
        await driver.call_tool("other")
        other_ended.set()

    person = Typing()
    driving = Driver(Stranger(one_asks, revision=NOVEMBER).transport(), person)
    results: list[CallToolResult] = []
    async with driving as driver, anyio.create_task_group() as calls:

        async def call_asking() -> None:
            results.append(await driver.call_tool("asks"))

        calls.start_soon(call_asking)
        calls.start_soon(call_other, driver)
        await other_ended.wait()
        assert person.turns[0].gone is None
        assert sorted(person.turns[0].asked.purposes) == ["tool asks", "tool other"]
        assert " or " in person.turns[0].asked.purpose
        person.sends.set()
    assert results[0].content == [TextContent(type="text", text="3")]


class Broken(ScriptedPerson):
    async def answer(self, turn: Turn) -> Answer[Any]:
        raise RuntimeError("the screen fell over")


class BrokenLater(ScriptedPerson):
    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        raise RuntimeError("the screen fell over")


async def test_a_mistake_on_our_own_side_is_not_blamed_on_the_server(revision: str):
    async def ask(ctx: Context, heard: Heard) -> dict[str, Any]:
        if revision == JULY:
            return asking("s", size=form())
        return await ctx.send_raw_request("elicitation/create", FORM)

    async with Driver(Stranger(ask, revision=revision).transport(), Broken()) as driver:
        with pytest.raises(RuntimeError, match="the screen fell over"):
            await driver.call_tool("order")


async def always_pay(ctx: Context, heard: Heard) -> dict[str, Any]:
    return asking("s", pay=visit())


async def pay_first(ctx: Context, heard: Heard) -> dict[str, Any]:
    raise MCPError(URL_ELICITATION_REQUIRED, "Pay first", {"elicitations": [LINK]})


@pytest.mark.parametrize(
    ("on_call", "revision"), [(pay_first, NOVEMBER), (always_pay, JULY)], ids=["demanded", "round"]
)
async def test_nor_is_one_that_is_made_while_a_visit_is_waited_for(on_call: Any, revision: str):
    server, person = Stranger(on_call, revision=revision), BrokenLater([accept()])
    async with Driver(server.transport(), person) as driver:
        with pytest.raises(RuntimeError, match="the screen fell over"):
            await driver.call_tool("order")


async def test_nor_is_one_of_whoever_hears_what_came_of_a_visit():
    def hear(one: AnswerRecord) -> None:
        heard.append(one)
        if len(heard) == 2:
            raise RuntimeError("the pen broke")

    heard = list[AnswerRecord]()
    async with Driver(Stranger(always_pay).transport(), ScriptedPerson([accept()])) as driver:
        with pytest.raises(RuntimeError, match="the pen broke"):
            await driver.call_tool("order", noted=hear)


async def test_a_question_that_nobody_answers_ends_the_call_with_the_advice():
    async with Driver(Asking(FORM).server.transport(), ScriptedPerson([fail(message="No rule.")])) as driver:
        with pytest.raises(Unanswered, match="No rule"):
            await driver.call_tool("order")
        assert driver.answered == []


@pytest.mark.verifies("R56")
async def test_content_that_does_not_fit_is_never_sent():
    asking, person = Asking(FORM), ScriptedPerson([raw({"action": "accept", "content": {"size": "big"}})])
    async with Driver(asking.server.transport(), person) as driver:
        with pytest.raises(AnswerRefused, match="size: "):
            await driver.call_tool("order")
    assert asking.replies == [] or not isinstance(asking.replies[0], dict)


@pytest.mark.verifies("R61", "R68")
async def test_a_link_that_may_not_be_opened_cannot_be_accepted():
    asking = Asking({**LINK, "url": "javascript:alert(1)"})
    async with Driver(asking.server.transport(), ScriptedPerson([raw({"action": "accept"})])) as driver:
        with pytest.raises(AnswerRefused):
            await driver.call_tool("order")


async def test_who_asks_and_for_which_call_is_told_with_the_question():
    person = ScriptedPerson([decline()])
    async with Driver(Asking(FORM).server.transport(), person, label="my pizzeria") as driver:
        await driver.call_tool("order")
        assert [(one.action, one.by) for one in driver.answered] == [("decline", "person")]
    asked = person.turns[0].asked
    assert (asked.asker.label, asked.asker.name, asked.purpose) == ("my pizzeria", "stranger", "tool order")
