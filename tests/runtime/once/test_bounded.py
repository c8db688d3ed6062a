"""What is kept is bounded: by a cap, by the life of the seal, and by nothing at all for those who never come back."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from pydantic import TypeAdapter

from askback import ask, once
from askback.model.durations import CLOCK_SKEW
from askback.server.askback import THINK_TIME
from askback.stores import MemoryStore, SQLiteStore
from tests.protocol.endurance import STATM
from tests.runtime.once.endurance import ALL, FEW, FIRST, Report
from tests.support.clock import Clock
from tests.support.direct_middleware import Direct
from tests.support.omission import leave_out
from tests.support.paths import ROOT
from tests.support.raw import accepting, answering

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39", "R40")]


MAX_EVICTED_BYTES = 250
"""Of a finished conversation whose result made room for newer ones: only that it was run is remembered."""

REDEEMABLE = THINK_TIME.total_seconds() + 2 * CLOCK_SKEW
"""Seconds after which no worker takes a state any more, whatever its clock says."""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_of_a_hundred_thousand_conversations_those_whose_results_are_dropped_cost_little():
    if not STATM.exists():
        leave_out(f"Memory is read from {STATM}, which this system does not have. Run it on Linux.")
    done = subprocess.run(
        [sys.executable, "-m", "tests.runtime.once.endurance"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    report = TypeAdapter(Report).validate_json(done.stdout)
    assert ALL == 10 * FIRST == 100_000
    assert report.after_first.rows == FIRST and 0.99 * FIRST <= report.after_all.rows <= FIRST
    kept = report.after_first.blocks - report.empty.blocks
    evicted = ALL - FIRST
    assert report.after_all.resident - report.after_first.resident < evicted * MAX_EVICTED_BYTES, report
    assert report.traced_all - report.traced_first < (FIRST - FEW) * MAX_EVICTED_BYTES, report
    assert report.after_abandoned.rows == report.after_all.rows, report
    assert report.after_abandoned.blocks - report.after_all.blocks < kept / 100, report
    assert report.expired.rows == 0, report
    assert report.expired.blocks - report.empty.blocks < kept / 100, report


async def body() -> str:
    await ask("Sure?", bool)
    await once("effect", lambda: "done")
    await ask("Really?", bool)
    return "done"


YES = accepting(value=True)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_conversation_costs_one_row_from_its_second_round_until_its_seal_expires(
    kind: str, tmp_path: Path
):
    clock = Clock()
    store = MemoryStore(clock=clock) if kind == "memory" else SQLiteStore(tmp_path / "once.db", clock=clock)
    direct = Direct(store=store, clock=clock)
    counts: list[int] = []
    firsts = [await direct.call(body) for _ in range(5)]
    counts.append(await store.count())
    seconds = [await direct.call(body, **answering(first, ask_1=YES)) for first in firsts]
    counts.append(await store.count())
    for second in seconds[:3]:
        await direct.call(body, **answering(second, ask_2=YES))
    counts.append(await store.count())
    assert counts == [0, 5, 5]
    clock.now += REDEEMABLE
    assert await store.count() == 0
    await store.close()


async def test_a_store_that_is_asked_nothing_more_is_swept_by_the_next_who_comes():
    clock = Clock()
    store = MemoryStore(clock=clock)
    direct = Direct(store=store, clock=clock)
    for _ in range(100):
        first = await direct.call(body)
        await direct.call(body, **answering(first, ask_1=YES))
    clock.now += REDEEMABLE
    first = await direct.call(body)
    await direct.call(body, **answering(first, ask_1=YES))
    assert await store.count() == 1
    assert await store.sweep() == 0


async def test_runs_that_were_cancelled_after_their_effect_count_against_the_cap():
    """A client that cancels every round would else have a row in memory for each, for an hour."""
    store = MemoryStore(max_results=10)
    direct = Direct(store=store)
    reached: list[anyio.Event] = []

    async def stuck() -> str:
        await ask("Sure?", bool)
        await once("effect", lambda: "x" * 1_000)
        reached[-1].set()
        await anyio.sleep_forever()
        return "never"

    for _ in range(50):
        first = await direct.call(stuck)
        reached.append(anyio.Event())
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda one=first: direct.call(stuck, **answering(one, ask_1=YES)))
                await reached[-1].wait()
                tasks.cancel_scope.cancel()
    assert await store.count() <= 10


async def test_runs_that_were_cancelled_before_any_effect_leave_nothing(tmp_path: Path):
    stores = [MemoryStore(), SQLiteStore(tmp_path / "once.db")]
    for store in stores:
        direct = Direct(store=store)
        reached = anyio.Event()

        async def stuck(reached: anyio.Event = reached) -> str:
            await ask("Sure?", bool)
            reached.set()
            await anyio.sleep_forever()
            return "never"

        first = await direct.call(stuck)
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(
                    lambda one=first, direct=direct, stuck=stuck: direct.call(
                        stuck, **answering(one, ask_1=YES)
                    )
                )
                await reached.wait()
                tasks.cancel_scope.cancel()
        assert await store.count() == 0
        await store.close()
