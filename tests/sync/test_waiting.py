"""Threads that wait for people: how they are set free, and that they take no place from the host's other work."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import pytest
from anyio.to_thread import current_default_thread_limiter
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.transport_context import TransportContext

from askback import Accepted, Askback, sync
from askback.server.adapters import lowlevel_of
from askback.stores import MemoryStore, Mine
from askback.testing import Script, accept
from askback.testing.run import FORMS
from askback.testing.wire import Wire, connect
from tests.sync.servers import mcpserver

pytestmark = pytest.mark.anyio

Host = Callable[..., Any]


class Crowd(Wire):
    """People who are all asked before the first of them answers."""

    def __init__(self, size: int, revision: str) -> None:
        super().__init__(version=revision, capabilities=FORMS, script=Script(lambda _: accept(True)))
        self.all_asked, self.may_answer = anyio.Event(), anyio.Event()
        self._missing = size

    async def on_request(
        self, _ctx: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        self._missing -= 1
        if not self._missing:
            self.all_asked.set()
        await self.may_answer.wait()
        return await super().on_request(_ctx, method, params)

    @property
    def texts(self) -> list[str]:
        """What the calls gave, as they ended."""
        results = [line.body for line in self.transcript if line.what == "result"]
        return [result["content"][0]["text"] for result in results if "content" in result]


class Asking:
    """A body that asks, and notes how the wait ended."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.ended = threading.Event()

    def body(self) -> str:
        try:
            return str(sync.ask("Sure?", bool))
        except Exception as error:
            self.log.append(f"caught {error!r}")
            raise
        finally:
            self.log.append("unwound")
            self.ended.set()

    async def end(self) -> None:
        assert await anyio.to_thread.run_sync(partial(self.ended.wait, 5))


@asynccontextmanager
async def asked(server: Any, crowd: Crowd, calls: int = 1) -> AsyncGenerator[anyio.CancelScope]:
    """As many calls as there are people, all asked; the calls of the scope's client can be cancelled."""
    async with connect(lowlevel_of(server), crowd), anyio.create_task_group() as clients:
        for _ in range(calls):
            clients.start_soon(crowd.send, "tools/call", {"name": "t"})
        with anyio.fail_after(30):
            await crowd.all_asked.wait()
        yield clients.cancel_scope


def total() -> float:
    return current_default_thread_limiter().total_tokens


async def test_a_call_that_the_client_cancels_sets_its_thread_free(push_revision: str, host: Host):
    asking, before = Asking(), total()
    async with asked(host(asking.body), Crowd(1, push_revision)) as calls:
        assert total() == before + 1
        calls.cancel()
        with anyio.CancelScope(shield=True):
            await asking.end()
    assert asking.log == ["unwound"]
    assert total() == before


async def test_a_session_that_ends_sets_its_threads_free(push_revision: str, host: Host):
    asking, before = Asking(), total()
    with anyio.CancelScope() as session:
        async with asked(host(asking.body), Crowd(1, push_revision)):
            session.cancel()
    await asking.end()
    assert asking.log == ["unwound"]
    assert total() == before


def test_an_event_loop_that_shuts_down_sets_its_threads_free():
    asking, tasks = Asking(), set[asyncio.Task[None]]()

    async def serve_and_leave() -> None:
        crowd = Crowd(1, "2025-11-25")

        async def serve() -> None:
            async with asked(mcpserver(asking.body), crowd):
                await anyio.sleep_forever()

        tasks.add(asyncio.create_task(serve()))
        await asyncio.wait_for(crowd.all_asked.wait(), 5)

    asyncio.run(serve_and_leave())
    assert asking.ended.wait(5)
    assert asking.log == ["unwound"]


