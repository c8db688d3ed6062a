"""What a body gets wrong where it asks: an answer used as a truth value, a verb without its `await`."""

# pyright: reportGeneralTypeIssues=false, reportUnnecessaryComparison=false, reportUnusedCoroutine=false
# The mistakes that pyright finds are what is tested here; `tests/typing` shows that it finds them.

from collections.abc import Callable
from typing import Any, cast

import pytest
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError as FastMCPToolError
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent

from askback import Accepted, Answer, Askback, Cancelled, Declined, ask, ask_all, choose, confirm, once
from askback.errors import NotAwaited, NoTruthValue
from askback.server import middleware
from askback.testing import accept, cancel, decline, get_prompt, read_resource, run_tool
from tests.runtime.conftest import RunBody, says
from tests.support.corpus import corpus
from tests.support.tool_servers import HOSTS, Body, mcpserver

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("T34")]

deleted: list[str] = []


@pytest.fixture(autouse=True)
def nothing_deleted() -> None:
    deleted.clear()


def delete() -> str:
    deleted.append("everything")
    return "deleted"


# An answer.


async def answer_in_if() -> str:
    if await ask("Really delete?", bool):
        return delete()
    return "kept"


async def answer_in_not() -> str:
    answer = await ask("Really delete?", bool)
    return "kept" if not answer else delete()


async def answer_in_bool() -> str:
    answers = await ask_all({"really": ("Delete?", bool)})
    return delete() if all(answers.values()) else "kept"


@corpus("body", [answer_in_if, answer_in_not, answer_in_bool])
@corpus("reply", [accept(False), accept(True), decline(), cancel()])
async def test_an_answer_used_as_a_truth_value_ends_the_call_and_says_what_to_write(
    run: RunBody, body: Body, reply: Any
):
    ended = await run(body, [reply])
    assert ended.is_error and deleted == []
    assert "neither true nor false" in ended.text
    assert all(word in ended.text for word in ("case Accepted(value)", ".or_stop(...)", "confirm(...)"))


@corpus("answer", [Accepted(False), Accepted(True), Declined(), Cancelled()])
def test_no_answer_has_a_truth_value(answer: Answer[bool]):
    uses: list[Callable[[Any], object]] = [bool, lambda it: not it, lambda it: it and 1, lambda it: it or 1]
    for use in uses:
        with pytest.raises(NoTruthValue, match=type(answer).__name__):
            use(answer)
    assert answer == answer and {answer: 1}[answer] and "ed(" in repr(answer)


