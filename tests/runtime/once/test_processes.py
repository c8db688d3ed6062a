"""Several processes with the same keys and one file: a round is run once among them, also where one of them dies."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.once.kitchen import POINTS, Point
from tests.runtime.once.servers import KINDS, Host
from tests.runtime.once.test_cancelled import is_allowed
from tests.runtime.once.workers import ROOT, Crew, crew, nursed
from tests.support.deliveries import REFUSED, End, all_alike, text_of
from tests.support.raw import accepting, answering

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39"), pytest.mark.slow, pytest.mark.timeout(180)]

YES = accepting(value=True)

FIFTY, FOUR = 50, 4

LEASE, SHORT_LEASE = 15.0, 1.0
"""Seconds after which a process that says nothing is taken for dead."""


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with nursed(tmp_path_factory.mktemp("once")) as address:
        yield address


async def test_fifty_deliveries_to_four_processes_run_the_effects_once_and_end_alike(
    host: Host, nursery: Path, tmp_path: Path
):
    async with crew(nursery, tmp_path, count=FOUR, lease=LEASE) as bakers:
        for kind in KINDS:
            told = {"host": host, "kind": kind, "stop": "during"}
            first = await bakers.workers[0].deliver(kind, fields={}, **told)
            seconds = await fifty(bakers, kind, fields=answering(first, ask_1=YES), **told)
            assert bakers.traces(kind) == ["pizza"]
            assert all_alike(seconds) and list(seconds[0]["inputRequests"]) == ["ask-2"]
            # Whoever got a copy can go on with it, in any process.
            some = zip(seconds[:: FIFTY // 10], bakers.workers * FOUR, strict=False)
            lasts = [
                await worker.deliver(kind, fields=answering(second, ask_2=YES), **told)
                for second, worker in some
            ]
            assert bakers.traces(kind) == ["pizza", "ice cream"]
            assert all_alike(lasts) and text_of(lasts[0]) == "here is pizza 1, 1 ice cream"


async def fifty(bakers: Crew, label: str, **told: Any) -> list[End]:
    """All are under way before the one that runs may go on."""
    turns = (bakers.workers * FIFTY)[:FIFTY]
    numbers = [(worker, await worker.tell(label, **told)) for worker in turns]
    for worker in bakers.workers:
        await worker.go_on(label)
    return [await worker.end(number) for worker, number in numbers]


@pytest.mark.parametrize("point", POINTS)
async def test_when_the_process_that_runs_a_round_is_killed_another_takes_over(
    point: Point, host: Host, nursery: Path, tmp_path: Path
):
    async with crew(nursery, tmp_path, count=3, lease=SHORT_LEASE) as bakers:
        doomed, *others = bakers.workers
        told = {"host": host, "kind": "tool", "stop": point}
        first = await doomed.deliver(point, fields={}, **told)
        retry = {**told, "fields": answering(first, ask_1=YES)}
        await doomed.tell(point, **retry)
        await doomed.reached(point)
        waiting = [(worker, await worker.tell(point, **{**retry, "stop": None})) for worker in others * 2]
        await doomed.kill()
        ends = [await worker.end(number) for worker, number in waiting]
        assert bakers.traces(point) == ["pizza"]
        assert all_alike(ends)
        if point == "during":
            assert is_allowed(point, ends[0])
            return
        assert list(ends[0]["inputRequests"]) == ["ask-2"]
        end = await others[0].deliver(point, **{**retry, "fields": answering(ends[0], ask_2=YES)})
        assert text_of(end) == "here is pizza 1, 1 ice cream"
        assert bakers.traces(point) == ["pizza", "ice cream"]


async def test_of_two_effects_side_by_side_neither_is_run_again_when_their_process_is_killed(
    host: Host, nursery: Path, tmp_path: Path
):
    async with crew(nursery, tmp_path, count=2, lease=SHORT_LEASE) as bakers:
        doomed, other = bakers.workers
        told = {"host": host, "kind": "tool", "double": True}
        first = await doomed.deliver("double", fields={}, **told, stop="during")
        retry = {**told, "fields": answering(first, ask_1=YES)}
        await doomed.tell("double", **retry)
        await doomed.reached("double")
        await doomed.kill()
        end = await other.deliver("double", **retry)
        assert sorted(bakers.traces("double")) == ["pasta", "pizza"]
        assert text_of(end) == "pasta Interrupted, pizza Interrupted"


async def test_a_process_that_was_taken_for_dead_begins_nothing_when_it_goes_on(
    host: Host, nursery: Path, tmp_path: Path
):
    """As when a machine sleeps: its lease ran out, another took over, and then it wakes up."""
    async with crew(nursery, tmp_path, count=2, lease=SHORT_LEASE) as bakers:
        sleeper, other = bakers.workers
        told = {"host": host, "kind": "tool"}
        first = await sleeper.deliver("sleep", fields={}, stop="before", **told)
        retry = {**told, "fields": answering(first, ask_1=YES)}
        number = await sleeper.tell("sleep", **retry)
        await sleeper.reached("sleep")
        sleeper.stop()
        second = await other.deliver("sleep", **retry)
        assert list(second["inputRequests"]) == ["ask-2"]
        sleeper.wake()
        await sleeper.go_on("sleep")
        assert text_of(await sleeper.end(number)) == REFUSED["message"]
        assert bakers.traces("sleep") == ["pizza"]


def test_workers_that_are_forked_from_one_server_never_take_each_others_conversations_for_copies(
    tmp_path: Path,
):
    command = [sys.executable, "-m", "tests.runtime.once.forked", str(tmp_path / "once.db")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    ends: list[End] = [json.loads(line) for line in done.stdout.splitlines()]
    assert [text_of(end) for end in ends] == ["letters of Ada", "letters of Bob"]
