"""What a reply says about how it came about: the way, the rule, the time, and nothing about the person."""

from typing import Any

import pytest
from mcp.server import MCPServer

from askback import Askback, ask
from askback.answers import Accepted, Answer, Declined
from askback.client import Driver, Person, PersonQueue, Turn
from askback.client.desk import DeskPerson
from askback.client.policy import PolicyPerson
from askback.client.policy.rules import Decline, LeaveToPerson, Policy, PolicyRule
from askback.client.terminal import TerminalPerson
from askback.testing import REVISIONS, accept
from askback.testing.person import ScriptedPerson
from tests.client.stranger_servers import SIZE, Context, Heard, Stranger, Typing, asking, done, form

QUESTION = {"message": "Which size?", "requestedSchema": SIZE}
NOON = 1_785_240_000.0


async def said(person: Person, *, revision: str = "2025-11-25", is_named: bool = True) -> Any:
    """What the reply to one question carries beside action and content."""
    replies: list[dict[str, Any]] = []

    async def push(ctx: Context, heard: Heard) -> dict[str, Any]:
        meta = {"_meta": {"askback/question": "q1"}} if is_named else {}
        replies.append(await ctx.send_raw_request("elicitation/create", QUESTION | meta))
        return done()

    async def rounds(ctx: Context, heard: Heard) -> dict[str, Any]:
        if "inputResponses" in heard.params:
            replies.append(heard.params["inputResponses"]["size"])
            return done()
        meta = {"_meta": {"askback/questions": {"size": {"id": "q1"}}}} if is_named else {}
        return asking("s", size=form()) | meta

    server = Stranger(rounds if revision == REVISIONS[-1] else push, revision=revision)
    async with Driver(server.transport(), PersonQueue(person, time=lambda: NOON)) as driver:
        await driver.call_tool("order")
    return {name: value for name, value in replies[0].items() if name not in ("action", "content")}


def told(**facts: Any) -> dict[str, Any]:
    return {"_meta": {"askback/answered": facts}}


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_way_and_the_time_are_told(revision: str):
    person = ScriptedPerson([accept(size=3)])
    assert await said(person, revision=revision) == told(channel="script", shown=NOON)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_servers_that_do_not_name_their_questions_are_told_nothing(revision: str):
    assert await said(ScriptedPerson([accept(size=3)]), revision=revision, is_named=False) == {}


async def test_a_person_without_a_channel_leaves_it_open():
    person = Typing()
    person.sends.set()
    assert await said(person) == told(shown=NOON)


def ruled(outcome: Any) -> Policy:
    rule = PolicyRule(number=2, name="no sizes", outcome=outcome)
    return Policy(file="/home/somebody/policy.toml", rules=(rule,))


async def test_a_policy_names_its_rule_and_no_file_and_nobody_was_shown_it():
    person = PolicyPerson(ruled(Decline()))
    # It can settle forms by declining them.
    assert await said(person) == told(channel="policy", rule="rule 2 (no sizes)")


async def test_what_a_policy_leaves_to_a_person_comes_from_them():
    person = PolicyPerson(ruled(LeaveToPerson()), otherwise=ScriptedPerson([accept(size=3)]))
    assert await said(person) == told(channel="script", shown=NOON)


async def test_what_nobody_was_shown_says_nothing():
    class Weary(Typing):
        """Declines this one and all that come."""

        async def answer(self, turn: Turn) -> Answer[Any]:
            turn.declines_all = True
            return Declined()

    replies: list[Any] = []

    async def push(ctx: Context, heard: Heard) -> dict[str, Any]:
        for id in ("q1", "q2"):
            meta = {"_meta": {"askback/question": id}}
            replies.append(await ctx.send_raw_request("elicitation/create", QUESTION | meta))
        return done()

    async with Driver(Stranger(push, revision="2025-11-25").transport(), Weary()) as driver:
        await driver.call_tool("order")
    assert replies[1] == {"action": "decline"}


def test_our_own_people_state_their_ways():
    assert [TerminalPerson.channel, DeskPerson.channel] == ["terminal", "desk"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_server_with_askback_takes_such_a_reply(revision: str):
    mcp = MCPServer("inn")
    Askback(mcp)

    @mcp.tool()
    async def book() -> str:
        match await ask("How many nights?", int):
            case Accepted(nights):
                return f"{nights} nights"
            case _:
                return "No"

    async with Driver(mcp, ScriptedPerson([accept(3)]), revision=revision) as driver:
        result = await driver.call_tool("book")
    assert getattr(result.content[0], "text", "") == "3 nights"
