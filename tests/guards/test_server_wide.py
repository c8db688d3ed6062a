"""Guards for a whole server: on every host and revision, a person is asked before the tools that they are for."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError

from askback import Askback
from askback.errors import AuthorError
from askback.guards import guard
from askback.testing import Run, accept, cancel, decline, run_tool, silence
from tests.guards.post import HOSTS, Post
from tests.server.hosts.fastmcp.conftest import quiet_fastmcp as quiet_fastmcp
from tests.support.corners import run_on_corners

pytestmark = pytest.mark.anyio

CORNERS = [
    ("2025-06-18", "MCPServer"),
    ("2025-06-18", "mounted"),
    ("2025-11-25", "Server"),
    ("2025-11-25", "FastMCP"),
    ("2026-07-28", "MCPServer"),
    ("2026-07-28", "FastMCP"),
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    run_on_corners(metafunc, CORNERS)


YES = accept(yes=True)

SENT = [("send", "Ada", 1)]


@pytest.fixture
def post() -> Post:
    return Post()


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return HOSTS[request.param]


@pytest.fixture
def send(host: Callable[..., Any], post: Post, revision: str) -> Callable[..., Any]:
    """Sends a letter to Ada at a post office with these guards."""

    async def send(guards: list[Any], answers: Any = (), **more: Any) -> Run:
        return await run_tool(
            host(post, guards=guards), "send", {"to": "Ada"}, answers, revision=revision, **more
        )

    return send


@pytest.fixture
def look(host: Callable[..., Any], post: Post, revision: str) -> Callable[..., Any]:
    """Looks into the box of a post office with these guards."""

    async def look(guards: list[Any], answers: Any = ()) -> Run:
        return await run_tool(host(post, guards=guards), "look", {}, answers, revision=revision)

    return look


async def test_after_a_yes_the_tool_runs_with_what_was_shown(send: Callable[..., Any], post: Post):
    run = await send([guard("Send to {to}?", tools="se*")], [YES])
    assert (run.text, post.ran) == ("1 to Ada", SENT)
    assert [question.message for question in run.asked] == ["Send to Ada?\n\nWith copies = 1"]


NOES = {"declines": decline(), "unticks": accept(yes=False), "goes away": cancel()}


@pytest.mark.parametrize("how", NOES)
async def test_whoever_says_no_nothing_runs(send: Callable[..., Any], post: Post, how: str):
    run = await send([guard(tools="send")], [NOES[how]])
    assert run.is_error and "not run" in run.text
    assert post.ran == []


async def test_a_person_who_does_not_answer_in_time_has_not_said_yes(send: Callable[..., Any], post: Post):
    run = await send([guard(tools="send", timeout=timedelta(milliseconds=20))], [silence()])
    assert run.is_error and post.ran == []


async def test_where_nobody_can_be_asked_nothing_runs(send: Callable[..., Any], post: Post):
    try:
        run = await send([guard(tools="send")], capabilities={})
        text = run.text if run.is_error else ""
    except MCPError as error:  # as the rounds era wants it said
        text = error.message
    assert "not run" in text and post.ran == []


async def test_a_tool_that_no_guard_is_for_runs_unasked(look: Callable[..., Any], post: Post):
    run = await look([guard(tools="send*"), guard(arguments="to"), guard(hints="destructiveHint")])
    assert (run.text, run.asked, post.ran) == ("looked at box", [], [("look", "box")])


FOR_SENDING: dict[str, dict[str, Any]] = {
    "its name": {"tools": "send"},
    "a pattern": {"tools": ["burn", "s?nd"]},
    "what it does not say": {"hints": "destructiveHint"},
    "one of two hints": {"hints": ["idempotentHint", "openWorldHint"]},
    "an argument": {"arguments": ["nothing", "to"]},
    "an argument that was not given": {"arguments": "copies"},
    "all together": {"tools": "s*", "hints": "destructiveHint", "arguments": "to"},
    "nothing: every tool": {},
}

NOT_FOR_SENDING: dict[str, dict[str, Any]] = {
    "another name": {"tools": ["sen", "sends", "SEND"]},
    "what it would have to say": {"hints": "readOnlyHint"},
    "another argument": {"arguments": "path"},
    "its name but not its arguments": {"tools": "send", "arguments": "path"},
}


@pytest.mark.parametrize("by", FOR_SENDING)
async def test_a_guard_is_for_the_tools_that_it_says(host: Callable[..., Any], post: Post, by: str):
    run = await run_tool(host(post, guards=[guard(**FOR_SENDING[by])]), "send", {"to": "Ada"}, [YES])
    assert len(run.asked) == 1 and post.ran == SENT


@pytest.mark.parametrize("by", NOT_FOR_SENDING)
async def test_and_for_no_others(host: Callable[..., Any], post: Post, by: str):
    run = await run_tool(host(post, guards=[guard(**NOT_FOR_SENDING[by])]), "send", {"to": "Ada"})
    assert not run.asked and post.ran == SENT


async def test_a_tool_that_only_reads_destroys_nothing_and_may_say_how_open_its_world_is(
    look: Callable[..., Any], post: Post
):
    run = await look([guard(hints=["destructiveHint", "openWorldHint"]), guard(hints="readOnlyHint")], [YES])
    assert len(run.asked) == 1 and post.ran == [("look", "box")]


async def test_several_guards_ask_in_their_order_and_all_must_agree(send: Callable[..., Any], post: Post):
    guards = [guard("First {to}?", tools="send"), guard("Then {to}?"), guard("Then {to}?", arguments="to")]
    run = await send(guards, [YES, YES, decline()])
    asked = [question.message.split()[0] for question in run.asked]
    assert (asked, post.ran) == (["First", "Then", "Then"], [])
    assert (await send(guards, [YES, YES, YES])).text == "1 to Ada"


async def test_a_guard_asks_only_when_it_wants_to(send: Callable[..., Any], post: Post):
    def is_for_bob(to: str) -> bool:
        return to == "Bob"

    def is_for_ada(to: str, copies: int) -> bool:
        return to == "Ada" and copies == 1

    assert (await send([guard(when=is_for_bob)])).text == "1 to Ada"
    run = await send([guard(when=is_for_ada)], [decline()])
    assert run.is_error and post.ran == SENT


async def test_a_guard_that_fails_lets_nothing_pass(send: Callable[..., Any], post: Post):
    def is_many(copies: int) -> bool:
        return 1 // (copies - 1) > 0

    run = await send([guard(when=is_many)])
    assert run.is_error and post.ran == []


async def test_a_guard_that_names_what_the_tool_does_not_take_lets_nothing_pass(
    send: Callable[..., Any], post: Post
):
    run = await send([guard("Burn {house}?")])
    assert run.is_error and "house" in run.text and post.ran == []


async def test_a_tool_with_a_guard_of_its_own_asks_after_the_servers(host: Callable[..., Any], revision: str):
    post = Post()
    post.send = guard("Send to {to}?")(post.send)
    server = host(post, guards=[guard("Send to {to}?", tools="send")])
    run = await run_tool(server, "send", {"to": "Ada"}, [YES, YES], revision=revision)
    assert [len(run.asked), run.text, post.ran] == [2, "1 to Ada", SENT]
    post.ran.clear()
    run = await run_tool(server, "send", {"to": "Ada"}, [YES, decline()], revision=revision)
    assert run.is_error and post.ran == []


@pytest.mark.parametrize("make", [MCPServer, FastMCP])
async def test_tools_that_are_added_or_replaced_later_are_asked_about_too(make: Any, revision: str):
    server, ran = make("post"), list[str]()
    Askback(server, guards=[guard(tools="burn")])
    for what in ("house", "barn"):

        def burn(what: str = what) -> str:
            ran.append(what)
            return what

        if what == "barn":
            (server if make is MCPServer else server.local_provider).remove_tool("burn")
        server.add_tool(burn) if make is MCPServer else server.tool(burn)
        assert (await run_tool(server, "burn", {}, [decline()], revision=revision)).is_error
        assert (await run_tool(server, "burn", {}, [YES], revision=revision)).text == what
    assert ran == ["house", "barn"]


@pytest.mark.parametrize("name", ["MCPServer", "FastMCP", "mounted"])
async def test_a_tool_that_is_not_there_gets_the_hosts_own_answer(name: str, revision: str):
    server = HOSTS[name](Post(), guards=[guard()])
    run = await run_tool(server, "burn", {}, revision=revision)
    assert run.is_error and "Unknown tool" in run.text and not run.asked


async def test_of_a_low_level_server_a_tool_that_is_not_listed_is_asked_about(revision: str):
    post = Post()
    server = HOSTS["Server"](post, guards=[guard(hints="destructiveHint")])
    run = await run_tool(server, "hidden", {"path": "safe"}, [decline()], revision=revision)
    assert run.is_error and post.ran == []


@pytest.mark.parametrize(
    "given",
    [guard("One?"), "guard", [guard("One?"), "Two?"], [None], None],
    ids=lambda given: str(given)[:12],
)
def test_what_is_no_list_of_guards_is_refused_and_the_server_can_be_given_one(given: Any):
    server: MCPServer[Any] = MCPServer("post")
    with pytest.raises(AuthorError, match=r"guards=\[guard\("):
        Askback(server, guards=given)
    Askback(server, guards=[guard()])
