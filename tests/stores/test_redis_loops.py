"""A Redis store among loops, threads, processes and their ends."""

import asyncio
import gc
import os
import signal
import threading
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from askback.stores import Done, Lost, Mine, Verdict
from askback.stores.redis import RedisStore
from askback.testing.store_contract.base import granted
from tests.stores import racing
from tests.stores.racing import process, race_for_every_key, said_by
from tests.stores.redis import BOUND, FAR, shell, until

pytestmark = [pytest.mark.services, pytest.mark.slow]

T = TypeVar("T")


@pytest.fixture
def url(redis_url: str, tmp_path: Path) -> str:
    return f"{redis_url}?prefix={tmp_path}"


def keepers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "askback redis"}


def in_a_loop_of_its_own(call: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(call, BOUND))


def test_one_store_serves_several_loops_at_once(url: str):
    store = RedisStore(url)
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
    assert verdicts == [Done(b"Order 1")] * 4
    in_a_loop_of_its_own(store.close())


def test_what_was_being_run_on_a_loop_that_is_closed_is_taken_over(url: str):
    store = RedisStore(url, lease=0.3)

    async def claim() -> Verdict:
        return await store.claim("order", until=FAR)

    first, second = in_a_loop_of_its_own(claim()), in_a_loop_of_its_own(claim())
    assert isinstance(first, Mine) and isinstance(second, Mine)
    assert first.token != second.token
    in_a_loop_of_its_own(store.close())


async def test_a_store_that_is_dropped_takes_its_thread_and_connections_along(url: str):
    before = keepers()
    async with shell(url) as redis:
        clients = len((await redis.say("CLIENT", "LIST")).splitlines())
        store = RedisStore(url)
        granted(await store.claim("order", until=FAR))
        (thread,) = keepers() - before
        del store
        gc.collect()

        async def are_gone() -> bool:
            left = len((await redis.say("CLIENT", "LIST")).splitlines())
            return left <= clients and not thread.is_alive()

        await until(are_gone)


async def test_one_who_is_alive_is_not_overtaken_though_his_loop_is_held_up(url: str):
    other = RedisStore(url)
    taken = threading.Event()

    async def run() -> None:
        runner = RedisStore(url, lease=0.6)
        claim = granted(await runner.claim("order", until=FAR))
        taken.set()
        time.sleep(2)  # noqa: ASYNC251 - what is acted out: a body that does not let its loop go on
        assert await runner.record(claim, b"Order 1")
        await runner.close()

    thread = threading.Thread(target=lambda: in_a_loop_of_its_own(run()))
    thread.start()
    await anyio.to_thread.run_sync(taken.wait, BOUND)
    with anyio.fail_after(BOUND):
        assert await other.claim("order", until=FAR) == Done(b"Order 1")
    thread.join(BOUND)
    await other.close()


# Processes.


def test_several_processes_run_every_key_once(url: str):
    race_for_every_key(url)


async def test_what_a_killed_process_was_running_is_taken_over_or_lost(url: str):
    store = RedisStore(url)
    with process("hold", url) as holder:
        assert said_by(holder) == "ready"
        os.kill(holder.pid, signal.SIGKILL)
        assert holder.wait(racing.BOUND) == -signal.SIGKILL
        with anyio.fail_after(BOUND):
            taken_over = granted(await store.claim("order", until=FAR))
            assert await store.claim("payment", until=FAR, takeover=False) == Lost()
    assert taken_over.noted == b"noted by the dead"
    assert await store.record(taken_over, b"Order 1")
    assert await store.claim("order", until=FAR) == Done(b"Order 1")
    await store.close()


def test_an_open_store_does_not_keep_its_process_alive(url: str):
    with process("leave", url) as leaver:
        assert said_by(leaver) == "ready"
        assert leaver.wait(racing.BOUND) == 0


async def test_a_store_that_was_opened_before_a_fork_serves_both_processes(url: str):
    with process("fork", url) as parent:
        assert said_by(parent) == "ready 0"
        assert parent.wait(racing.BOUND) == 0
    store = RedisStore(url)
    assert [line for _number, line in await store.read()] == [b"before", b"after", b"after"]
    await store.close()
