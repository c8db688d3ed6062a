"""What only the store in memory does: it forgets results to stay small, and lives on one event loop."""

import asyncio
import gc
import threading
import tracemalloc
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import pytest

from askback.errors import OperatorError, StoreUnavailable
from askback.stores import Finished, Granted, MemoryStore, Rejected, RunnerDied, memory
from askback.testing.store_contract import Clock

HOUR = 3600.0


async def finish(store: MemoryStore, key: str, *, turn: int = 0, until: float) -> None:
    claim = await store.claim(key, turn=turn, until=until)
    assert isinstance(claim, Granted)
    assert await store.record(claim, key.encode())


async def test_the_oldest_results_go_first():
    clock = Clock()
    store = MemoryStore(max_results=3, clock=clock)
    for number in range(5):
        await finish(store, f"key {number}", until=clock.hence(HOUR))
    assert await store.count() == 3
    verdicts = [await store.claim(f"key {number}", until=clock.hence(HOUR)) for number in range(5)]
    assert verdicts == [Rejected(), Rejected(), Finished(b"key 2"), Finished(b"key 3"), Finished(b"key 4")]


async def test_a_turn_whose_result_had_to_go_never_runs_again_and_the_next_one_may():
    clock = Clock()
    store = MemoryStore(max_results=1, clock=clock)
    for turn in range(4):
        await finish(store, "order", turn=turn, until=clock.hence(HOUR))
    await finish(store, "another", until=clock.hence(HOUR))
    for turn in range(4):
        assert await store.claim("order", turn=turn, until=clock.hence(HOUR)) == Rejected()
    assert isinstance(await store.claim("order", turn=4, until=clock.hence(HOUR)), Granted)
    assert await store.claim("order", turn=3, until=clock.hence(HOUR)) == Rejected()


async def test_a_turn_whose_result_had_to_go_may_run_again_when_its_time_is_over():
    clock = Clock()
    store = MemoryStore(max_results=1, clock=clock)
    await finish(store, "order", until=clock.hence(HOUR))
    await finish(store, "another", until=clock.hence(HOUR))
    clock.advance(HOUR - 1)
    assert await store.claim("order", until=clock.hence(HOUR)) == Rejected()
    clock.advance(1)
    assert isinstance(await store.claim("order", until=clock.hence(HOUR)), Granted)


async def test_what_is_being_run_is_never_forgotten():
    clock = Clock()
    store = MemoryStore(max_results=1, clock=clock)
    claims = [await store.claim(f"key {number}", until=clock.hence(HOUR)) for number in range(10)]
    assert await store.count() == 10
    for number, claim in enumerate(claims):
        assert isinstance(claim, Granted)
        assert await store.record(claim, b"%d" % number)
    assert await store.claim("key 9", until=clock.hence(HOUR)) == Finished(b"9")
    assert await store.count() == 1


async def test_a_note_that_had_to_go_takes_its_turn_along():
    clock = Clock()
    store = MemoryStore(max_results=1, clock=clock)
    claim = await store.claim("order", until=clock.hence(HOUR))
    assert isinstance(claim, Granted)
    await store.note(claim, b"placed")
    await store.release(claim)
    await finish(store, "another", until=clock.hence(HOUR))
    assert await store.claim("order", until=clock.hence(HOUR)) == Rejected()


async def test_a_waiter_gets_its_result_even_if_that_has_to_go_at_once():
    clock = Clock()
    store = MemoryStore(max_results=1, clock=clock)
    claim = await store.claim("order", until=clock.hence(HOUR))
    assert isinstance(claim, Granted)
    with anyio.fail_after(5):
        async with asyncio.TaskGroup() as group:
            waiter = group.create_task(store.claim("order", until=clock.hence(HOUR)))
            await anyio.lowlevel.checkpoint()
            await store.record(claim, b"Order 1")
            await finish(store, "another", until=clock.hence(HOUR))
    assert waiter.result() == Finished(b"Order 1")


async def test_the_last_lines_of_the_ledger_keep_their_numbers():
    store = MemoryStore(max_results=3)
    for number in range(1, 6):
        assert await store.append(b"%d" % number) == number
    assert await store.read() == [(3, b"3"), (4, b"4"), (5, b"5")]
    assert await store.read(after=4) == [(5, b"5")]


async def test_what_has_expired_goes_by_itself_as_calls_come_in():
    clock = Clock()
    store = MemoryStore(clock=clock)
    for number in range(100):
        await finish(store, f"key {number}", until=clock.hence(60 + number))
    clock.advance(HOUR)
    await store.get("anybody", "anything")
    assert await store.sweep() == 0


async def test_a_full_store_forgets_refused_claims_as_they_expire():
    clock = Clock()
    store = MemoryStore(max_results=1, clock=clock)
    await finish(store, "long", until=clock.hence(2 * HOUR))
    await finish(store, "short", until=clock.hence(HOUR))
    clock.advance(HOUR)
    assert await store.sweep() == 1
    assert await store.claim("long", until=clock.hence(HOUR)) == Rejected()
    clock.advance(HOUR)
    await store.get("anybody", "anything")
    assert isinstance(await store.claim("long", until=clock.hence(HOUR)), Granted)


