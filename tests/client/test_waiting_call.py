"""Step by step: a call is left at its questions and taken up later, in another process."""

import json
from typing import Any

import pytest
from mcp.client.session import ClientRequestContext
from mcp.server import MCPServer
from mcp_types import ListRootsResult

from askback import Askback, ask, ask_all, confirm
from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client import Driver, FinishedCall, FormAsked, Mode, VisitAsked, WaitingCall
from askback.client.call import require_same
from askback.errors import AnswerRefused, AuthorError, ConnectionMustLive, NotUnderstood, Unanswered
from tests.client.stranger_servers import JULY, Context, Heard, Stranger, asking, done, form, visit
from tests.support.servers.http import served

BOTH: frozenset[Mode] = frozenset({"form", "url"})
KEYS = ["0123456789abcdef0123456789abcdef"]


def inn() -> MCPServer:
    """A server as another process would make it: the same keys, nothing else in common."""
    mcp = MCPServer("inn")
    Askback(mcp, keys=KEYS)

    @mcp.tool()
    async def book(guest: str) -> str:
        nights = (await ask("How many nights?", int)).or_stop("Not booked.")
        sure = await confirm(f"{nights} nights for {guest}?")
        return f"{guest} stays {nights} nights" if sure else "Not booked."

    @mcp.prompt()
    async def greet() -> str:
        return f"Greet {(await ask('Whom?', str)).or_stop('nobody')}"

    @mcp.tool()
    async def menu() -> str:
        got = await ask_all({"soup": ("Soup?", bool), "main": ("Main?", str)})
        return ", ".join(type(answer).__name__ for answer in got.values())

    return mcp


def text(ended: FinishedCall[Any]) -> str:
    return ended.result.content[0].text


async def resumed(written: str, answers: dict[str, Answer[Any]]) -> FinishedCall[Any] | WaitingCall:
    async with Driver(inn(), modes=BOTH) as driver:
        return await driver.resume(WaitingCall.from_json(written), answers)


def only(waiting: object) -> tuple[str, WaitingCall]:
    assert isinstance(waiting, WaitingCall)
    (key,) = waiting.questions
    return key, waiting


async def test_a_call_is_left_and_taken_up_by_other_drivers_until_it_ends():
    async with Driver(inn(), modes=BOTH) as driver:
        key, waiting = only(await driver.begin("book", {"guest": "Ada"}))
    asked = waiting.questions[key]
    assert isinstance(asked, FormAsked)
    assert (asked.message, asked.purpose) == ("How many nights?", "tool book")
    key, waiting = only(await resumed(waiting.to_json(), {key: Accepted({"value": 2})}))
    assert waiting.questions[key].message == "2 nights for Ada?"
    ended = await resumed(waiting.to_json(), {key: Accepted({"yes": True})})
    assert isinstance(ended, FinishedCall)
    assert text(ended) == "Ada stays 2 nights"


