"""Several processes, and several event loops of one, on each store that they can share."""

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from askback.stores import Finished, RunnerDied, Verdict
from askback.testing.store_contract.base import granted
from tests.support.stores.processes import FAR
from tests.support.stores.race import BOUND, process, race_for_every_key, said_by
from tests.support.stores.shared import url as url
from tests.support.stores.url import FILE, opened

pytestmark = pytest.mark.slow

T = TypeVar("T")


def in_a_loop_of_its_own(call: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(call, BOUND))


def test_several_processes_run_every_key_once(url: str):
    race_for_every_key(url)


async def test_what_a_killed_process_was_running_is_taken_over_or_lost(url: str):
    store = opened(url)
    with process("hold", url) as holder:
        assert said_by(holder) == "ready"
        with anyio.move_on_after(0.2) as patience:
            await store.claim("order", until=FAR)
        assert patience.cancelled_caught, "it is alive"
        os.kill(holder.pid, signal.SIGKILL)
        assert holder.wait(BOUND) == -signal.SIGKILL
        with anyio.fail_after(BOUND):
            taken_over = granted(await store.claim("order", until=FAR))
            assert await store.claim("payment", until=FAR, takeover=False) == RunnerDied()
    assert taken_over.noted == b"noted by the dead"
    await store.record(taken_over, b"Order 1")
    assert await store.claim("order", until=FAR) == Finished(b"Order 1")
    await store.close()


def test_an_open_store_does_not_keep_its_process_alive(url: str):
    with process("leave", url) as leaver:
        assert said_by(leaver) == "ready"
        assert leaver.wait(BOUND) == 0


async def test_a_store_that_was_opened_before_a_fork_serves_both_processes(url: str):
    with process("fork", url) as parent:
        assert said_by(parent) == "ready 0"
        assert parent.wait(BOUND) == 0
    store = opened(url)
    lines = await store.read()
    assert [line for _number, line in lines] == [b"before", b"after", b"after"]
    await store.close()


def test_a_process_forks_only_while_its_store_rests(tmp_path: Path):
    """SQLite's alone: a lock of its own could be copied with the process."""
    with process("fork at work", f"{FILE}{tmp_path}/askback.db") as parent:
        assert said_by(parent) == "done forked"


def test_one_store_serves_several_loops_at_once(url: str):
    store = opened(url)
    all_there = threading.Barrier(5)
    verdicts: list[Verdict] = []

    async def run() -> None:
        claim = granted(await store.claim("order", until=FAR))
        await anyio.to_thread.run_sync(all_there.wait, BOUND)
        assert await store.record(claim, b"Order 1")

    async def copy() -> None:
        verdicts.append(await store.claim("order", until=FAR))

    def copy_in_a_thread() -> None:
        all_there.wait(BOUND)
        in_a_loop_of_its_own(copy())

    threads = [threading.Thread(target=copy_in_a_thread) for _ in range(4)]
    for thread in threads:
        thread.start()
    in_a_loop_of_its_own(run())
    for thread in threads:
        thread.join(BOUND)
    assert verdicts == [Finished(b"Order 1")] * 4
    in_a_loop_of_its_own(store.close())
