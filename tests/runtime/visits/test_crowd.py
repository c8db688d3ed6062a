"""A thousand visits open at once on one server: each is woken by its own end, and each costs little."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import TypeAdapter

from tests.runtime.visits.crowd import MANY, Crowd, Report
from tests.support.paths import ROOT
from tests.support.visit_shops import CountingFile, CountingMemory

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


MOST_BYTES = 20 * 2**10
"""What a waiting visit may cost on 2026-07-28, beyond what the SDK needs for any request that waits."""

MOST_LEFT = 4 * 2**10
"""What may be there of it when it is over: its end and its round, until they expire."""


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return CountingMemory() if request.param == "memory" else CountingFile(tmp_path / "askback.db")


@pytest.mark.timeout(300)
async def test_of_a_thousand_that_wait_each_is_woken_by_its_own_end_and_nobody_looks_twice(store: Any):
    crowd, counting = Crowd(store), store.counting
    with anyio.fail_after(250):
        async with crowd.connected() as line:
            await crowd.set_out(range(MANY))
            assert len(set(crowd.ids.values())) == MANY
            assert counting.calls["wait"] == MANY
            looks = counting.calls["get"]
            for number in reversed(range(MANY)):
                assert await crowd.arrive(number) == f"{number}: Accepted(value={number})"
                assert not line.unread
    assert counting.calls["wait"] == MANY
    # Each `settle` looks whether there is such a visit; whoever waits does not look at anything.
    assert counting.calls["get"] - looks == MANY
    await store.close()


@pytest.mark.timeout(300)
def test_a_waiting_visit_costs_less_than_twenty_kibibytes():
    done = subprocess.run(
        [sys.executable, "-m", "tests.runtime.visits.crowd"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    report = TypeAdapter(Report).validate_json(done.stdout)
    assert report.visits == MANY
    assert report.waiting - report.plain < MOST_BYTES, report
    assert report.left < MOST_LEFT, report