async def test_a_call_that_asks_nothing_ends_at_once():
    async def answer(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done()

    async with Driver(Stranger(answer).transport()) as driver:
        ended = await driver.begin("order")
    assert isinstance(ended, FinishedCall)


async def test_prompts_are_left_and_taken_up_too():
    async with Driver(inn(), modes=BOTH) as driver:
        key, waiting = only(await driver.begin("greet", kind="prompt"))
        ended = await driver.resume(waiting, {key: Accepted({"value": "Bo"})})
    assert isinstance(ended, FinishedCall)
    assert ended.result.messages[0].content.text == "Greet Bo"


async def test_several_questions_are_answered_together_each_in_its_own_way():
    async with Driver(inn(), modes=BOTH) as driver:
        waiting = await driver.begin("menu")
        assert isinstance(waiting, WaitingCall)
        assert list(waiting.questions) == ["soup", "main"]
        ended = await driver.resume(waiting, {"main": Cancelled(), "soup": Declined()})
    assert isinstance(ended, FinishedCall)
    assert text(ended) == "Declined, Cancelled"


BAD: dict[str, tuple[dict[str, Answer[Any]], type[Exception], str]] = {
    "missing": ({}, AuthorError, "There is no answer for 'size'"),
    "surplus": ({"size": Declined(), "colour": Declined()}, AuthorError, "Nobody asked for 'colour'"),
    "unfit": ({"size": Accepted({"size": "big"})}, AnswerRefused, "size: "),
    "unknown field": ({"size": Accepted({"weight": 3})}, AnswerRefused, "no such field"),
    "no mapping": ({"size": Accepted(3)}, AnswerRefused, "mapping"),
}


async def asks_size(ctx: Context, heard: Heard) -> dict[str, Any]:
    return done() if "inputResponses" in heard.params else asking("s", size=form())


@pytest.mark.verifies("R56")
@pytest.mark.parametrize("name", BAD)
async def test_answers_that_do_not_fit_are_refused_and_nothing_is_sent(name: str):
    answers, kind, said = BAD[name]
    server = Stranger(asks_size)
    async with Driver(server.transport(), modes=BOTH) as driver:
        waiting = await driver.begin("order")
        assert isinstance(waiting, WaitingCall)
        with pytest.raises(kind, match=said):
            await driver.resume(waiting, answers)
    assert len(server.calls) == 1


@pytest.mark.verifies("T13")
async def test_a_pasted_key_is_stopped_until_the_person_insists():
    schema = {"type": "object", "properties": {"note": {"type": "string"}}}

    async def note(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done() if "inputResponses" in heard.params else asking("s", note=form("Notes?", schema))

    answers: dict[str, Answer[Any]] = {"note": Accepted({"note": "ghp_" + "a1B2" * 9})}
    async with Driver(Stranger(note).transport(), modes=BOTH) as driver:
        waiting = await driver.begin("order")
        assert isinstance(waiting, WaitingCall)
        with pytest.raises(AnswerRefused, match="excused="):
            await driver.resume(waiting, answers)
        assert isinstance(await driver.resume(waiting, answers, excused=["note"]), FinishedCall)


@pytest.mark.verifies("R71", "R73")
async def test_what_is_written_down_is_versioned_and_holds_the_exact_state():
    async def odd(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done() if "inputResponses" in heard.params else asking("ä \u2028 \\ \x00", pay=visit())

    server = Stranger(odd)
    async with Driver(server.transport(), modes=BOTH) as driver:
        waiting = await driver.begin("order", {"pizza": "Margherita"})
        assert isinstance(waiting, WaitingCall)
        again = WaitingCall.from_json(waiting.to_json())
        assert again == waiting
        assert isinstance(again.questions["pay"], VisitAsked)
        await driver.resume(again, {"pay": Accepted(None)})
    assert server.calls[1].params["requestState"] == "ä \u2028 \\ \x00"
    assert server.calls[1].params["inputResponses"] == {"pay": {"action": "accept"}}
    assert server.calls[1].params["arguments"] == {"pizza": "Margherita"}
    later = json.dumps({**json.loads(waiting.to_json()), "askback": 2})
    with pytest.raises(AuthorError, match="another version of Askback"):
        WaitingCall.from_json(later)


GOOD: dict[str, Any] = {
    "askback": 1,
    "asker": {"label": "inn", "name": None, "host": None},
    "kind": "tool",
    "name": "book",
    "arguments": {},
    "asking": {"requests": {"size": form()}, "state": "s", "metas": {}},
    "replies": {},
}

UNREADABLE: dict[str, str] = {
    "no JSON": "{",
    "empty": "",
    "deep": "[" * 200_000,
    "no object": "[]",
    "no version": json.dumps({**GOOD, "askback": None}),
    "no asker": json.dumps({name: value for name, value in GOOD.items() if name != "asker"}),
    "asker that is text": json.dumps({**GOOD, "asker": "inn"}),
    "asker without a label": json.dumps({**GOOD, "asker": {"name": "inn"}}),
    "unknown kind": json.dumps({**GOOD, "kind": "evil"}),
    "name that is a number": json.dumps({**GOOD, "name": 5}),
    "arguments that are a list": json.dumps({**GOOD, "arguments": []}),
    "round that is text": json.dumps({**GOOD, "asking": "s"}),
    "state that is a number": json.dumps({**GOOD, "asking": {**GOOD["asking"], "state": 5}}),
    "request that is none": json.dumps({**GOOD, "asking": {"requests": {"size": 5}, "state": "s"}}),
    "request without a reply": json.dumps(
        {**GOOD, "asking": {"requests": {"roots": {"method": "roots/list"}}, "state": "s"}}
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_waiting_call_is_the_authors_mistake(name: str):
    assert list(WaitingCall.from_json(json.dumps(GOOD)).questions) == ["size"]
    with pytest.raises(AuthorError, match="This is not a waiting call"):
        WaitingCall.from_json(UNREADABLE[name])


async def test_answers_for_one_server_are_not_given_to_another():
    async with Driver(Stranger(asks_size).transport(), modes=BOTH, label="here") as driver:
        waiting = await driver.begin("order")
        assert isinstance(waiting, WaitingCall)
    other = Stranger(asks_size)
    async with Driver(other.transport(), modes=BOTH, label="there") as driver:
        with pytest.raises(AuthorError, match="waits at here, and this driver talks to there"):
            await driver.resume(waiting, {"size": Declined()})
    assert other.calls == []


def written(label: str, identity: str | None) -> WaitingCall:
    asker = {"label": label, "name": None, "host": None, "identity": identity}
    return WaitingCall.from_json(json.dumps({**GOOD, "asker": asker}))


async def test_answers_are_not_given_to_another_server_of_the_same_label_either():
    async with served(inn()) as url, Driver(url, modes=BOTH, revision=JULY) as driver:
        label, identity = driver.asker.label, driver.asker.identity
        with pytest.raises(AuthorError, match=f"another server that is called {label} too"):
            await driver.resume(written(label, "another path"), {"size": Declined()})
        require_same(written(label, identity).asker, driver.asker)
        require_same(written(label, None).asker, driver.asker)
        assert driver.answered == []


async def test_a_transport_without_a_label_is_taken_for_no_other():
    async with Driver(Stranger(asks_size).transport(), modes=BOTH) as driver:
        waiting = await driver.begin("order")
        assert isinstance(waiting, WaitingCall)
        assert isinstance(await driver.resume(waiting, {"size": Declined()}), FinishedCall)
    other = Stranger(asks_size)
    async with Driver(other.transport(), modes=BOTH) as driver:
        with pytest.raises(AuthorError, match="give both the same label="):
            await driver.resume(waiting, {"size": Declined()})
    assert other.calls == []


async def test_a_transport_is_known_by_its_label():
    async with Driver(Stranger(asks_size).transport(), modes=BOTH, label="inn") as driver:
        waiting = await driver.begin("order")
        assert isinstance(waiting, WaitingCall)
    async with Driver(Stranger(asks_size).transport(), modes=BOTH, label="inn") as driver:
        assert isinstance(await driver.resume(waiting, {"size": Declined()}), FinishedCall)


async def test_what_no_person_is_asked_is_seen_to_before_the_call_is_left():
    async def both(ctx: Context, heard: Heard) -> dict[str, Any]:
        roots = {"method": "roots/list"}
        return done() if "inputResponses" in heard.params else asking("s", roots=roots, size=form())

    async def list_roots(context: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult(roots=[])

    server = Stranger(both)
    async with Driver(server.transport(), modes=BOTH, roots=list_roots) as driver:
        key, waiting = only(await driver.begin("order"))
        await driver.resume(WaitingCall.from_json(waiting.to_json()), {key: Declined()})
    assert server.calls[1].params["inputResponses"] == {
        "roots": {"roots": []},
        "size": {"action": "decline"},
    }


@pytest.mark.verifies("R51")
async def test_a_mode_that_was_not_declared_is_not_handed_to_the_host():
    async def link(ctx: Context, heard: Heard) -> dict[str, Any]:
        return asking("s", size=form(), pay=visit())

    async with Driver(Stranger(link).transport(), modes=["form"]) as driver:
        with pytest.raises(NotUnderstood, match="asked for a link, which this client did not declare"):
            await driver.begin("order")


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_on_the_push_era_the_connection_must_live(revision: str):
    async with Driver(Stranger(asks_size, revision=revision).transport(), modes=BOTH) as driver:
        with pytest.raises(
            ConnectionMustLive, match="the connection must live until the person has answered"
        ):
            await driver.begin("order")


async def test_answers_that_cannot_be_taken_up_are_not_noted_as_given():
    server = Stranger(asks_size, revision="2025-11-25")
    async with Driver(server.transport(), modes=BOTH, label="inn") as driver:
        with pytest.raises(ConnectionMustLive):
            await driver.resume(written("inn", None), {"size": Declined()})
        assert driver.answered == []


async def test_without_a_person_a_call_that_asks_says_what_would_help():
    async with Driver(Stranger(asks_size, revision=JULY).transport(), modes=BOTH) as driver:
        with pytest.raises(Unanswered, match=r"begin\(\.\.\.\)"):
            await driver.call_tool("order")