async def test_a_sweep_says_how_much_has_gone():
    clock = Clock()
    store = MemoryStore(clock=clock)
    for number in range(100):
        await finish(store, f"key {number}", until=clock.hence(1 + number))
    clock.advance(50)
    assert await store.sweep() == 50


def test_a_store_without_room_is_refused():
    with pytest.raises(OperatorError, match="room for 1 result"):
        MemoryStore(max_results=0)


# Loops.


@contextmanager
def another_loop() -> Generator[asyncio.AbstractEventLoop]:
    """Running in a thread of its own; closed at the end."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def test_a_store_in_use_on_another_loop_says_so_instead_of_hanging():
    store, clock = MemoryStore(), Clock()
    with another_loop() as loop:
        claim = asyncio.run_coroutine_threadsafe(store.claim("order", until=clock.hence(HOUR)), loop).result(
            10
        )
        assert isinstance(claim, Granted)
        with pytest.raises(OperatorError, match="another event loop"):
            await store.claim("order", until=clock.hence(HOUR))
        with pytest.raises(OperatorError, match="another event loop"):
            await store.record(claim, b"from the wrong loop")
        assert asyncio.run_coroutine_threadsafe(store.record(claim, b"right"), loop).result(10)
    assert await store.claim("order", until=clock.hence(HOUR)) == Finished(b"right")


async def test_a_store_waited_for_on_another_loop_says_so_instead_of_hanging():
    store, clock = MemoryStore(), Clock()
    with another_loop() as loop:
        waiting = asyncio.run_coroutine_threadsafe(store.wait("visit"), loop)
        asyncio.run_coroutine_threadsafe(anyio.lowlevel.checkpoint(), loop).result(10)
        with pytest.raises(OperatorError, match="another event loop"):
            await store.settle("visit", b"yes", until=clock.hence(HOUR))
        asyncio.run_coroutine_threadsafe(store.settle("visit", b"no", until=clock.hence(HOUR)), loop).result(
            10
        )
        assert waiting.result(10) == b"no"


def test_what_was_being_run_on_a_loop_that_is_closed_may_be_taken_over():
    store, clock = MemoryStore(), Clock()

    async def begin() -> None:
        claim = await store.claim("order", turn=1, digest="yes", until=clock.hence(HOUR))
        assert isinstance(claim, Granted)
        await store.note(claim, b"placed")

    async def take_over() -> None:
        assert await store.claim("order", turn=1, digest="no", until=clock.hence(HOUR)) == Rejected()
        assert (
            await store.claim("order", turn=1, digest="yes", until=clock.hence(HOUR), takeover=False)
            == RunnerDied()
        )
        again = await store.claim("order", turn=1, digest="yes", until=clock.hence(HOUR))
        assert isinstance(again, Granted)
        assert again.noted == b"placed"

    asyncio.run(begin())
    asyncio.run(take_over())


# Memory.


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_conversation_whose_result_had_to_go_takes_little_memory():
    clock = Clock()
    store = MemoryStore(clock=clock)
    until = clock.hence(HOUR)
    taken: dict[int, int] = {}
    tracemalloc.start()
    try:
        for number in range(1, 30_001):
            claim = await store.claim(f"{number:032x}", turn=2, digest=f"{number:064x}", until=until)
            assert isinstance(claim, Granted), f"conversation {number} was refused"
            await store.record(claim, b"Order number %d, with a drink and a tip" % number)
            if number in {10_000, 30_000}:
                gc.collect()
                taken[number], _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken[30_000] - taken[10_000] <= 20_000 * 300
    clock.advance(HOUR)
    assert await store.sweep() == 10_000
    assert await store.count() == 0


async def test_a_store_that_can_remember_no_more_claims_refuses_new_keys_until_some_expire(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(memory, "MAX_EVICTED", 2)
    clock = Clock()
    store = MemoryStore(max_results=1, clock=clock)
    for number in range(3):
        await finish(store, f"key {number}", turn=1, until=clock.hence(HOUR))
    with pytest.raises(StoreUnavailable, match="sqlite://"):
        await store.claim("new", until=clock.hence(HOUR))
    assert await store.claim("key 0", turn=1, until=clock.hence(HOUR)) == Rejected()
    assert await store.claim("key 2", turn=1, until=clock.hence(HOUR)) == Finished(b"key 2")
    await finish(store, "key 0", turn=2, until=clock.hence(HOUR))
    clock.advance(HOUR)
    assert isinstance(await store.claim("new", until=clock.hence(HOUR)), Granted)


async def test_an_earlier_turn_stays_refused_when_a_later_one_expires_first():
    clock = Clock()
    store = MemoryStore(max_results=1, clock=clock)
    for turn, seconds in ((1, HOUR), (2, 60)):
        await finish(store, "order", turn=turn, until=clock.hence(seconds))
        await finish(store, f"another {turn}", until=clock.hence(HOUR))
    clock.advance(60)
    assert await store.claim("order", turn=1, until=clock.hence(HOUR)) == Rejected()
