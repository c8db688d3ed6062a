"""Where the script of a test and the questions differ, the test fails with a sentence that shows both."""

import pytest
from mcp.server import MCPServer

from askback.errors import AuthorError
from askback.testing import Asked, ScriptMismatch, accept, decline, run_tool, silence
from askback.testing.script import Reply
from tests.support.tool_servers import mcpserver
from tests.testing.tools import ADA, LONDON, meet, on_every_revision

pytestmark = pytest.mark.anyio


@on_every_revision
async def test_too_few_replies_show_the_question_and_those_before_it(revision: str):
    with pytest.raises(ScriptMismatch) as caught:
        await run_tool(mcpserver(meet), "t", None, [ADA], revision=revision)
    said = str(caught.value)
    assert "The server asked 'From which town?' (value), and the script has no reply left" in said
    assert "Asked so far: 'Who are you?' (name, age); 'From which town?' (value)." in said


@on_every_revision
async def test_unused_replies_are_counted_and_the_first_is_shown(revision: str):
    with pytest.raises(ScriptMismatch, match="2 of the script's replies unused") as caught:
        await run_tool(mcpserver(meet), "t", None, [decline(), ADA, LONDON], revision=revision)
    said = str(caught.value)
    assert "the next was Accept(values={'name': 'Ada'}" in said
    assert "It asked: 'Who are you?' (name, age). Its result says: 'nobody'." in said


@on_every_revision
async def test_a_reply_meant_for_another_question_says_for_which(revision: str):
    script = [accept(name="Ada", to="Who"), accept("London", to="country")]
    with pytest.raises(ScriptMismatch, match="meant for 'country', but the server asked 'From which town"):
        await run_tool(mcpserver(meet), "t", None, script, revision=revision)


@on_every_revision
async def test_a_field_that_the_form_does_not_have_is_named_beside_those_it_has(revision: str):
    with pytest.raises(ScriptMismatch, match=r"accept\(nmae=\.\.\.\).*\(name, age\)"):
        await run_tool(mcpserver(meet), "t", None, [accept(nmae="Ada")], revision=revision)


@on_every_revision
async def test_a_bare_value_for_a_form_with_names_is_a_mismatch_too(revision: str):
    with pytest.raises(ScriptMismatch, match=r"accept\(value=\.\.\.\).*\(name, age\)"):
        await run_tool(mcpserver(meet), "t", None, [accept("Ada")], revision=revision)


@on_every_revision
async def test_silence_without_a_timeout_does_not_hang_the_test(
    revision: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("askback.testing.run.CALL_TIMEOUT", 0.2)
    with pytest.raises(ScriptMismatch, match=r"within 0\.2 seconds.*silence\(\) needs a question with a"):
        await run_tool(mcpserver(meet), "t", None, lambda _: silence(), revision=revision)


@on_every_revision
async def test_what_a_function_raises_fails_the_test_and_is_no_answer(revision: str):
    def answer(asked: Asked) -> Reply:
        assert asked.message == "Who goes there?"
        return ADA

    with pytest.raises(AssertionError, match="Who goes there"):
        await run_tool(mcpserver(meet), "t", None, answer, revision=revision)


async def test_a_server_without_askback_is_told_what_it_lacks():
    with pytest.raises(AuthorError, match=r"no Askback. Write Askback\(server\)"):
        await run_tool(MCPServer("bare"), "t")
