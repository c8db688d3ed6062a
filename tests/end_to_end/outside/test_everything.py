"""What examples/everything makes of the suite's own replies: the suite does not read it, and takes errors too."""

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY

from askback.testing import REVISIONS, accept, decline, get_prompt, raw, read_resource, run_tool
from askback.testing.script import Reply
from examples.everything.server import mcp

pytestmark = pytest.mark.anyio

PROFILE = {"name": "Jane Smith", "age": 25, "score": 88.0, "status": "inactive", "verified": False}
CHOSEN = {
    "untitledSingle": "option1",
    "titledSingle": "value1",
    "untitledMulti": ["option1", "option2"],
    "titledMulti": ["value1", "value2"],
    "legacyEnum": "opt1",
}

TOOLS: dict[str, tuple[dict[str, Any], list[Reply], str]] = {
    "test_elicitation": (
        {"message": "Who are you?"},
        [accept(username="testuser", email="test@example.com")],
        'User response: action=accept, content={"username":"testuser","email":"test@example.com"}',
    ),
    "test_elicitation_sep1034_defaults": (
        {},
        [accept(PROFILE)],
        'Elicitation completed: action=accept, content={"name":"Jane Smith","age":25,"score":88.0,'
        '"status":"inactive","verified":false}',
    ),
    "test_elicitation_sep1330_enums": (
        {},
        [accept(CHOSEN)],
        'Elicitation completed: action=accept, content={"untitledSingle":"option1","titledSingle":"value1",'
        '"untitledMulti":["option1","option2"],"titledMulti":["value1","value2"],"legacyEnum":"opt1"}',
    ),
    "test_input_required_result_elicitation": ({}, [accept(name="Alice")], "Hello, Alice!"),
    "test_input_required_result_request_state": (
        {},
        [accept(ok=True)],
        'state-ok: action=accept, content={"ok":true}',
    ),
    "test_input_required_result_tampered_state": ({}, [accept(yes=True)], "Confirmed."),
    "test_input_required_result_multi_round": (
        {},
        [accept(name="Alice"), accept(color="blue")],
        "Alice likes blue.",
    ),
    "test_streaming_elicitation": ({}, [decline()], "Elicitation completed: action=decline"),
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_tool_says_what_it_was_told(revision: str, tool: str):
    arguments, replies, text = TOOLS[tool]
    run = await run_tool(mcp, tool, arguments, replies, revision=revision)
    assert run.text == text
    assert not run.is_error


@pytest.mark.parametrize("revision", REVISIONS)
async def test_prompts_and_resources_ask_as_tools_do(revision: str):
    prompt = await get_prompt(
        mcp, "test_input_required_result_prompt", {}, [accept(context="Mars")], revision=revision
    )
    assert prompt.text == "Use this context: Mars"
    resource = await read_resource(mcp, "everything://greeting", [accept(name="Ada")], revision=revision)
    assert resource.text == "Written for Ada."
    nobody = await read_resource(mcp, "everything://greeting", [decline()], revision=revision)
    assert nobody.text == "Written for nobody in particular."


HELLO = raw({"role": "assistant", "content": {"type": "text", "text": "Hello!"}, "model": "m"})
ROOTS = raw({"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]})
NAME = accept(name="Alice")

BESIDE: dict[str, tuple[list[Reply], str]] = {
    "test_input_required_result_sampling": ([HELLO], "The model said: Hello!"),
    "test_input_required_result_list_roots": ([ROOTS], "Roots: file:///a, file:///b"),
    "test_input_required_result_multiple_inputs": ([NAME, HELLO, ROOTS], "All three came."),
}
EVERYTHING: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}


@pytest.mark.parametrize("tool", BESIDE)
async def test_what_is_asked_by_hand_passes_askback_untouched(tool: str):
    replies, text = BESIDE[tool]
    run = await run_tool(mcp, tool, {}, replies, capabilities=EVERYTHING)
    assert run.text == text


async def test_where_nobody_can_be_asked_the_model_is():
    tool = "test_input_required_result_capabilities"
    assert (await run_tool(mcp, tool, {}, [decline()], capabilities=EVERYTHING)).text.endswith(
        "action=decline"
    )
    assert (await run_tool(mcp, tool, {}, [HELLO], capabilities={"sampling": {}})).text.endswith("Hello!")


async def test_an_error_of_the_authors_own_passes_too():
    with pytest.raises(MCPError) as caught:
        await run_tool(mcp, "test_missing_capability", {})
    assert caught.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY
    assert caught.value.data == {"requiredCapabilities": {"sampling": {}}}
