"""The server in the SDK's sources, by others, over HTTP: tools, a prompt and several rounds, through the driver."""

from collections.abc import Generator
from typing import Any

import pytest
from mcp.client.context import ClientRequestContext
from mcp_types import (
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    ListRootsResult,
    Root,
    TextContent,
)
from pydantic import FileUrl

from askback.answers import Accepted
from askback.client import Driver, FinishedCall, WaitingCall
from askback.testing import REVISIONS, ScriptedPerson, accept, cancel, decline
from askback.testing.script import Reply
from tests.support.programs import listening
from tests.support.strangers import sdk_server_words

pytestmark = [pytest.mark.anyio, pytest.mark.strangers]

ROUNDS = REVISIONS[-1]

CHOSEN = {
    "untitledSingle": "pending",
    "titledSingle": "high",
    "untitledMulti": ["read", "write"],
    "titledMulti": ["bug"],
    "legacyEnum": "small",
}

PUSHED: dict[str, tuple[dict[str, Any], Reply, str]] = {
    "test_elicitation": (
        {"message": "Your word?"},
        accept(response="yes"),
        'User response: action=accept, content={"response":"yes"}',
    ),
    "test_elicitation_sep1034_defaults": (
        {},
        accept(age=31),
        'Elicitation result: action=accept, content={"name":"John Doe","age":31,"score":95.5,"status":"active",'
        '"verified":true}',
    ),
    "test_elicitation_sep1330_enums": (
        {},
        accept(CHOSEN),
        'Elicitation completed: action=accept, content={"untitledSingle":"pending","titledSingle":"high",'
        '"untitledMulti":["read","write"],"titledMulti":["bug"],"legacyEnum":"small"}',
    ),
}

IN_ROUNDS: dict[str, tuple[list[Reply], str]] = {
    "test_input_required_result_elicitation": ([accept(name="Ada")], "Hello, Ada!"),
    "test_input_required_result_request_state": ([accept(ok=True)], "state-ok: confirmation received"),
    "test_input_required_result_tampered_state": ([accept(ok=True)], "state-ok: round-1"),
    "test_input_required_result_multi_round": ([accept(name="Ada"), accept(color="blue")], "Ada likes blue."),
    "test_streaming_elicitation": ([decline()], "elicitation decline"),
}


@pytest.fixture(scope="module")
def address() -> Generator[str, None, None]:
    with listening(*sdk_server_words()) as url:
        yield url


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def call(driver: Driver, tool: str, arguments: dict[str, Any] | None = None) -> str:
    return text_of(await driver.call_tool(tool, arguments))


@pytest.mark.verifies("R45", "R52", "R58")
@pytest.mark.parametrize("revision", REVISIONS[:-1])
@pytest.mark.parametrize("tool", PUSHED)
async def test_a_tool_that_pushes_its_question_gets_its_answer(address: str, revision: str, tool: str):
    arguments, reply, text = PUSHED[tool]
    person = ScriptedPerson([reply])
    async with Driver(address, person, revision=revision) as driver:
        assert await call(driver, tool, arguments) == text
    person.finish()


@pytest.mark.verifies("R52")
@pytest.mark.parametrize(
    ("reply", "action"), [(decline(), "decline"), (cancel(), "cancel")], ids=["decline", "cancel"]
)
async def test_a_no_carries_no_content(address: str, reply: Reply, action: str):
    async with Driver(address, ScriptedPerson([reply]), revision="2025-11-25") as driver:
        said = await call(driver, "test_elicitation", {"message": "Your word?"})
    assert said == f"User response: action={action}, content={{}}"


@pytest.mark.verifies("R70", "R71", "R72", "R75")
@pytest.mark.parametrize("tool", IN_ROUNDS)
async def test_a_tool_in_rounds_comes_to_its_end(address: str, tool: str):
    replies, text = IN_ROUNDS[tool]
    person = ScriptedPerson(replies)
    async with Driver(address, person, revision=ROUNDS) as driver:
        assert await call(driver, tool) == text
    person.finish()


@pytest.mark.verifies("R70")
async def test_a_prompt_asks_too(address: str):
    async with Driver(address, ScriptedPerson([accept(context="a rainy day")]), revision=ROUNDS) as driver:
        prompt = await driver.get_prompt("test_input_required_result_prompt")
    (message,) = prompt.messages
    assert isinstance(message.content, TextContent)
    assert message.content.text == "Use the following context: a rainy day"


async def a_model(context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
    return CreateMessageResult(
        role="assistant", content=TextContent(type="text", text="Good day."), model="scripted"
    )


async def two_roots(context: ClientRequestContext) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri=FileUrl("file:///inn")), Root(uri=FileUrl("file:///barn"))])


@pytest.mark.verifies("R70")
async def test_a_round_with_a_question_a_model_and_roots_is_answered_whole(address: str):
    person = ScriptedPerson([accept(name="Ada")])
    async with Driver(address, person, revision=ROUNDS, sampling=a_model, roots=two_roots) as driver:
        assert await call(driver, "test_input_required_result_multiple_inputs") == "All inputs received."
        assert await call(driver, "test_input_required_result_sampling") == "Model said: Good day."
        assert await call(driver, "test_input_required_result_list_roots") == "Client exposed 2 root(s)."
    person.finish()


def on_another_day(left: FinishedCall[Any] | WaitingCall) -> WaitingCall:
    assert isinstance(left, WaitingCall)
    return WaitingCall.from_json(left.to_json())


@pytest.mark.verifies("R71")
async def test_a_call_is_left_at_its_questions_and_taken_up_over_other_connections(address: str):
    async with Driver(address, modes=["form"], revision=ROUNDS) as driver:
        waiting = on_another_day(await driver.begin("test_input_required_result_multi_round"))
    async with Driver(address, modes=["form"], revision=ROUNDS) as driver:
        waiting = on_another_day(await driver.resume(waiting, {"step1": Accepted({"name": "Ada"})}))
    async with Driver(address, modes=["form"], revision=ROUNDS) as driver:
        ended = await driver.resume(waiting, {"step2": Accepted({"color": "blue"})})
    assert isinstance(ended, FinishedCall)
    assert text_of(ended.result) == "Ada likes blue."


@pytest.mark.verifies("R45")
async def test_who_can_show_nothing_is_asked_nothing(address: str):
    async with Driver(address, revision="2025-11-25") as driver:
        said = await call(driver, "test_elicitation", {"message": "Your word?"})
    assert said.startswith("Elicitation not supported or error")
