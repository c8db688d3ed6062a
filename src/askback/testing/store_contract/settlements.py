"""Settle, wait and spend: the first wins, and the others learn it."""

from functools import partial

import anyio

from askback.model.store import Store
from askback.testing.store_contract.base import HOUR, Clock, Contract, begin, bounded, together

CROWD = 50


class SettleContract(Contract):
    async def test_the_first_value_stands(self, store: Store, other: Store, clock: Clock):
        assert await store.settle("visit", b"yes", until=clock.hence(HOUR)) == b"yes"
        assert await other.settle("visit", b"no", until=clock.hence(HOUR)) == b"yes"
        assert await other.wait("visit") == b"yes"

    async def test_of_fifty_who_settle_one_wins_and_all_learn_it(
        self, store: Store, other: Store, clock: Clock
    ):
        async def settle(number: int) -> bytes:
            mine = (store, other)[number % 2]
            return await mine.settle("visit", b"value %d" % number, until=clock.hence(HOUR))

        values = await together(*(partial(settle, number) for number in range(CROWD)))
        assert len(values) == CROWD
        assert len(set(values)) == 1

    async def test_all_who_wait_are_woken(self, store: Store, other: Store, clock: Clock):
        async with anyio.create_task_group() as group:
            waiters = [
                await begin(group, partial(copy.wait, "visit", seconds=seconds))
                for copy in (store, other, store)
                for seconds in (None, HOUR)
            ]
            assert all(waiter.is_waiting for waiter in waiters)
            await store.settle("visit", b"yes", until=clock.hence(HOUR))
            for waiter in waiters:
                assert await waiter.outcome() == b"yes"

    async def test_whoever_waits_long_enough_gets_nothing(self, store: Store, clock: Clock):
        assert await bounded(store.wait("visit", seconds=0)) is None
        assert await bounded(store.wait("visit", seconds=0.05)) is None
        await store.settle("visit", b"yes", until=clock.hence(HOUR))
        assert await bounded(store.wait("visit", seconds=0)) == b"yes"

    async def test_one_who_stops_waiting_leaves_the_others_waiting(self, store: Store, clock: Clock):
        async with anyio.create_task_group() as group:
            gone, there = [await begin(group, lambda: store.wait("visit")) for _ in range(2)]
            gone.cancel()
            assert await gone.outcome() is None
            await store.settle("visit", b"", until=clock.hence(HOUR))
            assert await there.outcome() == b""

    async def test_what_was_settled_is_forgotten_in_its_time(self, store: Store, other: Store, clock: Clock):
        await store.settle("visit", b"yes", until=clock.hence(60))
        clock.advance(60)
        assert await other.wait("visit", seconds=0) is None
        assert await other.settle("visit", b"no", until=clock.hence(60)) == b"no"

    async def test_a_key_is_spent_once(self, store: Store, other: Store, clock: Clock):
        assert await store.spend("link", until=clock.hence(60))
        assert not await other.spend("link", until=clock.hence(60))
        clock.advance(60)
        assert await other.spend("link", until=clock.hence(60))

    async def test_of_fifty_who_spend_one_succeeds(self, store: Store, other: Store, clock: Clock):
        crowd = [(store, other)[number % 2] for number in range(CROWD)]
        spent = await together(*(partial(copy.spend, "link", until=clock.hence(HOUR)) for copy in crowd))
        assert sorted(spent) == [False] * (CROWD - 1) + [True]

    async def test_each_verb_has_keys_of_its_own(self, store: Store, clock: Clock):
        assert await store.spend("key", until=clock.hence(HOUR))
        assert await store.settle("key", b"yes", until=clock.hence(HOUR)) == b"yes"
        await store.claim("key", until=clock.hence(HOUR))
        await store.put("key", "key", b"secret")
        assert await store.count() == 4
