"""What becomes of a reply: every shape a client may send has one outcome."""

from dataclasses import replace
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

from askback import Accepted, Cancelled, CannotAsk, Declined, InvalidAnswer, Words, ask
from askback.testing import REVISIONS, accept, fail, raw, run_tool
from tests.support.corpus import corpus
from tests.support.raw import accepting, answering, raw_client
from tests.support.tool_servers import mcpserver

pytestmark = pytest.mark.anyio

PUSH = [revision for revision in REVISIONS if revision.startswith("2025")]


class Booking(BaseModel):
    guests: int = Field(ge=1, le=8, title="Guests")
    name: str = Field("Ada", title="Name")


async def body() -> str:
    """Books a table."""
    return str(await ask("A table?", Booking))


FIT = accept(guests=2)

MISFITS: dict[str, Any] = {
    "wrong type": {"action": "accept", "content": {"guests": "two"}},
    "a boolean for a number": {"action": "accept", "content": {"guests": True}},
    "out of range": {"action": "accept", "content": {"guests": 9}},
    "missing": {"action": "accept", "content": {}},
    "no content": {"action": "accept"},
    "null content": {"action": "accept", "content": None},
    "huge": {"action": "accept", "content": {"guests": 2, "name": "x" * 1_000_000}},
}


@pytest.mark.verifies("R14", "R16")
@corpus("misfit", MISFITS)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_reply_that_does_not_fit_is_asked_again_with_the_problem_named(revision: str, misfit: str):
    run = await run_tool(mcpserver(body), "t", None, [raw(MISFITS[misfit]), FIT], revision=revision)
    assert run.text == "Accepted(value=Booking(guests=2, name='Ada'))"
    first, second = run.asked
    assert first.message == "A table?"
    assert second.message.startswith("A table?\n") and len(second.message) > len(first.message) + 20
    assert "x" * 50 not in second.message


@pytest.mark.parametrize("revision", REVISIONS)
async def test_after_three_more_tries_it_is_an_invalid_answer(revision: str):
    bad = raw({"action": "accept", "content": {"guests": 99}})
    run = await run_tool(mcpserver(body), "t", None, [bad] * 4, revision=revision)
    assert run.is_error
    assert len(run.asked) == 4
    assert "Guests should be 8 or less" in run.text


@pytest.mark.parametrize("revision", REVISIONS)
async def test_how_often_is_the_operators_choice_and_the_author_can_catch_it(revision: str):
    async def careful() -> str:
        try:
            await ask("A table?", Booking)
        except InvalidAnswer as error:
            return f"{error.attempts} {await ask('Another day?', bool)}"
        return "never"

    bad = raw({"action": "accept", "content": {"guests": 0}})
    run = await run_tool(
        mcpserver(careful, reply_retries=0), "t", None, [bad, accept(True)], revision=revision
    )
    assert run.text == "1 Accepted(value=True)"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_words_of_the_problem_can_be_translated(revision: str):
    words = replace(
        Words(), too_high="{title} darf höchstens {most} sein.", again="{message}\nLeider:\n{problems}"
    )
    bad = raw({"action": "accept", "content": {"guests": 9}})
    run = await run_tool(mcpserver(body, words=words), "t", None, [bad, FIT], revision=revision)
    assert run.asked[1].message == "A table?\nLeider:\nGuests darf höchstens 8 sein."


@pytest.mark.verifies("R15")
@corpus("extra", [{}, {"content": {"guests": 2}}, {"content": "nonsense"}])
@corpus(("action", "answer"), [("decline", Declined()), ("cancel", Cancelled())])
@pytest.mark.parametrize("revision", REVISIONS)
async def test_decline_and_cancel_are_never_confused_and_never_validated(
    revision: str, action: str, answer: object, extra: dict[str, Any]
):
    reply = raw({"action": action, **extra})
    run = await run_tool(mcpserver(body), "t", None, [reply], revision=revision)
    assert run.text == str(answer)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_fields_nobody_asked_for_never_reach_the_body(revision: str):
    reply = raw({"action": "accept", "content": {"guests": 2, "admin": True, "__class__": "x"}})
    run = await run_tool(mcpserver(body), "t", None, [reply], revision=revision)
    assert run.text == "Accepted(value=Booking(guests=2, name='Ada'))"