async def test_an_operator_who_cuts_a_call_short_sets_its_thread_free(push_revision: str, host: Host):
    asking, before, tasks = Asking(), total(), list[asyncio.Task[Any]]()

    async def around(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        try:
            return await call_next(ctx)
        except asyncio.CancelledError:
            task.uncancel()  # as asyncio.timeout does
            return {"content": []}

    server = host(asking.body)
    lowlevel_of(server).middleware.insert(0, around)
    async with asked(server, Crowd(1, push_revision)):
        tasks[-1].cancel()
        await asking.end()
    assert asking.log == ["unwound"]
    assert total() == before


async def test_a_timeout_of_the_tool_sets_its_thread_free(push_revision: str):
    asking, before = Asking(), total()
    server: FastMCP[Any] = FastMCP("test")
    server.tool(asking.body, name="t", timeout=0.1)
    Askback(server)
    crowd = Crowd(1, push_revision)
    async with asked(server, crowd):
        await asking.end()
    assert asking.log == ["unwound"]
    assert total() == before


async def test_after_a_cancellation_nothing_more_is_asked_or_run(push_revision: str):
    log: list[str] = []
    ended = threading.Event()

    def body() -> str:
        try:
            return str(sync.ask("Sure?", bool))
        except BaseException:
            for verb in (lambda: sync.ask("Really?", bool), lambda: sync.once("k", log.append, "run")):
                try:
                    verb()
                except BaseException as left:
                    log.append(type(left).__name__)
            raise
        finally:
            ended.set()

    async with asked(mcpserver(body), Crowd(1, push_revision)) as calls:
        calls.cancel()
        with anyio.CancelScope(shield=True):
            assert await anyio.to_thread.run_sync(partial(ended.wait, 5))
    assert log == ["CancelledError", "CancelledError"]


class SlowStore(MemoryStore):
    """Takes its time over a result, so that a cancellation could come between."""

    async def record(self, claim: Mine, result: bytes) -> bool:
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        return await super().record(claim, result)


async def test_an_effect_that_is_under_way_when_the_client_cancels_is_finished_and_recorded(
    push_revision: str,
):
    begun, cancelled, ended = anyio.Event(), threading.Event(), threading.Event()
    paid: list[str] = []

    def pay() -> int:
        paid.append("paid")
        anyio.from_thread.run_sync(begun.set)
        assert cancelled.wait(5)
        return len(paid)

    def body() -> str:
        try:
            return str(sync.once("pay", pay, within=60))
        finally:
            ended.set()

    wire = Crowd(1, push_revision)
    async with connect(lowlevel_of(mcpserver(body, store=SlowStore())), wire):
        async with anyio.create_task_group() as calls:
            calls.start_soon(wire.send, "tools/call", {"name": "t"})
            with anyio.fail_after(5):
                await begun.wait()
            calls.cancel_scope.cancel()
        await wire.send("tools/list", {})  # answered after the cancellation was read
        cancelled.set()
        assert await anyio.to_thread.run_sync(partial(ended.wait, 5))
        assert await text_of(wire, "t") == "1"
    assert paid == ["paid"]


async def test_an_effect_on_the_event_loop_is_cut_short_with_its_call(push_revision: str):
    begun, ended = anyio.Event(), threading.Event()

    async def pay() -> str:
        begun.set()
        await anyio.sleep_forever()
        return "never"

    def body() -> str:
        try:
            return sync.once("pay", pay)
        finally:
            ended.set()

    wire = Crowd(1, push_revision)
    async with connect(lowlevel_of(mcpserver(body)), wire):
        async with anyio.create_task_group() as calls:
            calls.start_soon(wire.send, "tools/call", {"name": "t"})
            with anyio.fail_after(5):
                await begun.wait()
            calls.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(partial(ended.wait, 5))


def shop(**options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("shop")
    Askback(server, **options)

    @server.tool()
    def t() -> str:
        return str(sync.ask("Sure?", bool))

    @server.tool()
    def quick() -> str:
        return "at once"

    return server


async def text_of(wire: Wire, tool: str) -> str:
    with anyio.fail_after(10):
        return (await wire.send("tools/call", {"name": tool}))["content"][0]["text"]


@pytest.mark.parametrize("people", [60])
async def test_people_who_think_take_no_thread_from_other_calls(push_revision: str, people: int):
    before = total()
    assert before < people
    crowd = Crowd(people, push_revision)
    async with asked(shop(), crowd, people):
        assert total() == before + people
        assert await text_of(crowd, "quick") == "at once"
        crowd.may_answer.set()
    assert crowd.texts == ["at once", *[str(Accepted(True))] * people]
    assert total() == before


async def test_a_crowd_that_leaves_gives_all_places_back(push_revision: str):
    before = total()
    async with asked(shop(), Crowd(60, push_revision), 60) as calls:
        calls.cancel()
    with anyio.fail_after(5):
        while total() != before:
            await anyio.lowlevel.checkpoint()


async def test_past_a_limit_parked_threads_count_as_the_hosts_own(
    push_revision: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sync, "MOST_PARKED", 3)
    limiter = current_default_thread_limiter()
    limiter.total_tokens = 2
    crowd = Crowd(5, push_revision)
    async with asked(shop(), crowd, 5), anyio.create_task_group() as others:
        assert total() == 2 + 3
        others.start_soon(text_of, crowd, "quick")
        with anyio.fail_after(5):
            while not limiter.statistics().tasks_waiting:
                await anyio.lowlevel.checkpoint()
        crowd.may_answer.set()
    assert sorted(crowd.texts) == [str(Accepted(True))] * 5 + ["at once"]
    assert total() == 2


async def test_on_the_rounds_era_no_thread_waits_and_no_place_is_given():
    server, totals = shop(), list[float]()

    async def look(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        totals.append(total())
        return result

    server.middleware.insert(0, look)
    wire = Crowd(1, "2026-07-28")
    async with connect(lowlevel_of(server), wire):
        await wire.call("tools/call", {"name": "t"})
    assert wire.texts == [str(Accepted(True))]
    assert totals == [total()] * 2
