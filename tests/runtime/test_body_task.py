"""Getting a body out from any of its tasks: nothing of it goes on, and no cancellation is left over or lost."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from askback import ask
from askback.errors import OutsideConversation
from askback.testing import REVISIONS, accept, run_tool
from tests.support.raw import raw_client
from tests.support.tool_servers import mcpserver

pytestmark = pytest.mark.anyio

Spawn = Callable[[Awaitable[object], Awaitable[object]], Awaitable[object]]
Around = Callable[[Awaitable[HandlerResult]], Awaitable[HandlerResult]]


async def with_gather(one: Awaitable[object], other: Awaitable[object]) -> None:
    await asyncio.gather(one, other)


async def with_a_task_group(one: Awaitable[object], other: Awaitable[object]) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(awaited(one))
        group.create_task(awaited(other))


async def with_an_anyio_group(one: Awaitable[object], other: Awaitable[object]) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(awaited, one)
        group.start_soon(awaited, other)


async def awaited(thing: Awaitable[object]) -> None:
    await thing


@pytest.fixture(params=[with_gather, with_a_task_group, with_an_anyio_group])
def spawn(request: pytest.FixtureRequest) -> Spawn:
    return request.param


class Asking:
    """A body with two tasks: one would wait for ever, the other asks. It cleans up as long as it is let."""

    def __init__(self, spawn: Spawn, cleanup: Callable[[], Awaitable[object]]) -> None:
        self.log: list[str] = []
        self._spawn, self._cleanup = spawn, cleanup

    async def body(self) -> str:
        try:
            await self._spawn(self._sibling(), ask("Name?", str, key="name"))
        finally:
            await self._cleanup()
            self.log.append("cleaned up")
        return "never"

    async def _sibling(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self.log.append("sibling ended")

    def server(self, around: Around) -> MCPServer[Any]:
        """Its server, with a middleware of the operator's around Askback."""

        async def outermost(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
            return await around(call_next(ctx))

        server = mcpserver(self.body)
        server.middleware.insert(0, outermost)
        return server


async def question_of(server: MCPServer[Any]) -> list[str]:
    async with raw_client(server) as client:
        with anyio.fail_after(5):
            return list((await client.call())["inputRequests"])


def running_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def test_after_a_question_from_a_sibling_task_the_calls_task_awaits_as_ever(spawn: Spawn):
    async def around(call: Awaitable[HandlerResult]) -> HandlerResult:
        result = await call
        assert running_task().cancelling() == 0
        await anyio.lowlevel.checkpoint()
        with anyio.move_on_after(0) as scope:
            await anyio.sleep_forever()
        assert scope.cancelled_caught
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await anyio.sleep_forever()
        return result

    asking = Asking(spawn, cleanup=anyio.lowlevel.checkpoint)
    assert await question_of(asking.server(around)) == ["name"]
    assert asking.log == ["sibling ended", "cleaned up"]


async def test_an_operators_timeouts_around_the_call_are_not_set_off(spawn: Spawn):
    async def around(call: Awaitable[HandlerResult]) -> HandlerResult:
        with anyio.fail_after(5):
            async with asyncio.timeout(5):
                return await asyncio.wait_for(call, 5)

    asking = Asking(spawn, cleanup=anyio.lowlevel.checkpoint)
    assert await question_of(asking.server(around)) == ["name"]


async def test_a_scope_cancelled_while_the_body_is_left_stays_cancelled(spawn: Spawn):
    scope, after = anyio.CancelScope(), list[str]()

    async def cancelled_meanwhile() -> None:
        scope.cancel()
        await anyio.sleep_forever()

    async def around(call: Awaitable[HandlerResult]) -> HandlerResult:
        with scope:
            await call
            await anyio.lowlevel.checkpoint()
            after.append("went on")
        return {"resultType": "input_required", "inputRequests": {"given up": {}}}

    asking = Asking(spawn, cleanup=cancelled_meanwhile)
    assert await question_of(asking.server(around)) == ["given up"]
    assert scope.cancelled_caught
    assert (asking.log, after) == (["sibling ended"], [])


async def test_a_task_cancelled_while_the_body_is_left_is_still_marked_as_cancelled(spawn: Spawn):
    tasks: list[asyncio.Task[Any]] = []

    async def cancelled_meanwhile() -> None:
        tasks[0].cancel()
        with suppress(asyncio.CancelledError):
            await anyio.sleep_forever()

    async def around(call: Awaitable[HandlerResult]) -> HandlerResult:
        tasks.append(running_task())
        result = await call
        assert running_task().cancelling() == 1
        running_task().uncancel()
        return result

    assert await question_of(Asking(spawn, cleanup=cancelled_meanwhile).server(around)) == ["name"]


async def test_a_client_that_cancels_meanwhile_ends_the_cleanup_and_nothing_else(spawn: Spawn):
    cleaning, ended = anyio.Event(), anyio.Event()

    async def endless() -> None:
        cleaning.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with raw_client(mcpserver(Asking(spawn, cleanup=endless).body)) as client:
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call)
            with anyio.fail_after(5):
                await cleaning.wait()
            calls.cancel_scope.cancel()
        with anyio.fail_after(5):
            await ended.wait()
            assert (await client.send("tools/list"))["tools"][0]["name"] == "t"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_body_that_asks_from_another_event_loop_is_told_so(revision: str):
    async def ask_there() -> str:
        return str(await ask("Name?", str))

    def body() -> str:
        try:
            return asyncio.run(ask_there())
        except OutsideConversation as error:
            return str(error)

    server = mcpserver(ask_there)
    server.add_tool(body, name="sync")
    run = await run_tool(server, "sync", revision=revision)
    assert "another event loop" in run.text
    assert (await run_tool(server, "t", None, [accept("Ada")], revision=revision)).text.startswith("Accepted")
