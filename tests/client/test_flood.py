"""Servers that ask too much, too fast, or for ever: what the person is spared."""

from typing import Any

import anyio
import pytest
from mcp.client.session import ClientRequestContext
from mcp_types import ListRootsResult

from askback.answers import Answer, Declined
from askback.client import Driver, QuestionLimits, Turn, VisitAsked, VisitReply
from askback.client.intake import ALL_DECLINED
from askback.errors import TooManyQuestions, Unfinished
from askback.testing import accept, decline
from askback.testing.person import ScriptedPerson
from tests.client.stranger_servers import (
    JULY,
    Clock,
    Context,
    Heard,
    LoopClock,
    Stranger,
    asking,
    done,
    form,
    visit,
)

THOUSAND = 1000


def many(revision: str, *, message: str = "Question {}?") -> Stranger:
    """Asks a thousand times, in the way of its revision."""

    async def push(ctx: Context, heard: Heard) -> dict[str, Any]:
        for number in range(THOUSAND):
            await ctx.send_raw_request("elicitation/create", form(message.format(number))["params"])
        return done()

    async def rounds(ctx: Context, heard: Heard) -> dict[str, Any]:
        number = len(server.calls)
        return asking("s", one=form(message.format(number))) if number <= THOUSAND else done()

    server = Stranger(rounds if revision == JULY else push, revision=revision)
    return server


@pytest.mark.verifies("R50", "T20")
async def test_a_server_that_asks_a_thousand_times_is_left_after_a_hundred(revision: str):
    clock, person = Clock(), ScriptedPerson(lambda asked: decline())
    driving = Driver(many(revision).transport(), person, clock=clock, sleep=clock.sleep)
    async with driving as driver:
        with pytest.raises(TooManyQuestions, match="more than 100 questions in one call"):
            await driver.call_tool("order")
        assert len(driver.answered) == 100
    assert len(person.turns) == 100


@pytest.mark.verifies("R50", "T20")
async def test_the_same_question_again_and_again_ends_the_call(revision: str):
    clock, person = Clock(), ScriptedPerson(lambda asked: decline())
    server = many(revision, message="Sure?")
    async with Driver(server.transport(), person, clock=clock, sleep=clock.sleep) as driver:
        with pytest.raises(TooManyQuestions, match="the same question more than 10 times"):
            await driver.call_tool("order")
    assert len(person.turns) == 10


@pytest.mark.verifies("R50", "T20")
async def test_twenty_questions_come_at_once_and_then_two_in_a_second(revision: str):
    clock, person = Clock(), ScriptedPerson(lambda asked: decline())
    limits = QuestionLimits(questions=30)
    server = many(revision)
    async with Driver(server.transport(), person, limits=limits, clock=clock, sleep=clock.sleep) as driver:
        with pytest.raises(TooManyQuestions):
            await driver.call_tool("order")
    assert clock.slept == [0.5] * 10


async def always_pay(ctx: Context, heard: Heard) -> dict[str, Any]:
    return asking("s", pay=visit())


@pytest.mark.verifies("R50", "T20")
async def test_a_link_that_comes_again_and_again_after_consent_is_counted_paced_and_noted():
    clock, person = Clock(), ScriptedPerson([accept()])
    limits = QuestionLimits(burst=4)
    driving = Driver(Stranger(always_pay).transport(), person, limits=limits, clock=clock, sleep=clock.sleep)
    async with driving as driver:
        with pytest.raises(TooManyQuestions, match="the same question more than 10 times"):
            await driver.call_tool("order")
        assert [(one.action, one.by) for one in driver.answered] == [("accept", "person")] * 10
    assert clock.slept == [0.5] * 6


class Weary(ScriptedPerson):
    """Consents to the first link, declines everything with the second, and waits for nothing."""

    async def answer(self, turn: Turn) -> Answer[Any]:
        turn.declines_all = bool(self.turns)
        return await super().answer(turn)


