"""A SQLite store among loops, threads and their ends."""

import asyncio
import gc
import threading
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from askback.errors import StoreUnavailable
from askback.stores import Finished, Granted, SQLiteStore, Verdict
from askback.stores.sqlite import worker
from askback.stores.sqlite.claims import Claims, Pending
from askback.stores.sqlite.file import File

T = TypeVar("T")

FAR = 4e9
BOUND = 20.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "askback.db"


def store_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "askback store"]


def in_a_loop_of_its_own(call: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(call, BOUND))


async def test_several_who_open_a_new_file_at_once_all_get_in(tmp_path: Path):
    for attempt in range(10):
        stores = [SQLiteStore(tmp_path / f"{attempt}.db") for _ in range(6)]
        async with anyio.create_task_group() as group:
            for store in stores:
                group.start_soon(store.append, b"line")
        assert len(await stores[0].read()) == len(stores)
        for store in stores:
            await store.close()


async def test_those_who_wait_in_one_process_are_woken_at_once(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker, "MIN_PAUSE", 2 * BOUND)
    store = SQLiteStore(path)
    claim = await store.claim("order", until=FAR)
    assert isinstance(claim, Granted)
    with anyio.fail_after(BOUND):
        async with asyncio.TaskGroup() as group:
            copies = [group.create_task(store.claim("order", until=FAR)) for _ in range(3)]
            visits = [group.create_task(store.wait("visit")) for _ in range(3)]
            await store.sweep()  # done by the thread when all before it is
            await store.release(claim)
            await store.settle("visit", b"yes", until=FAR)
            (again,) = (await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED))[0]
            taken_over = again.result()
            assert isinstance(taken_over, Granted)
            await store.record(taken_over, b"Order 1")
    assert [visit.result() for visit in visits] == [b"yes"] * 3
    assert sorted(copy.result() == Finished(b"Order 1") for copy in copies) == [False, True, True]
    await store.close()


async def test_closing_ends_the_thread_and_those_who_wait_learn_it(path: Path):
    before = set(store_threads())
    store = SQLiteStore(path)
    await store.claim("order", until=FAR)
    (thread,) = set(store_threads()) - before
    async with anyio.create_task_group() as group:

        async def wait() -> None:
            with pytest.raises(StoreUnavailable, match="closed while somebody waited"):
                await store.claim("order", until=FAR)

        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(BOUND):
            await store.close()
    thread.join(BOUND)
    assert not thread.is_alive()


async def test_a_store_that_is_dropped_takes_its_thread_along(path: Path):
    before = set(store_threads())
    store = SQLiteStore(path)
    await store.count()
    (thread,) = set(store_threads()) - before
    del store
    gc.collect()
    thread.join(BOUND)
    assert not thread.is_alive()


async def test_one_who_has_gone_is_not_tried_before_the_thread_hears_of_it(path: Path):
    tries: list[str] = []
    busy, ready = threading.Event(), threading.Event()

    def attempt(claims: Claims) -> Pending:
        tries.append("one who has gone")
        return Pending.PENDING

    def keep_busy(claims: Claims) -> bool:
        busy.set()
        return ready.wait(BOUND)

    thread = worker.Worker(File(path), clock=time.time, lease=15.0)
    topic = ("run", "order")
    parked = worker.Job[None](attempt, topic=topic)
    queued = worker.Job[None](attempt, topic=topic)
    thread.put(parked)
    thread.put(worker.Job[bool](keep_busy))
    thread.put(queued)
    thread.put(worker.Job[None](worker.do_nothing, topic=topic))
    await anyio.to_thread.run_sync(busy.wait, BOUND)
    assert tries
    tries.clear()
    thread.withdraw(parked)
    thread.withdraw(queued)
    ready.set()
    thread.end()
    with anyio.fail_after(BOUND):
        await anyio.to_thread.run_sync(thread.join)
    assert tries == []


def run_one_turn(loop: asyncio.AbstractEventLoop) -> None:
    loop.call_soon(loop.stop)
    loop.run_forever()


def test_a_claim_granted_to_a_loop_that_is_closed_is_handed_on(path: Path):
    store = SQLiteStore(path)

    async def claim() -> Verdict:
        return await store.claim("order", until=FAR)

    first = in_a_loop_of_its_own(claim())
    assert isinstance(first, Granted)
    closed = asyncio.new_event_loop()
    closed.set_exception_handler(
        lambda _loop, _context: None
    )  # that the waiter is never ended is what is acted out
    waiter = closed.create_task(claim())
    for _ in range(3):
        run_one_turn(closed)
    closed.close()
    in_a_loop_of_its_own(store.release(first))
    assert isinstance(in_a_loop_of_its_own(claim()), Granted)
    assert not waiter.done()
    del waiter
    gc.collect()  # the waiter ends here, where no loop runs
    in_a_loop_of_its_own(store.close())


async def test_one_who_is_alive_is_not_overtaken_however_long_it_takes(path: Path):
    runner, other = SQLiteStore(path, lease=1.2), SQLiteStore(path)
    claim = await runner.claim("order", until=FAR)
    assert isinstance(claim, Granted)
    with anyio.move_on_after(2.5) as patience:
        await other.claim("order", until=FAR)
    assert patience.cancelled_caught
    assert await runner.record(claim, b"Order 1")
    await runner.close()
    await other.close()


async def test_a_key_that_cannot_be_written_fails_alone(path: Path):
    store = SQLiteStore(path)
    with pytest.raises(UnicodeEncodeError):
        await store.claim("\ud800", until=FAR)
    assert isinstance(await store.claim("order", until=FAR), Granted)
    await store.close()
