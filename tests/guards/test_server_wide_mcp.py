"""The official SDK's servers: a person is asked about what a function gets after the SDK has read the arguments."""

import threading
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import pytest
from mcp.server import MCPServer
from mcp.server.extension import Extension
from mcp.server.mcpserver import Context, Resolve
from mcp.server.mcpserver.tools import Tool, ToolManager
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from askback import Askback, OutsideConversation, sync
from askback.errors import UnsupportedHost
from askback.guards import guard
from askback.testing import accept, decline, run_tool

pytestmark = pytest.mark.anyio

YES = accept(yes=True)

ran: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


class Letter(BaseModel):
    to: str
    pages: int = 1


def send(to: str) -> str:
    ran.append(to)
    return f"sent to {to}"


def office(*guards: Any, **options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("office", **options)
    Askback(server, guards=guards)
    server.add_tool(send)
    return server


async def refused(server: MCPServer[Any], tool: str = "send", **arguments: Any) -> bool:
    """Whether a no is the end of it."""
    run = await run_tool(server, tool, arguments or {"to": "Ada"}, [decline()])
    return run.is_error and "not run" in run.text and ran == []


async def test_text_that_the_sdk_reads_as_json_is_shown_as_what_it_becomes(revision: str):
    def is_short(to: list[str], letter: Letter) -> bool:
        return len(to) == 2 and letter.pages == 1

    server = office(guard("Post to {to}?", tools="post", when=is_short))

    @server.tool()
    async def post(to: list[str], letter: Letter, copies: int = 1) -> list[str]:
        ran.append((to, letter, copies))
        return to

    given = {"to": '["Ada", "Bob"]', "letter": '{"to": "Ada"}', "copies": "2"}
    run = await run_tool(server, "post", given, [YES], revision=revision)
    message = 'Post to ["Ada", "Bob"]?\n\nWith letter = {"to": "Ada", "pages": 1}\nWith copies = 2'
    assert run.asked[0].message == message
    assert ran == [(["Ada", "Bob"], Letter(to="Ada"), 2)]
    assert run.structured == {"result": ["Ada", "Bob"]}


async def test_what_the_sdk_injects_is_no_argument(revision: str):
    def has_one(**arguments: Any) -> bool:
        return set(arguments) <= {"to", "tool"}

    server = office(guard("Post to {to}?", tools="post", when=has_one))

    async def stamp(ctx: Context[Any]) -> str:
        return f"stamp of {ctx.mcp_server.name}"

    @server.tool()
    async def post(to: str, ctx: Context[Any], stamped: Annotated[str, Resolve(stamp)]) -> str:
        ran.append((to, stamped))
        return ctx.mcp_server.name

    run = await run_tool(server, "post", {"to": "Ada"}, [YES], revision=revision)
    assert (run.text, run.asked[0].message) == ("office", "Post to Ada?")
    assert ran == [("Ada", "stamp of office")]


async def test_arguments_that_do_not_fit_are_refused_before_anybody_is_asked():
    run = await run_tool(office(guard()), "send", {"whom": "Ada"})
    assert run.is_error and not run.asked


async def test_a_body_written_with_def_runs_in_a_thread_and_may_ask_there(revision: str):
    server = office(guard(tools="post"))

    @server.tool()
    def post(to: str) -> str:
        ran.append(threading.current_thread() is threading.main_thread())
        return f"{to}: {sync.confirm('Really?')}"

    run = await run_tool(server, "post", {"to": "Ada"}, [YES, YES], revision=revision, always_replay=False)
    assert run.text == "Ada: True" and set(ran) == {False}


class Telegraph(Tool):
    """A tool that is run in a way of its own."""

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        ran.append(arguments)
        return await super().run(arguments, context, convert_result)


async def test_a_tool_with_a_way_of_its_own_is_asked_about_with_all_that_it_is_given(revision: str):
    server: MCPServer[Any] = MCPServer("office", tools=[Telegraph.from_function(send, name="wire")])
    Askback(server, guards=[guard("Wire {to}?", tools="wire")])
    assert await refused(server, "wire", to="Ada")
    run = await run_tool(server, "wire", {"to": "Ada"}, [YES], revision=revision)
    assert run.asked[0].message == "Wire Ada?" and ran[-1] == "Ada"


async def test_a_tool_that_a_body_calls_is_asked_about_as_its_own(revision: str):
    server = office(guard(tools="send"))

    @server.tool()
    async def forward(ctx: Context[Any]) -> str:
        await ctx.mcp_server.call_tool("send", {"to": "Ada"}, ctx)
        return "forwarded"

    assert await refused(server, "forward")
    run = await run_tool(server, "forward", {}, [YES], revision=revision)
    assert run.asked[0].message.startswith('Run "forward > send"?') and ran == ["Ada"]


async def test_where_there_is_no_call_nothing_runs():
    with pytest.raises(OutsideConversation):
        await office(guard()).call_tool("send", {"to": "Ada"})
    assert ran == []


async def test_a_guard_that_stands_above_the_line_that_makes_the_tool_is_not_passed_by(revision: str):
    server = office()

    @guard("Burn it?")
    @server.tool()
    async def burn() -> str:
        ran.append("burn")
        return "burnt"

    run = await run_tool(server, "burn", {}, revision=revision)
    assert run.is_error and "directly above def" in run.text and ran == []
    assert burn is not None


class Louder(Extension):
    """Sees every call before the server does."""

    identifier = "example.office/louder"

    async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any:
        ran.append("seen")
        return await call_next(ctx)


async def test_behind_an_extension_it_is_asked_about_once():
    server = office(guard(), extensions=[Louder()])
    run = await run_tool(server, "send", {"to": "Ada"}, [YES], always_replay=False)
    assert len(run.asked) == 1 and ran[-1] == "Ada"


async def shortcut(_ctx: Any, params: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=send(**params.arguments))])


