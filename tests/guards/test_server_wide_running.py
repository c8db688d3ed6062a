"""What FastMCP runs for a call, and without one: asked about as it will run, and not run where nobody can be asked."""

import asyncio
import contextvars
import json
from typing import Annotated, Any

import anyio
import pytest
from fastmcp import Context, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.exceptions import ToolError
from fastmcp.server.extensions import ServerExtension
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from pydantic import Field

from askback import Askback, OutsideConversation
from askback.guards import guard
from askback.testing import decline, run_tool
from tests.guards.office import YES, office, ran, send
from tests.server.hosts.fastmcp.conftest import quiet_fastmcp as quiet_fastmcp

pytestmark = pytest.mark.anyio

PUSH = "2025-11-25"


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


async def test_what_middleware_makes_of_the_arguments_is_what_the_person_sees(revision: str):
    class Louder(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            changed = {**context.message.arguments, "to": context.message.arguments["to"].upper()}
            message = context.message.model_copy(update={"arguments": changed})
            return await call_next(context.copy(message=message))

    server = office(guard("Send to {to}?", tools="send"))
    server.add_middleware(Louder())
    run = await run_tool(server, "send", {"to": "Ada"}, [YES], revision=revision)
    assert run.asked[0].message.startswith("Send to ADA?")
    assert ran == [("ADA", 1, "low")]


async def test_arguments_are_shown_as_the_body_gets_them_and_nothing_that_is_injected(revision: str):
    def secret() -> str:
        return "hidden"

    server: FastMCP[Any] = FastMCP("office")
    Askback(server, guards=[guard(tools="post")])

    @server.tool
    async def post(
        to: list[str],
        ctx: Context,
        copies: Annotated[int, Field(ge=1)] = 1,
        stamp: float = Field(default=0.5),
        token: str = Depends(secret),
    ) -> dict[str, Any]:
        ran.append((to, copies, stamp, token, ctx.fastmcp.name))
        return {"to": to}

    run = await run_tool(server, "post", {"to": ["Ada"], "copies": "3"}, [YES], revision=revision)
    assert run.asked[0].message == 'Run post?\n\nWith to = ["Ada"]\nWith copies = 3\nWith stamp = 0.5'
    assert ran == [(["Ada"], 3, 0.5, "hidden", "office")]
    assert run.structured == {"to": ["Ada"]}
    run = await run_tool(server, "post", {"to": ["Ada"], "copies": 0}, revision=revision)
    assert run.is_error and not run.asked


async def test_a_tools_own_time_begins_when_the_person_has_answered():
    async def think() -> bool:
        with anyio.move_on_after(0.3):
            await anyio.sleep_forever()
        return True

    server: FastMCP[Any] = FastMCP("office")
    Askback(server, guards=[guard(tools="quick", when=think), guard(tools="slow")])

    @server.tool(timeout=0.25)
    def quick() -> str:
        return "in time"

    @server.tool(timeout=0.02)
    async def slow() -> str:
        await anyio.sleep_forever()
        return "never"

    run = await run_tool(server, "quick", {}, [YES], revision=PUSH, always_replay=False)
    assert run.text == "in time"
    run = await run_tool(server, "slow", {}, [YES])
    assert run.is_error and "timed out after 0.02s" in run.text


async def test_generators_and_threads_run_as_they_do_without_a_guard():
    server: FastMCP[Any] = FastMCP("office")
    Askback(server, guards=[guard(tools="*")])

    @server.tool
    def numbers() -> Any:
        ran.append("sync")
        yield 1
        yield 2

    @server.tool
    async def letters() -> Any:
        ran.append("async")
        yield "a"

    @server.tool(run_in_thread=False)
    def here() -> bool:
        return asyncio.get_running_loop().is_running()

    assert json.loads((await run_tool(server, "numbers", {}, [YES])).text) == [1, 2]
    assert json.loads((await run_tool(server, "letters", {}, [YES])).text) == ["a"]
    assert (await run_tool(server, "here", {}, [YES])).text == "true"


async def test_where_there_is_no_call_nothing_runs():
    server = office(guard(tools="send"))
    with pytest.raises(ToolError, match="tool, prompt or resource body"):
        await server.call_tool("send", {"to": "Ada"})
    tool = await server.get_tool("send")
    assert tool is not None
    with pytest.raises(OutsideConversation):
        await tool.run({"to": "Ada"})
    assert ran == []


class Queue(ServerExtension):
    """Runs every call in a worker without the call, as FastMCP's tasks extension does."""

    identifier = "example.office/queue"

    def __init__(self) -> None:
        self.work: list[asyncio.Task[Any]] = []

    async def intercept_tool_call(self, params: Any, context: Context, call_next: Any) -> ToolResult:
        tool = await context.fastmcp.get_tool(params.name)
        assert tool is not None
        work = tool.run(params.arguments)
        self.work.append(asyncio.create_task(work, context=contextvars.Context()))
        return ToolResult(content="queued")


@pytest.mark.parametrize("mount", [False, True])
async def test_in_the_background_nothing_runs_that_a_guard_is_for(mount: bool):
    queue, server = Queue(), FastMCP[Any]("office")
    server.add_extension(queue)
    Askback(server, guards=[guard(tools="send")])
    if mount:
        server.mount(office())
    else:
        server.tool(send)
    assert (await run_tool(server, "send", {"to": "Ada"})).text == "queued"
    with anyio.fail_after(5), pytest.raises((OutsideConversation, ToolError)):
        await queue.work[0]
    assert ran == []


async def test_what_is_registered_as_a_background_task_does_not_run_there():
    server: FastMCP[Any] = FastMCP("office")
    Askback(server, guards=[guard(tools=["slow_send", "wire"])])

    async def slow_send(to: str) -> str:
        return send(to)

    async def look() -> str:
        return "looked"

    server.tool(slow_send, task=True)
    server.tool(look, task=True)
    child: FastMCP[Any] = FastMCP("child")
    child.tool(slow_send, task=True)
    child.tool(slow_send, name="wire", task=True)
    server.mount(child, namespace="kid")
    tasks: dict[str, Any] = {task.name: task for task in await server.get_tasks()}
    for name in ("slow_send", "kid_slow_send", "kid_wire"):
        with pytest.raises(OutsideConversation):
            await tasks[name].fn("Ada")
    assert await tasks["look"].fn() == "looked"
    assert ran == []


async def test_a_handler_of_the_authors_own_is_asked_about_as_it_is(revision: str):
    server = office(guard("Send to {to}?", tools="send"))
    inner: Any = vars(server)["_mcp_server"]
    entry = inner.get_request_handler("tools/call")

    async def shortcut(_ctx: Any, params: Any) -> Any:
        return ToolResult(content=send(**params.arguments)).to_mcp_result()

    inner.add_request_handler("tools/call", entry.params_type, shortcut)
    refused = await run_tool(server, "send", {"to": "Ada"}, [decline()], revision=revision)
    assert refused.is_error and ran == []


async def test_servers_without_guards_are_left_alone():
    office(guard())
    other = office()
    Askback(other)
    run = await run_tool(other, "send", {"to": "Ada"})
    assert run.text == "sent to Ada" and not run.asked
    assert (await other.call_tool("send", {"to": "Bob"})).content