@pytest.mark.verifies("T20")
async def test_after_declining_all_a_link_that_comes_again_is_not_waited_for():
    async def pay_and_more(ctx: Context, heard: Heard) -> dict[str, Any]:
        rounds = [asking("s", pay=visit()), asking("s", size=form()), asking("s", pay=visit()), done()]
        return rounds[len(server.calls) - 1]

    server, person = Stranger(pay_and_more), Weary([accept(), decline()])
    async with Driver(server.transport(), person) as driver:
        await driver.call_tool("order")
        assert [one.by for one in driver.answered] == ["person", "person", ALL_DECLINED]
    assert server.calls[-1].params["inputResponses"] == {"pay": {"action": "decline"}}


@pytest.mark.verifies("R80", "T20")
async def test_a_link_without_an_id_is_not_finished_by_a_notification_that_names_its_address():
    class Patient(ScriptedPerson):
        async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
            await server.notify("notifications/elicitation/complete", {"elicitationId": asked.url})
            await anyio.wait_all_tasks_blocked()
            heard.append(finished.is_set())
            return "cancel"

    server, heard = Stranger(always_pay), list[bool]()
    async with Driver(server.transport(), Patient([accept()]), limits=QuestionLimits(repeats=2)) as driver:
        with pytest.raises(TooManyQuestions):
            await driver.call_tool("order")
    assert heard == [False]


@pytest.mark.verifies("T20")
async def test_roots_and_models_that_are_wanted_without_end_end_the_call():
    async def always_roots(ctx: Context, heard: Heard) -> dict[str, Any]:
        return asking("s", roots={"method": "roots/list"})

    async def list_roots(context: ClientRequestContext) -> ListRootsResult:
        given.append(1)
        return ListRootsResult(roots=[])

    given: list[int] = []
    async with Driver(Stranger(always_roots).transport(), roots=list_roots) as driver:
        with pytest.raises(TooManyQuestions, match="wanted roots or a model more than 100 times"):
            await driver.call_tool("order")
        assert len(given) == 100
        with pytest.raises(TooManyQuestions):
            await driver.begin("order")


class Fed(ScriptedPerson):
    """Declines the first question, and everything else from this server."""

    async def answer(self, turn: Turn) -> Answer[Any]:
        self.turns.append(turn)
        turn.declines_all = True
        return Declined()


@pytest.mark.verifies("T20")
async def test_after_declining_all_nothing_more_is_shown_and_each_is_noted_as_such(revision: str):
    person = Fed()
    limits = QuestionLimits(questions=5)
    async with Driver(many(revision).transport(), person, limits=limits) as driver:
        with pytest.raises(TooManyQuestions):
            await driver.call_tool("order")
        noted = [(one.action, one.by) for one in driver.answered]
    assert len(person.turns) == 1
    assert noted == [("decline", "person"), *[("decline", ALL_DECLINED)] * 4]


@pytest.mark.verifies("T20")
async def test_declining_all_holds_for_later_calls_of_this_connection_too():
    async def one(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done() if "inputResponses" in heard.params else asking("s", one=form())

    person = Fed()
    async with Driver(Stranger(one).transport(), person) as driver:
        await driver.call_tool("order")
        await driver.call_tool("order")
        assert [one.by for one in driver.answered] == ["person", ALL_DECLINED]


async def test_an_honest_call_after_a_long_one_starts_counting_anew():
    async def sixty(ctx: Context, heard: Heard) -> dict[str, Any]:
        number = len(server.calls) % 61
        return asking("s", one=form(f"Question {number}?")) if number else done()

    clock, server = Clock(), Stranger(sixty)
    person = ScriptedPerson(lambda asked: accept(size=1))
    async with Driver(server.transport(), person, clock=clock, sleep=clock.sleep) as driver:
        await driver.call_tool("order")
        await driver.call_tool("order")
        assert len(driver.answered) == 120


async def test_a_server_that_never_finishes_is_given_up_when_patience_ends(
    revision: str, monkeypatch: pytest.MonkeyPatch
):
    async def never(ctx: Context, heard: Heard) -> dict[str, Any]:
        await clock.skip(3600)
        await anyio.sleep_forever()
        return done()

    clock, server = LoopClock(monkeypatch), Stranger(never, revision=revision)
    async with Driver(server.transport(), ScriptedPerson(), patience=3600, clock=clock) as driver:
        with pytest.raises(Unfinished, match="neither finished, nor asked"):
            await driver.call_tool("order")
        assert await driver.list_tools() == []
