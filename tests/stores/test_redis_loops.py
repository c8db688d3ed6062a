"""A Redis store among loops, threads and their ends."""

import asyncio
import gc
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from askback.stores import Finished, Granted, Verdict
from askback.stores.redis import RedisStore
from askback.stores.redis.keys import Keys
from askback.testing.store_contract.base import begin, granted
from tests.support.stores.postgres import schema_of
from tests.support.stores.redis import BOUND, FAR, shell, until

pytestmark = [pytest.mark.services, pytest.mark.slow]

T = TypeVar("T")


@pytest.fixture
def url(redis_url: str, tmp_path: Path) -> str:
    return f"{redis_url}?prefix={schema_of(tmp_path)}"


def keepers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "askback leases"}


def in_a_loop_of_its_own(call: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(call, BOUND))


def test_what_was_being_run_on_a_loop_that_is_closed_is_taken_over(url: str):
    store = RedisStore(url, lease=0.3)

    async def claim() -> Verdict:
        return await store.claim("order", until=FAR)

    first, second = in_a_loop_of_its_own(claim()), in_a_loop_of_its_own(claim())
    assert isinstance(first, Granted) and isinstance(second, Granted)
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


async def test_one_who_is_alive_is_not_overtaken_though_his_loop_is_held_up(url: str, tmp_path: Path):
    other = RedisStore(url)
    held, done = threading.Event(), threading.Event()

    async def run() -> None:
        runner = RedisStore(url, lease=0.6)
        claim = granted(await runner.claim("order", until=FAR))
        held.set()
        done.wait(BOUND)  # what is acted out: a body that does not let its loop go on
        assert await runner.record(claim, b"Order 1")
        await runner.close()

    thread = threading.Thread(target=lambda: in_a_loop_of_its_own(run()))
    thread.start()
    await anyio.to_thread.run_sync(held.wait, BOUND)
    async with anyio.create_task_group() as group, shell(url) as redis:
        copy = await begin(group, lambda: other.claim("order", until=FAR))
        row = Keys(schema_of(tmp_path)).claim("order")
        first = int(await redis.say("HGET", row, "alive"))

        async def has_lived_on() -> bool:
            return int(await redis.say("HGET", row, "alive")) > first + 1000

        await until(has_lived_on)
        done.set()
        assert await copy.outcome() == Finished(b"Order 1")
    thread.join(BOUND)
    await other.close()
