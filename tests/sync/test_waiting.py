"""Threads that wait for people: whatever ends the call sets them free."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import pytest
from fastmcp import FastMCP
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from askback import Askback, sync
from askback.server.hosts import lowlevel_of
from askback.stores import Granted, MemoryStore
from askback.testing import run_tool
from askback.testing.run import connect
from tests.support.tool_servers import mcpserver as async_mcpserver
from tests.sync.crowd import Crowd, asked, goes_on, text_of, total
from tests.sync.servers import mcpserver

pytestmark = pytest.mark.anyio

Host = Callable[..., Any]


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


async def test_a_call_that_the_client_cancels_sets_its_thread_free(push_revision: str, host: Host):
    asking, before = Asking(), total()
    crowd = Crowd(1, push_revision)
    async with asked(host(asking.body), crowd) as calls:
        assert total() == before + 1
        calls.cancel()
        with anyio.CancelScope(shield=True):
            await asking.end()
            await goes_on(crowd)
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

    crowd = Crowd(1, push_revision)
    async with asked(mcpserver(body), crowd) as calls:
        calls.cancel()
        with anyio.CancelScope(shield=True):
            assert await anyio.to_thread.run_sync(partial(ended.wait, 5))
            await goes_on(crowd)
    assert log == ["CancelledError", "CancelledError"]


@pytest.mark.parametrize("verb", ["ask", "once"])
async def test_a_call_cancelled_at_the_very_moment_of_asking_is_left(
    push_revision: str, verb: str, monkeypatch: pytest.MonkeyPatch
):
    loop, may_ask, on_its_way = asyncio.get_running_loop(), threading.Event(), threading.Event()
    call_soon, effects = loop.call_soon_threadsafe, list[str]()

    def call_soon_and_tell(*args: Any, **options: Any) -> asyncio.Handle:
        handle = call_soon(*args, **options)
        on_its_way.set()
        return handle

    def part() -> object:
        assert may_ask.wait(5)
        return sync.ask("Sure?", bool) if verb == "ask" else sync.once("k", effects.append, "run")

    scope = anyio.CancelScope()

    async def wait_for_part() -> None:
        with scope:
            await anyio.to_thread.run_sync(part)

    async def body() -> str:
        async with anyio.create_task_group() as group:
            group.start_soon(wait_for_part)
            await anyio.wait_all_tasks_blocked()
            monkeypatch.setattr(loop, "call_soon_threadsafe", call_soon_and_tell)
            may_ask.set()
            assert on_its_way.wait(5)  # holds the loop until the thread has turned to it, and no longer
            scope.cancel()
        return f"left: {scope.cancelled_caught} {effects}"

    with anyio.fail_after(5):
        run = await run_tool(async_mcpserver(body), "t", revision=push_revision, always_replay=False)
    assert run.text == "left: True []"


class SlowStore(MemoryStore):
    """Begins to write a result down, and then takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.recording, self.may_record = anyio.Event(), anyio.Event()

    async def record(self, claim: Granted, result: bytes) -> bool:
        self.recording.set()
        await self.may_record.wait()
        return await super().record(claim, result)


class Paying:
    """A body with one effect, which takes its time too."""

    def __init__(self) -> None:
        self.paid = 0
        self.paying, self.may_pay, self.ended = anyio.Event(), threading.Event(), threading.Event()

    def body(self) -> str:
        try:
            return f"receipt {sync.once('pay', self._pay, within=60)}"
        finally:
            self.ended.set()

    def _pay(self) -> int:
        self.paid += 1
        anyio.from_thread.run_sync(self.paying.set)
        assert self.may_pay.wait(5)
        return self.paid


@pytest.mark.parametrize("is_paid", [False, True], ids=["in the effect", "after it"])
async def test_an_effect_under_way_when_the_client_cancels_is_finished_and_recorded(
    push_revision: str, is_paid: bool
):
    paying, store, wire = Paying(), SlowStore(), Crowd(1, push_revision)
    async with connect(lowlevel_of(mcpserver(paying.body, store=store)), wire):
        async with anyio.create_task_group() as calls:
            calls.start_soon(wire.send, "tools/call", {"name": "t"})
            with anyio.fail_after(5):
                await paying.paying.wait()
            if is_paid:
                paying.may_pay.set()
                with anyio.fail_after(5):
                    await store.recording.wait()
            calls.cancel_scope.cancel()
        await goes_on(wire)  # and so the cancellation was read before
        paying.may_pay.set()
        store.may_record.set()
        assert await anyio.to_thread.run_sync(partial(paying.ended.wait, 5))
        assert await text_of(wire, "t") == "receipt 1"
    assert paying.paid == 1


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
