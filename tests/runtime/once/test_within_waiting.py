"""`once(..., within=...)` in calls side by side: one runs the effect, and nobody waits for what never comes."""

from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest

from askback import Accepted, ask, once
from askback.errors import RoundRefused
from askback.server.hosts import lowlevel_of
from askback.stores import Store
from askback.testing.run import FORMS, Wire, connect
from askback.testing.script import Script
from tests.runtime.once.bank import HOUR, Bank
from tests.runtime.once.kitchen import Kitchen, until_cut
from tests.runtime.once.servers import Host, serve
from tests.support.clock import Clock
from tests.support.deliveries import INTERRUPTED, PATIENCE, End, end_of, ends_of, text_of
from tests.support.raw import Raw, accepting, answering, raw_client
from tests.support.tool_servers import mcpserver

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]


def collecting(client: Raw) -> tuple[list[End], Callable[[], Coroutine[Any, Any, None]]]:
    """The ends of the calls made with it, as they come."""
    ends: list[End] = []

    async def call() -> None:
        ends.append(await client.call())

    return ends, call


async def test_of_calls_side_by_side_one_runs_it_and_the_others_wait(host: Host, store: Store):
    kitchen = Kitchen("during")

    async def body() -> str:
        return await once("bake", kitchen.bake, within=HOUR)

    async with raw_client(serve(host, body, store=store)) as client:
        ends, call = collecting(client)
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                for _ in range(10):
                    tasks.start_soon(call)
                await kitchen.reached.wait()
                kitchen.go_on.set()
    assert [text_of(end) for end in ends] == ["pizza 1"] * 10
    assert kitchen.baked == ["pizza"]


async def test_who_waits_goes_on_waiting_when_the_time_is_over_before_the_effect():
    kitchen, clock = Kitchen("during"), Clock()

    async def body() -> str:
        return await once("bake", kitchen.bake, within=1)

    async with raw_client(mcpserver(body, clock=clock)) as client:
        ends, call = collecting(client)
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                await kitchen.reached.wait()
                clock.now += 5
                tasks.start_soon(call)
                for _ in range(20):
                    await anyio.lowlevel.checkpoint()
                assert ends == []
                kitchen.go_on.set()
    assert [text_of(end) for end in ends] == ["pizza 1"] * 2
    assert kitchen.baked == ["pizza"]


async def test_an_effect_that_was_cut_short_is_refused_to_later_calls(host: Host, store: Store):
    kitchen = Kitchen("during")

    async def body() -> str:
        return await once("bake", kitchen.bake, within=HOUR)

    async with raw_client(serve(host, body, store=store)) as client:
        await until_cut(kitchen, client.call)
        ends = await ends_of([client.call() for _ in range(3)])
    assert all(INTERRUPTED.format("bake") in text_of(end) for end in ends), ends
    assert kitchen.baked == ["pizza"]


async def test_a_call_that_gives_up_waiting_takes_nothing_from_the_others(host: Host, store: Store):
    kitchen = Kitchen("during")

    async def body() -> str:
        return await once("bake", kitchen.bake, within=HOUR)

    async with raw_client(serve(host, body, store=store)) as client:
        ends, call = collecting(client)
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                await kitchen.reached.wait()
                tasks.start_soon(call)
                async with anyio.create_task_group() as impatient:
                    impatient.start_soon(call)
                    for _ in range(20):
                        await anyio.lowlevel.checkpoint()
                    impatient.cancel_scope.cancel()
                kitchen.go_on.set()
    assert [text_of(end) for end in ends] == ["pizza 1"] * 2


async def test_a_call_of_the_push_era_that_the_client_cancels_leaves_nobody_waiting(store: Store):
    kitchen = Kitchen("during")

    async def body() -> str:
        return await once("bake", kitchen.bake, within=HOUR)

    wire = Wire(version="2025-11-25", capabilities=FORMS, script=Script())
    async with connect(lowlevel_of(mcpserver(body, store=store)), wire):
        await until_cut(kitchen, lambda: wire.send("tools/call", {"name": "t", "arguments": {}}))
        end = await end_of(wire.send("tools/call", {"name": "t", "arguments": {}}))
    assert INTERRUPTED.format("bake") in text_of(end)


async def test_calls_that_want_the_same_two_in_another_order_do_not_wait_for_each_other(store: Store):
    bank = Bank()
    orders = [["left", "right"], ["right", "left"]]

    async def body() -> str:
        for key in orders.pop():
            await once(key, bank.transfer, key, within=HOUR)
            await anyio.lowlevel.checkpoint()
        return "done"

    async with raw_client(mcpserver(body, store=store)) as client:
        ends = await ends_of([client.call(), client.call()])
    assert [text_of(end) for end in ends] == ["done", "done"]
    assert sorted(bank.made) == ["left", "right"]


async def test_an_effect_that_outlives_its_round_leaves_nobody_waiting(host: Host, store: Store):
    """The body does not wait for it, and its end finds the round over."""
    kitchen = Kitchen("during")

    async def bake_behind() -> None:
        with pytest.raises(RoundRefused):
            await once("bake", kitchen.bake, within=HOUR)

    async def body() -> str:
        if await ask("Wait for it?", bool) == Accepted(True):
            return await once("bake", kitchen.bake, within=HOUR)
        background.start_soon(bake_behind)
        await kitchen.reached.wait()
        return "it is in the oven"

    async with anyio.create_task_group() as background, raw_client(serve(host, body, store=store)) as client:
        first = await client.call()
        end = await end_of(client.call(**answering(first, ask_1=accepting(value=False))))
        assert text_of(end) == "it is in the oven"
        kitchen.go_on.set()
        anew = await client.call()
        end = await end_of(client.call(**answering(anew, ask_1=accepting(value=True))))
        assert text_of(end) == "pizza 1"
    assert kitchen.baked == ["pizza"]