async def test_without_this_a_no_deletes(run: RunBody, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(Declined, "__bool__")
    assert (await run(answer_in_if, [decline()])).text == "deleted"


# A verb.


async def verb_in_if() -> str:
    if confirm("Delete everything?"):
        return delete()
    return "kept"


async def verb_in_not() -> str:
    return "kept" if not confirm("Delete everything?") else delete()


async def verb_in_text() -> str:
    return f"You said {confirm('Delete everything?')}"


async def verb_in_str() -> str:
    return str(confirm("Delete everything?"))


async def verb_compared() -> str:
    return "kept" if confirm("Delete everything?") == False else delete()  # noqa: E712 - the mistake


async def verb_as_answer() -> str:
    return cast("Any", confirm("Delete everything?")).or_stop("No.")


async def verb_unpacked() -> str:
    first, _second = cast("Any", confirm("Delete everything?"))
    return first


async def verb_matched() -> str:
    match cast("Any", confirm("Delete everything?")):
        case True:
            return delete()
        case _:
            return "kept"


async def verb_alone() -> str:
    confirm("Delete everything?")
    return "done"


async def verb_in_repr() -> str:
    return f"{confirm('Delete everything?')!r}"


async def verb_returned() -> str:
    return cast("Any", confirm("Delete everything?"))


async def verb_swallowed() -> str:
    try:
        return await verb_in_if()
    except Exception:
        return "went wrong, never mind"


MISTAKES: list[Body] = [
    verb_in_if,
    verb_in_not,
    verb_in_text,
    verb_in_str,
    verb_compared,
    verb_as_answer,
    verb_unpacked,
    verb_matched,
    verb_alone,
    verb_in_repr,
    verb_returned,
    verb_swallowed,
]


@corpus("body", MISTAKES)
async def test_a_forgotten_await_ends_the_call_and_names_the_verb(run: RunBody, body: Body):
    ended = await says(run(body))
    assert "confirm(...) was called without await" in ended and deleted == []
    assert "await confirm(...)" in ended and "askback.sync.confirm(...)" in ended


async def test_without_this_a_forgotten_await_deletes(run: RunBody, monkeypatch: pytest.MonkeyPatch):
    async def body() -> str:
        question = cast("Any", confirm).__wrapped__("Delete everything?")
        try:
            return delete() if question else "kept"
        finally:
            question.close()

    def nothing(*_: object) -> None: ...

    assert (await run(body)).text == "deleted"
    monkeypatch.setattr(middleware, "forgotten_await", nothing)
    assert (await run(verb_alone)).text == "done"


async def test_a_verb_that_is_forgotten_after_a_question_ends_the_call_too(run: RunBody):
    async def body() -> str:
        name = (await ask("Who?", str)).or_stop("Nobody.")
        once("greet", deleted.append, name)
        return f"greeted {name}"

    assert "once(...) was called without await" in (await run(body, [accept("Ada")])).text and deleted == []


@pytest.mark.parametrize(("host", "deliberate"), [("MCPServer", ToolError), ("FastMCP", FastMCPToolError)])
async def test_what_the_author_says_on_purpose_is_said(revision: str, host: str, deliberate: type[Exception]):
    async def body() -> str:
        later = confirm("Delete everything?")
        raise deliberate(f"There is nothing to delete, {later!r}.")

    ended = await run_tool(HOSTS[host](body), "t", None, revision=revision)
    assert ended.is_error and "There is nothing to delete" in ended.text


async def test_one_that_is_closed_is_not_forgotten(run: RunBody):
    async def body() -> str:
        question = confirm("Delete everything?")
        question.close()
        return "kept"

    assert (await run(body)).text == "kept"


# A body written with def.


def text_by_def() -> str:
    return cast("Any", ask("Who are you?", str))


def yes_by_def() -> str:
    return delete() if choose("Delete?", ["yes", "no"]) else "kept"


def several_by_def() -> list[str]:
    return [cast("Any", ask("Who are you?", str))]


@corpus("body", [text_by_def, yes_by_def, several_by_def])
async def test_in_a_def_body_of_the_sdk_it_ends_the_call(revision: str, body: Any):
    ended = await run_tool(mcpserver(body), "t", None, revision=revision)
    assert ended.is_error and "was called without await" in ended.text and deleted == []
    assert "askback.sync." in ended.text


async def test_a_host_that_awaits_what_a_def_body_gives_is_right(revision: str):
    def body() -> bool:
        return cast("Any", confirm("Shall I?"))

    server: FastMCP[Any] = FastMCP("test")
    server.tool(body, name="t")
    Askback(server)
    ended = await run_tool(server, "t", None, [accept(yes=True)], revision=revision)
    assert ended.text == "true" and not ended.is_error


async def test_a_low_level_handler_that_returns_or_shows_it_ends_in_the_error(revision: str):
    async def returned(_ctx: Any, _params: Any) -> CallToolResult:
        return cast("Any", confirm("Shall I?"))

    async def shown(_ctx: Any, _params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=cast("Any", confirm("Shall I?")))])

    for handler in (returned, shown):
        server: Server[Any] = Server("test", on_call_tool=handler)
        Askback(server)
        ended = await says(run_tool(server, "t", None, revision=revision))
        assert "confirm(...) was called without await" in ended


@corpus("kind", [MCPServer, FastMCP])
async def test_prompts_and_resources_end_in_it_as_well(revision: str, kind: Any):
    server = kind("test")

    @server.prompt()
    async def prompt() -> str:
        return cast("Any", ask("Who are you?", str))

    @server.resource("desk://one")
    async def resource() -> str:
        return cast("Any", ask("Who are you?", str))

    @server.resource("desk://{name}/more")
    async def template(name: str) -> str:
        return f"{name}: {ask('Who are you?', str)}"

    Askback(server)
    for call in (
        get_prompt(server, "prompt", None, revision=revision),
        read_resource(server, "desk://one", revision=revision),
        read_resource(server, "desk://two/more", revision=revision),
    ):
        assert "ask(...) was called without await" in await says(call)
    assert prompt and resource and template


def test_it_can_be_logged_and_raises_for_all_else():
    question = confirm("Shall I?")
    assert repr(question) == "<coroutine of confirm(...)>"
    uses: list[Callable[[Any], object]] = [
        bool,
        str,
        "{}".format,
        lambda it: f"{it:>10}",
        lambda it: it == True,  # noqa: E712 - the mistake
        lambda it: it != "no",
        lambda it: it.value,
    ]
    for use in uses:
        with pytest.raises(NotAwaited, match=r"confirm\(\.\.\.\) was called without await"):
            use(question)
    question.close()
