"""Work that goes on when its call is over: nobody can be asked there, and it is told so."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.extensions import ServerExtension
from fastmcp.tools import ToolResult

from askback import Askback, OutsideConversation, ask, once, sync
from askback.testing import run_tool
from tests.server.hosts.fastmcp.cafe import Order, tea
from tests.server.hosts.fastmcp.guests import MODES, Guest, say

pytestmark = pytest.mark.anyio


class Told:
    """Keeps what the background work ran into."""

    def __init__(self) -> None:
        self._error = asyncio.get_running_loop().create_future()

    async def of(self, work: Awaitable[Any]) -> None:
        """Do the work, which is expected to be refused."""
        try:
            self._error.set_exception(AssertionError(f"it was done: {await work}"))
        except Exception as error:
            self._error.set_result(error)

    async def error(self) -> Exception:
        with anyio.fail_after(5):
            return await self._error


Work = Callable[[], Awaitable[Any]]

WORK: dict[str, Work] = {
    "ask": lambda: ask("What would you like?", Order),
    "once": lambda: once("brew", len, "tea"),
}


@pytest.mark.parametrize("verb", WORK)
async def test_a_task_that_outlives_its_call_is_told_that_the_call_is_over(verb: str, askback_revision: str):
    mcp: FastMCP[Any] = FastMCP("cafe")
    Askback(mcp)
    told, answered = Told(), anyio.Event()
    tasks: list[asyncio.Task[None]] = []

    @mcp.tool
    async def order() -> str:
        async def later() -> None:
            await answered.wait()
            await told.of(WORK[verb]())

        tasks.append(asyncio.create_task(later()))
        drink = (await ask("First of all?", Order)).or_stop("Nothing, then.").drink
        return f"{drink} is on its way"

    run = await run_tool(mcp, "order", None, tea, revision=askback_revision, always_replay=False)
    assert run.text == "tea is on its way"
    answered.set()
    error = await told.error()
    assert isinstance(error, OutsideConversation)
    assert "after its call had been answered" in str(error) and "background" in str(error)
    for task in tasks:
        task.cancel()


class Queue(ServerExtension):
    """Runs every call as a background task, as FastMCP's tasks extension does: in a worker without the call."""

    identifier = "example.cafe/queue"

    def __init__(self) -> None:
        self.work: list[asyncio.Task[Any]] = []

    async def intercept_tool_call(self, params: Any, context: Context, call_next: Any) -> ToolResult:
        tool = await context.fastmcp.get_tool(params.name)
        worker = contextvars.Context()
        self.work.append(asyncio.create_task(self._run(tool, context.fastmcp), context=worker))
        return ToolResult(structured_content={"result": f"{params.name} is queued"})

    async def _run(self, tool: Any, server: FastMCP[Any]) -> Any:
        async with Context(server, task_id="task-1"):
            return await tool.run({})


@pytest.mark.parametrize("verb", WORK)
@pytest.mark.parametrize("mode", MODES)
async def test_a_background_task_is_told_that_nobody_can_be_asked_and_what_to_do(mode: str, verb: str):
    queue, mcp = Queue(), FastMCP[Any]("cafe")
    mcp.add_extension(queue)
    Askback(mcp)

    @mcp.tool
    async def order() -> str:
        return str(await WORK[verb]())

    guest = Guest()
    async with guest.at(mcp, mode) as client:
        assert "order is queued" in await say(client, "order")
        with (
            anyio.fail_after(5),
            pytest.raises(OutsideConversation, match="ask before it begins and pass the answer in"),
        ):
            await queue.work[0]
    assert guest.asked == []


@pytest.mark.parametrize("mode", MODES)
async def test_fastmcps_own_elicit_says_there_what_it_says_without_askback(mode: str):
    said: list[str] = []
    for is_asking in (False, True):
        queue, mcp = Queue(), FastMCP[Any]("cafe")
        mcp.add_extension(queue)
        if is_asking:
            Askback(mcp)

        @mcp.tool
        async def order(ctx: Context) -> str:
            return str(await ctx.elicit("What would you like?", Order))

        async with Guest().at(mcp, mode) as client:
            await say(client, "order")
            with anyio.fail_after(5), pytest.raises(ToolError) as raised:
                await queue.work[0]
        said.append(str(raised.value))
    assert said[0] == said[1]
    assert "background task" in said[0]


async def test_a_thread_of_the_authors_own_is_told_that_it_is_not_the_servers(askback_revision: str):
    mcp: FastMCP[Any] = FastMCP("cafe")
    Askback(mcp)

    def asked_in_a_thread() -> str:
        try:
            return str(sync.ask("What would you like?", Order))
        except OutsideConversation as error:
            return str(error)

    @mcp.tool
    def order() -> str:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asked_in_a_thread).result(5)

    run = await run_tool(mcp, "order", revision=askback_revision)
    assert "This thread is not one of the server's" in run.text


async def test_a_tool_that_is_not_run_in_a_thread_is_told_to_let_it_be(askback_revision: str):
    mcp: FastMCP[Any] = FastMCP("cafe")
    Askback(mcp)

    @mcp.tool(run_in_thread=False)
    def order() -> str:
        return str(sync.ask("What would you like?", Order))

    run = await run_tool(mcp, "order", revision=askback_revision)
    assert run.is_error and "take out run_in_thread=False" in run.text


async def test_a_server_that_is_called_without_a_client_has_nobody_to_ask():
    mcp: FastMCP[Any] = FastMCP("cafe")
    Askback(mcp)

    @mcp.tool
    async def order() -> str:
        return str(await ask("What would you like?", Order))

    with pytest.raises(ToolError, match="Here there is no such call"):
        await mcp.call_tool("order")