def with_another_handler(server: MCPServer[Any]) -> None:
    lowlevel: Any = vars(server)["_lowlevel_server"]
    entry = lowlevel.get_request_handler("tools/call")
    lowlevel.add_request_handler("tools/call", entry.params_type, shortcut)


def with_another_manager(server: MCPServer[Any]) -> None:
    vars(server)["_tool_manager"] = ToolManager(tools=[Tool.from_function(send)])


@pytest.mark.parametrize("change", [with_another_handler, with_another_manager])
@pytest.mark.parametrize("before", [False, True])
async def test_what_an_author_puts_in_the_hosts_place_is_asked_about_as_it_is(
    change: Callable[[MCPServer[Any]], None], before: bool
):
    server: MCPServer[Any] = MCPServer("office")
    server.add_tool(send)
    if before:
        change(server)
    Askback(server, guards=[guard("Send to {to}?", tools="send")])
    if not before:
        change(server)
    assert await refused(server)
    assert (await run_tool(server, "send", {"to": "Ada"}, [YES])).text == "sent to Ada"


async def test_a_handler_that_is_replaced_again_is_the_one_that_runs():
    server = office(guard(tools="send"))
    with_another_handler(server)
    assert await refused(server)

    async def other(_ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=f"another for {params.name}")])

    lowlevel: Any = vars(server)["_lowlevel_server"]
    lowlevel.add_request_handler("tools/call", lowlevel.get_request_handler("tools/call").params_type, other)
    assert await refused(server)
    assert (await run_tool(server, "send", {"to": "Ada"}, [YES])).text == "another for send"


def test_a_host_that_keeps_its_tools_otherwise_is_refused_before_it_is_changed():
    class Elsewhere(ToolManager):
        pass

    server: MCPServer[Any] = MCPServer("office")
    vars(server)["_tool_manager"] = Elsewhere()
    with pytest.raises(UnsupportedHost, match="ToolManager"):
        Askback(server, guards=[guard()])
    Askback(server)


async def test_a_function_that_is_a_tool_of_two_servers_keeps_the_guards_of_each(revision: str):
    asks: Callable[..., Awaitable[Any]] = run_tool
    first, second, third = office(guard("First?")), office(guard("Second?")), office()
    for server, messages in ((first, ["First?"]), (second, ["Second?"]), (third, [])):
        run = await asks(server, "send", {"to": "Ada"}, [YES] * len(messages), revision=revision)
        assert [question.message.splitlines()[0] for question in run.asked] == messages
