"""Threads that wait for people take no place from the host's other work, up to a limit."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio.to_thread import current_default_thread_limiter
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from askback import Accepted, Askback, sync
from askback.server.hosts import lowlevel_of
from askback.testing.run import connect
from tests.sync.crowd import Crowd, asked, text_of, total

pytestmark = pytest.mark.anyio


def shop() -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("shop")
    Askback(server)

    @server.tool()
    def t() -> str:
        return str(sync.ask("Sure?", bool))

    @server.tool()
    def quick() -> str:
        return "at once"

    return server


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
    monkeypatch.setattr(sync, "MAX_PARKED", 3)
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
