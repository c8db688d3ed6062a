"""Calls that end with questions: what is sent when they are made again, and when they are given up."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import HEADER_MISMATCH, ListRootsResult, TextContent

from askback.answers import Accepted, Answer
from askback.client import Driver, Mode, QuestionLimits, Turn, VisitAsked, VisitReply
from askback.errors import NotUnderstood, Unfinished
from askback.testing import accept, cancel, decline
from askback.testing.person import ScriptedPerson
from tests.client.stranger_servers import BOTH, Clock, Context, Heard, Stranger, asking, done, form, visit

STATE = '{"a": 1,  "b":\t"\\u00e4 ä"}  '
"""Spaces, escapes and order that reading and writing it again would change."""


def replies(heard: Heard) -> Any:
    return heard.params.get("inputResponses")


async def two_forms(ctx: Context, heard: Heard) -> dict[str, Any]:
    if replies(heard) is None:
        return asking(STATE, size=form("Which size?"), again=form("And which size then?"))
    return done()


async def no_state(ctx: Context, heard: Heard) -> dict[str, Any]:
    return done() if replies(heard) else asking(size=form())


@pytest.mark.verifies("R70")
async def test_all_questions_of_a_round_are_answered_in_order_before_the_call_is_made_again():
    server, person = Stranger(two_forms), ScriptedPerson([accept(size=1), accept(size=2)])
    async with Driver(server.transport(), person) as driver:
        await driver.call_tool("order")
    assert [turn.asked.message for turn in person.turns] == ["Which size?", "And which size then?"]
    assert len(server.calls) == 2
    assert replies(server.calls[1]) == {
        "size": {"action": "accept", "content": {"size": 1}},
        "again": {"action": "accept", "content": {"size": 2}},
    }


@pytest.mark.verifies("R71")
async def test_the_state_comes_back_byte_for_byte():
    server, person = Stranger(two_forms), ScriptedPerson([decline(), decline()])
    async with Driver(server.transport(), person) as driver:
        await driver.call_tool("order")
    assert server.calls[1].params["requestState"] == STATE


@pytest.mark.verifies("R71")
async def test_a_state_that_was_not_given_is_not_sent():
    server = Stranger(no_state)
    async with Driver(server.transport(), ScriptedPerson([decline()])) as driver:
        await driver.call_tool("order")
    assert "requestState" not in server.calls[1].params


@pytest.mark.verifies("R72", "R75")
async def test_the_same_tool_and_arguments_are_called_under_a_new_id():
    server = Stranger(no_state)
    async with Driver(server.transport(), ScriptedPerson([decline()])) as driver:
        await driver.call_tool("order", {"pizza": "Margherita", "nested": {"deep": [1, 2]}})
    first, second = server.calls
    assert first.id != second.id
    assert (first.params["name"], first.params["arguments"]) == (
        second.params["name"],
        second.params["arguments"],
    )


@pytest.mark.verifies("R52", "R67")
async def test_content_goes_with_an_accepted_form_alone():
    async def three(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done() if replies(heard) else asking(a=form(), b=form(), c=visit())

    server, person = Stranger(three), ScriptedPerson([decline(), cancel(), accept()])
    async with Driver(server.transport(), person) as driver:
        await driver.call_tool("order")
    assert replies(server.calls[1]) == {
        "a": {"action": "decline"},
        "b": {"action": "cancel"},
        "c": {"action": "accept"},
    }
    assert person.visited == ["https://pay.example/7"]


@pytest.mark.verifies("R46")
async def test_a_question_that_says_no_mode_is_a_form_and_one_that_says_null_too():
    silent = {**form(), "params": {**form()["params"], "mode": None}}

    async def modeless(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done() if replies(heard) else asking(a=form(), b=silent)

    person = ScriptedPerson([accept(size=1), accept(size=2)])
    async with Driver(Stranger(modeless).transport(), person) as driver:
        await driver.call_tool("order")
    person.finish()


class SideBySide:
    """Answers only when both calls have asked, so that their rounds cross."""

    modes: frozenset[Mode] = BOTH
    shows_several = True

    def __init__(self) -> None:
        self.both = anyio.Event()
        self._asked = 0

    async def answer(self, turn: Turn) -> Answer[Any]:
        self._asked += 1
        if self._asked == 2:
            self.both.set()
        await self.both.wait()
        return Accepted({"size": 1 if turn.asked.purpose == "tool one" else 2})

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        return "done"


@pytest.mark.verifies("R73")
async def test_nothing_of_one_call_shows_in_another_that_runs_beside_it():
    async def own_state(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done() if replies(heard) else asking(f"state of {heard.params['name']}", size=form())

    server = Stranger(own_state)
    driving = Driver(server.transport(), SideBySide())
    async with driving as driver, anyio.create_task_group() as calls:
        calls.start_soon(driver.call_tool, "one")
        calls.start_soon(driver.call_tool, "two")
    first = {heard.params["name"]: heard.params for heard in server.calls[:2]}
    second = {heard.params["name"]: heard.params for heard in server.calls[2:]}
    for number, name in enumerate(("one", "two"), 1):
        assert not {"inputResponses", "requestState"} & first[name].keys()
        assert second[name]["requestState"] == f"state of {name}"
        assert second[name]["inputResponses"]["size"]["content"] == {"size": number}


@pytest.mark.verifies("R74")
async def test_a_result_that_does_not_say_its_type_is_complete():
    async def silent(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done("all there")

    async with Driver(Stranger(silent).transport(), ScriptedPerson()) as driver:
        result = await driver.call_tool("order")
    assert result.content == [TextContent(type="text", text="all there")]


BROKEN: dict[str, Callable[[], dict[str, Any]]] = {
    "unknown type": lambda: {**done(), "resultType": "almost"},
    "type that is no text": lambda: {**done(), "resultType": 7},
    "asks nothing": lambda: asking(),
    "asks null": lambda: {**asking(), "inputRequests": None},
    "state that is no text": lambda: {**asking(size=form()), "requestState": 7},
    "requests that are a list": lambda: {"resultType": "input_required", "inputRequests": [form()]},
    "request that is none": lambda: asking("s", size="what?"),
    "unknown request": lambda: asking("s", size={"method": "tools/call", "params": {}}),
    "question without a message": lambda: asking("s", size={"method": "elicitation/create", "params": {}}),
    "unknown mode": lambda: asking(
        "s", size={"method": "elicitation/create", "params": {"mode": "voice", "message": "Hm?"}}
    ),
    "no result at all": lambda: {"nonsense": True},
}


@pytest.mark.verifies("R74")
@pytest.mark.parametrize("name", BROKEN)
async def test_a_result_that_the_protocol_does_not_know_is_the_servers_mistake(name: str):
    async def broken(ctx: Context, heard: Heard) -> dict[str, Any]:
        return BROKEN[name]()

    async with Driver(Stranger(broken).transport(), ScriptedPerson()) as driver:
        with pytest.raises(NotUnderstood, match="The server broke the protocol"):
            await driver.call_tool("order")


@pytest.mark.verifies("R51")
async def test_a_mode_that_was_not_declared_ends_the_call():
    async def link(ctx: Context, heard: Heard) -> dict[str, Any]:
        return asking("s", pay=visit())

    person = ScriptedPerson(modes=frozenset({"form"}))
    async with Driver(Stranger(link).transport(), person) as driver:
        with pytest.raises(NotUnderstood, match="asked for a link, which this client did not declare"):
            await driver.call_tool("order")
    assert person.turns == []


SPOILT: dict[str, Any] = {
    "question that is none": {"method": "elicitation/create", "params": {"mode": "voice"}},
    "link that was not declared": visit(),
    "request that is none": "what?",
    "unknown request": {"method": "tools/call", "params": {}},
}


@pytest.mark.verifies("R51", "R70")
@pytest.mark.parametrize("name", SPOILT)
async def test_nobody_is_asked_anything_of_a_round_that_cannot_be_answered_as_a_whole(name: str):
    async def spoilt(ctx: Context, heard: Heard) -> dict[str, Any]:
        return asking("s", size=form(), more=SPOILT[name])

    person = ScriptedPerson([accept(size=1)], modes=frozenset({"form"}))
    async with Driver(Stranger(spoilt).transport(), person) as driver:
        with pytest.raises(NotUnderstood):
            await driver.call_tool("order")
        assert driver.answered == []
    assert person.turns == []


async def test_a_server_that_is_not_ready_is_asked_later_and_later_and_soon_again_after_a_question():
    clock = Clock()

    async def not_yet(ctx: Context, heard: Heard) -> dict[str, Any]:
        rounds = len(server.calls)
        if rounds in (10, 12):
            return asking(f"{rounds}", size=form()) if rounds == 10 else done()
        return asking(f"{rounds}")

    server = Stranger(not_yet)
    driving = Driver(server.transport(), ScriptedPerson([decline()]), clock=clock, sleep=clock.sleep)
    async with driving as driver:
        await driver.call_tool("order")
    assert clock.slept == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 0.05]
    assert "inputResponses" not in server.calls[1].params


async def test_null_for_requests_or_state_is_the_same_as_none():
    async def null(ctx: Context, heard: Heard) -> dict[str, Any]:
        match len(server.calls):
            case 1:
                return {**asking("s"), "inputRequests": None}
            case 2:
                return {**asking(size=form()), "requestState": None}
            case _:
                return done()

    clock, server = Clock(), Stranger(null)
    driving = Driver(server.transport(), ScriptedPerson([decline()]), clock=clock, sleep=clock.sleep)
    async with driving as driver:
        await driver.call_tool("order")
    _, second, third = (heard.params for heard in server.calls)
    assert second["requestState"] == "s" and "inputResponses" not in second
    assert third["inputResponses"] == {"size": {"action": "decline"}} and "requestState" not in third


async def test_a_server_that_is_never_ready_is_given_up_in_time():
    clock = Clock()

    async def never(ctx: Context, heard: Heard) -> dict[str, Any]:
        return asking("not yet")

    server = Stranger(never)
    async with Driver(server.transport(), ScriptedPerson(), clock=clock, sleep=clock.sleep) as driver:
        with pytest.raises(Unfinished, match="tool order was given up"):
            await driver.call_tool("order")
    assert 3600 <= clock.now < 3606


async def test_the_time_that_a_person_takes_is_not_the_servers():
    clock = Clock()

    class Slow(ScriptedPerson):
        async def answer(self, turn: Turn) -> Answer[Any]:
            clock.now += 100_000
            return await super().answer(turn)

    async def slowly(ctx: Context, heard: Heard) -> dict[str, Any]:
        clock.now += 50
        return done() if replies(heard) else asking("s", size=form())

    person = Slow([accept(size=1)])
    limits = QuestionLimits(seconds=150)
    driving = Driver(Stranger(slowly).transport(), person, limits=limits, clock=clock, sleep=clock.sleep)
    async with driving as driver:
        await driver.call_tool("order")


async def test_a_link_that_was_opened_and_is_asked_for_again_is_waited_for_and_not_consented_to_twice():
    async def until_paid(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done("paid") if len(server.calls) == 3 else asking("s", pay=visit())

    server, person = Stranger(until_paid), ScriptedPerson([accept()], words=["done"])
    async with Driver(server.transport(), person) as driver:
        await driver.call_tool("order")
    assert len(person.turns) == 1
    assert [replies(heard) for heard in server.calls[1:]] == [{"pay": {"action": "accept"}}] * 2


async def test_a_tool_that_wants_its_arguments_in_headers_is_listed_and_called_again():
    async def headers_first(ctx: Context, heard: Heard) -> dict[str, Any]:
        if len(server.calls) == 1:
            raise MCPError(HEADER_MISMATCH, "Mcp-Param-Region is missing")
        return done()

    server = Stranger(headers_first)
    async with Driver(server.transport()) as driver:
        await driver.call_tool("order", {"region": "north"})
    asked = [heard.method for heard in server.heard]
    assert asked[:4] == ["server/discover", "tools/call", "tools/list", "tools/call"]


async def test_what_no_person_is_asked_goes_to_the_callbacks():
    async def roots_too(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done() if replies(heard) else asking("s", roots={"method": "roots/list"}, size=form())

    async def list_roots(context: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult.model_validate({"roots": [{"uri": "file:///home"}]})

    server = Stranger(roots_too)
    async with Driver(server.transport(), ScriptedPerson([decline()]), roots=list_roots) as driver:
        await driver.call_tool("order")
    assert replies(server.calls[1]) == {
        "roots": {"roots": [{"uri": "file:///home"}]},
        "size": {"action": "decline"},
    }


UNDECLARED: dict[str, tuple[dict[str, Any], str]] = {
    "roots": ({"method": "roots/list"}, "it asked for roots, which this client did not declare"),
    "a model": (
        {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 9}},
        "it asked for a model, which this client did not declare",
    ),
}


@pytest.mark.parametrize("name", UNDECLARED)
async def test_what_no_person_is_asked_and_was_not_declared_is_the_servers_mistake(name: str):
    request, said = UNDECLARED[name]

    async def undeclared(ctx: Context, heard: Heard) -> dict[str, Any]:
        return asking("s", it=request)

    async with Driver(Stranger(undeclared).transport()) as driver:
        with pytest.raises(NotUnderstood, match=said):
            await driver.call_tool("order")
