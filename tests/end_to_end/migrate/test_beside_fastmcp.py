"""What the page on FastMCP says of middleware, dependencies, transforms, mounting, proxies, caches and timeouts."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.exceptions import ToolError
from fastmcp.server import create_proxy
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.middleware.caching import ResponseCachingMiddleware
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware, RetryMiddleware
from fastmcp.server.middleware.rate_limiting import RateLimitingMiddleware
from fastmcp.server.transforms import Namespace
from mcp.server import MCPServer
from mcp.server.request_state import RequestStateSecurity
from mcp.shared.exceptions import MCPError

from askback import Askback, ask, confirm
from askback.testing import REVISIONS, Run, accept, decline, run_tool, silence
from askback.testing.plugin import RunTool
from askback.testing.script import Answers, Reply
from examples.library.server import loans
from examples.library.server import mcp as library
from tests.support.raw import accepting, answering, raw_client
from tests.support.servers.http import served

pytestmark = pytest.mark.anyio

ROUNDS = "2026-07-28"

STORIES: list[tuple[str, dict[str, Any], list[Reply], str]] = [
    ("lend", {"title": "Emma"}, [accept(yes=True)], "Loan 1: Emma"),
    ("lend", {"title": "Emma"}, [decline()], "Emma stays on its shelf."),
    ("reserve", {"title": "Emma"}, [accept("Ada")], "Emma is kept for Ada."),
    ("reserve", {"title": "Emma"}, [decline()], "Nothing reserved."),
    ("lend_rare", {"title": "Emma"}, [accept(True), accept(yes=True)], "Loan 1: Emma"),
    ("lend_rare", {"title": "Emma"}, [accept(value=False)], "Not without gloves."),
    ("lend", {"title": "First Folio"}, [accept(yes=True), accept(yes=True)], "Loan 1: First Folio"),
    ("lend", {"title": "First Folio"}, [decline()], "Nothing was done with the First Folio."),
    ("opening_hours", {"day": "Monday"}, [], "10 to 18"),
]


@pytest.mark.parametrize(
    ("tool", "arguments", "answers", "text"), STORIES, ids=[f"{one[0]}-{one[3]}" for one in STORIES]
)
async def test_the_library_says_the_same_on_every_revision(
    tool: str, arguments: dict[str, Any], answers: Answers, text: str, askback_run_tool: RunTool
):
    loans.clear()
    assert (await askback_run_tool(library, tool, arguments, answers)).text == text


class Watching(Middleware):
    """Counts the passes of a call, and what it would take for errors."""

    def __init__(self) -> None:
        self.passes, self.errors = 0, list[Exception]()

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        self.passes += 1
        try:
            return await call_next(context)
        except Exception as error:
            self.errors.append(error)
            raise


def server_of(*middleware: Middleware, line_first: bool = True, **options: Any) -> FastMCP[Any]:
    """A server with middleware and two tools that ask."""
    server: FastMCP[Any] = FastMCP("beside", **options)
    if line_first:
        Askback(server)
    for one in middleware:
        server.add_middleware(one)

    @server.tool
    async def two_questions() -> str:
        return f"{(await ask('Which?', str)).or_stop('None.')}, sure: {await confirm('Sure?')}"

    @server.tool
    async def hurried() -> str:
        return str(await ask("Which?", str, timeout=0.1))

    if not line_first:
        Askback(server)
    return server


async def once_through(server: FastMCP[Any], tool: str, answers: Answers, revision: str) -> Run:
    return await run_tool(server, tool, None, answers, revision=revision, always_replay=False)


@pytest.mark.parametrize("line_first", [True, False], ids=["line first", "line last"])
@pytest.mark.parametrize("revision", REVISIONS)
async def test_middleware_runs_once_per_round_and_takes_no_question_for_an_error(
    revision: str, line_first: bool
):
    watching, handling = Watching(), ErrorHandlingMiddleware()
    server = server_of(watching, handling, RetryMiddleware(base_delay=0.001), line_first=line_first)
    run = await once_through(server, "two_questions", [accept("tea"), accept(yes=True)], revision)
    assert run.text == "tea, sure: True"
    assert (watching.passes, watching.errors) == (3 if revision == ROUNDS else 1, [])
    assert handling.get_error_stats() == {}


@pytest.mark.parametrize("revision", REVISIONS)
async def test_nobody_is_asked_again_by_a_middleware_that_retries(revision: str):
    server = server_of(RetryMiddleware(base_delay=0.001))
    run = await once_through(server, "hurried", [silence()], revision)
    assert len(run.asked) == 1
    assert run.text.startswith("Nobody answered the question 'ask-1' within 0.1 seconds.")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_every_round_counts_as_a_request(revision: str):
    server = server_of(RateLimitingMiddleware(max_requests_per_second=0.001, burst_capacity=2))
    call = once_through(server, "two_questions", [accept("tea"), accept(yes=True)], revision)
    if revision == ROUNDS:  # three requests; on the others two, a handshake and a call
        with pytest.raises(MCPError, match="Rate limit exceeded"):
            await call
    else:
        assert (await call).text == "tea, sure: True"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_dependency_is_made_and_ended_with_every_round(revision: str):
    server: FastMCP[Any] = FastMCP("beside")
    Askback(server)
    said: list[str] = []

    @asynccontextmanager
    async def connection() -> AsyncGenerator[str]:
        said.append("open")
        try:
            yield "shelf"
        finally:
            said.append("close")

    @server.tool
    async def fetch(place: str = Depends(connection)) -> str:
        return f"From the {place}: {await confirm('Fetch it?')}"

    run = await once_through(server, "fetch", [accept(yes=True)], revision)
    assert run.text == "From the shelf: True"
    assert said == ["open", "close"] * (2 if revision == ROUNDS else 1)


async def test_a_transform_of_the_whole_server_changes_nothing_for_questions(askback_run_tool: RunTool):
    server = server_of()
    server.add_transform(Namespace("desk"))
    run = await askback_run_tool(server, "desk_two_questions", None, [accept("tea"), accept(yes=True)])
    assert run.text == "tea, sure: True"


def cellar() -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("cellar")

    @server.tool
    async def wine() -> str:
        return (await ask("Which?", str)).or_stop("None.")

    return server


async def test_a_line_on_the_child_serves_the_child_alone(askback_run_tool: RunTool):
    child, parent = cellar(), FastMCP("parent")
    Askback(child)
    assert (await askback_run_tool(child, "wine", None, [accept("red")])).text == "red"
    parent.mount(child)
    async with Client(parent) as client:
        with pytest.raises(ToolError, match="Install Askback on the server that clients connect to"):
            await client.call_tool("wine")
    Askback(parent)
    assert (await askback_run_tool(parent, "wine", None, [accept("red")])).text == "red"


async def test_one_line_covers_servers_that_are_mounted_in_mounted_ones(askback_run_tool: RunTool):
    house, floor = FastMCP("house"), FastMCP("floor")
    Askback(house)
    floor.mount(cellar(), namespace="cellar")
    house.mount(floor, namespace="floor")
    run = await askback_run_tool(house, "floor_cellar_wine", None, [accept("red")])
    assert run.text == "red"


async def test_a_proxied_tool_asks_where_it_runs(askback_run_tool: RunTool):
    backend: MCPServer[Any] = MCPServer("backend")
    Askback(backend)

    @backend.tool()
    async def wine() -> str:
        """Bring a wine."""
        return f"{(await ask('Which?', str)).or_stop('None.')}, sure: {await confirm('Sure?')}"

    async with served(backend) as url:
        proxy = FastMCP("proxy")
        proxy.mount(create_proxy(url))
        Askback(proxy)
        run = await askback_run_tool(proxy, "wine", None, [accept("red"), accept(yes=True)])
    assert run.text == "red, sure: True"


@pytest.mark.parametrize("asked_on", REVISIONS)
async def test_a_cache_answers_instead_of_asking(asked_on: str, askback_run_tool: RunTool):
    """With what a client of 2025 was asked for: FastMCP keeps no result that took rounds."""
    server = server_of(ResponseCachingMiddleware())
    answers = [accept("tea"), accept(yes=True)]
    first = await run_tool(server, "two_questions", None, answers, revision=asked_on)
    is_kept = asked_on != REVISIONS[-1]
    second = await askback_run_tool(server, "two_questions", None, [] if is_kept else answers)
    assert (first.text, second.text, len(second.asked)) == (
        "tea, sure: True",
        "tea, sure: True",
        0 if is_kept else 2,
    )


async def test_a_cache_that_includes_only_other_tools_does_not(askback_run_tool: RunTool):
    loans.clear()
    for number in (1, 2):
        run = await askback_run_tool(library, "lend", {"title": "Emma"}, [accept(yes=True)])
        assert run.text == f"Loan {number}: Emma"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_timeout_of_a_tool_counts_thinking_only_where_the_body_waits(revision: str):
    server: FastMCP[Any] = FastMCP("beside")
    Askback(server)

    @server.tool(timeout=0.2)
    async def slow() -> str:
        return (await ask("Which?", str)).or_stop("None.")

    if revision == ROUNDS:
        async with raw_client(server) as client:
            asked = await client.call("slow")
            done = await client.call("slow", **answering(asked, ask_1=accepting(value="tea")))
        assert done["content"][0]["text"] == "tea"
    else:
        run = await once_through(server, "slow", [silence()], revision)
        assert run.is_error and "execution timed out after 0.2s" in run.text


async def test_what_was_put_into_the_state_of_a_session_is_gone_in_the_next_round():
    server: FastMCP[Any] = FastMCP("beside")
    Askback(server)
    found: list[Any] = []

    @server.tool
    async def remember(ctx: Context) -> str:
        found.append(await ctx.get_state("seen"))
        await ctx.set_state("seen", True)
        return str(await confirm("Sure?"))

    await once_through(server, "remember", [accept(yes=True)], ROUNDS)
    assert found == [None, None]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_advice_to_the_client_is_told_also_where_errors_are_masked(revision: str):
    server = server_of(mask_error_details=True)
    try:
        run = await run_tool(server, "two_questions", None, revision=revision, capabilities={})
        text = run.text
    except MCPError as error:
        text = error.message
    assert "This client did not declare that it can show a form" in text


async def test_keys_that_were_given_to_fastmcp_are_kept():
    def worker() -> FastMCP[Any]:
        return server_of(request_state_security=RequestStateSecurity(keys=["first " * 8]))

    async with raw_client(worker()) as one, raw_client(worker()) as two:
        asked = await one.call("two_questions")
        again = await two.call("two_questions", **answering(asked, ask_1=accepting(value="tea")))
    assert again["inputRequests"].keys() == {"ask-2"}