@corpus("reply", [{"action": "maybe"}, {}, {"action": 5}, {"action": None}])
@pytest.mark.parametrize("revision", PUSH)
async def test_on_the_push_era_an_unknown_action_is_asked_again(revision: str, reply: Any):
    run = await run_tool(mcpserver(body), "t", None, [raw(reply), FIT], revision=revision)
    assert run.text.startswith("Accepted")
    assert len(run.asked) == 2


@pytest.mark.verifies("R41")
@corpus("reply", [{"action": "maybe"}, {}, {"action": 5}, [], "yes", 7])
async def test_on_the_rounds_era_a_malformed_response_is_an_error_and_burns_nothing(reply: Any):
    async with raw_client(mcpserver(body)) as client:
        first = await client.call()
        with pytest.raises(MCPError) as caught:
            await client.call(**answering(first, ask_1=reply))
        assert caught.value.code == -32602
        again = await client.call(**answering(first, ask_1=accepting(guests=2)))
        assert again["content"][0]["text"].startswith("Accepted")


@pytest.mark.verifies("R41")
@corpus("responses", [[], "yes", 7, [{"action": "accept"}]])
async def test_responses_that_are_no_object_are_an_error(responses: Any):
    async with raw_client(mcpserver(body)) as client:
        first = await client.call()
        with pytest.raises(MCPError) as caught:
            await client.call(inputResponses=responses, requestState=first["requestState"])
        assert caught.value.code == -32602


@pytest.mark.verifies("R42")
async def test_an_answer_nobody_asked_for_is_not_taken():
    async with raw_client(mcpserver(body)) as client:
        unasked = await client.call(inputResponses={"ask-1": accepting(guests=2)})
        assert unasked["resultType"] == "input_required"
        extra = {"ask_1": accepting(guests=3), "other": accepting(guests=4), "ask_2": {"action": "nonsense"}}
        done = await client.call(**answering(unasked, **extra))
        assert done["content"][0]["text"] == "Accepted(value=Booking(guests=3, name='Ada'))"


@pytest.mark.verifies("R43")
@corpus("without", [{"inputResponses": {}}, {}, {"inputResponses": None}])
async def test_what_is_missing_is_asked_again_in_the_same_words(without: dict[str, Any]):
    async with raw_client(mcpserver(body)) as client:
        first = await client.call()
        second = await client.call(requestState=first["requestState"], **without)
        assert second["inputRequests"] == first["inputRequests"]
        done = await client.call(**answering(second, ask_1=accepting(guests=1)))
        assert done["resultType"] == "complete"


@pytest.mark.verifies("R15")
@pytest.mark.parametrize("revision", PUSH)
async def test_a_client_that_fails_ends_in_cannot_ask_with_its_own_words(revision: str):
    async def careful() -> str:
        try:
            return str(await ask("A table?", Booking))
        except CannotAsk as error:
            return error.reason

    run = await run_tool(mcpserver(careful), "t", None, [fail(-32603, "window crashed")], revision=revision)
    assert "-32603" in run.text and "window crashed" in run.text


@pytest.mark.parametrize("revision", REVISIONS)
async def test_initial_values_fill_in_for_one_call(revision: str):
    async def prefilled() -> str:
        answer = await ask("A table?", Booking, initial={"guests": 4, "name": "Grace"})
        assert isinstance(answer, Accepted)
        return f"{answer.value.guests} {answer.value.name}"

    run = await run_tool(mcpserver(prefilled), "t", None, [accept(name="Alan")], revision=revision)
    assert run.text == "4 Alan"
