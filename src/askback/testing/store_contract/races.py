"""Many at once: one claim runs, one settlement stands, the others wait and learn it."""

from functools import partial

import anyio

from askback.model.store import Finished, Granted, Rejected, Store, Verdict
from askback.testing.store_contract.base import HOUR, Clock, Contract, begin, bounded, granted, together

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


class RaceContract(Contract):
    async def test_of_fifty_copies_one_runs_and_all_get_its_result(
        self, store: Store, other: Store, clock: Clock
    ):
        runs: list[Granted] = []

        async def deliver(store: Store) -> bytes:
            verdict = await store.claim("order", turn=1, digest="yes", until=clock.hence(HOUR))
            if isinstance(verdict, Granted):
                runs.append(verdict)
                await anyio.lowlevel.checkpoint()
                assert await store.record(verdict, b"Order 1")
                return b"Order 1"
            assert isinstance(verdict, Finished)
            return verdict.result

        copies = [partial(deliver, store if number % 2 else other) for number in range(CROWD)]
        assert await together(*copies) == [b"Order 1"] * CROWD
        assert len(runs) == 1

    async def test_of_fifty_waiters_one_takes_over_each_time_it_is_released(
        self, store: Store, other: Store, clock: Clock
    ):
        running, runs = 0, 0

        async def deliver(store: Store) -> Verdict:
            nonlocal running, runs
            verdict = await store.claim("order", until=clock.hence(HOUR))
            if isinstance(verdict, Granted):
                running, runs = running + 1, runs + 1
                assert running == 1
                await anyio.lowlevel.checkpoint()
                running -= 1
                if runs < 5:
                    await store.release(verdict)
                else:
                    await store.record(verdict, b"Order 1")
            return verdict

        copies = [partial(deliver, store if number % 2 else other) for number in range(CROWD)]
        verdicts = await together(*copies)
        assert runs == 5
        assert sum(verdict == Finished(b"Order 1") for verdict in verdicts) == CROWD - 5

    async def test_many_keys_do_not_disturb_each_other(self, store: Store, other: Store, clock: Clock):
        async def deliver(store: Store, key: str) -> bytes:
            verdict = await store.claim(key, until=clock.hence(HOUR))
            if isinstance(verdict, Granted):
                await anyio.lowlevel.checkpoint()
                await store.record(verdict, key.encode())
                return key.encode()
            assert isinstance(verdict, Finished)
            return verdict.result

        keys = [f"key {number % CROWD}" for number in range(4 * CROWD)]
        copies = [partial(deliver, (store, other)[place % 2], key) for place, key in enumerate(keys)]
        assert await together(*copies) == [key.encode() for key in keys]

    async def test_a_waiter_gets_what_is_recorded(self, store: Store, other: Store, clock: Clock):
        claim = granted(await store.claim("order", until=clock.hence(HOUR)))
        async with anyio.create_task_group() as group:
            near = await begin(group, lambda: store.claim("order", until=clock.hence(HOUR)))
            far = await begin(group, lambda: other.claim("order", until=clock.hence(HOUR)))
            assert near.is_waiting and far.is_waiting
            await store.record(claim, b"Order 1")
            assert await near.outcome() == await far.outcome() == Finished(b"Order 1")

    async def test_a_waiter_gets_what_is_recorded_though_its_time_is_over(
        self, store: Store, other: Store, clock: Clock
    ):
        claim = granted(await store.claim("order", until=clock.hence(60)))
        async with anyio.create_task_group() as group:
            waiters = [
                await begin(group, lambda copy=copy: copy.claim("order", until=clock.hence(60)))
                for copy in (store, other, other)
            ]
            clock.advance(HOUR)
            await store.record(claim, b"Order 1")
            assert [await waiter.outcome() for waiter in waiters] == 3 * [Finished(b"Order 1")]
        assert isinstance(await other.claim("order", until=clock.hence(60)), Granted)

    async def test_a_waiter_who_is_cancelled_leaves_the_others_waiting(
        self, store: Store, other: Store, clock: Clock
    ):
        claim = granted(await store.claim("order", until=clock.hence(HOUR)))
        async with anyio.create_task_group() as group:
            waiters = [
                await begin(group, lambda copy=copy: copy.claim("order", until=clock.hence(HOUR)))
                for copy in (store, other, store)
            ]
            waiters[0].cancel()
            assert await waiters[0].outcome() is None
            await store.record(claim, b"Order 1")
            for waiter in waiters[1:]:
                assert await waiter.outcome() == Finished(b"Order 1")

    async def test_the_claim_is_free_when_all_waiters_were_cancelled(self, store: Store, clock: Clock):
        claim = granted(await store.claim("order", until=clock.hence(HOUR)))
        async with anyio.create_task_group() as group:
            waiters = [
                await begin(group, lambda: store.claim("order", until=clock.hence(HOUR))) for _ in range(3)
            ]
            for waiter in waiters:
                waiter.cancel()
        await store.release(claim)
        granted(await store.claim("order", digest="other", until=clock.hence(HOUR)))

    async def test_a_waiter_who_is_cancelled_as_it_takes_over_hands_the_claim_on(
        self, store: Store, clock: Clock
    ):
        async def claim_and_leave() -> None:
            await store.release(granted(await store.claim("order", until=clock.hence(HOUR))))

        claim = granted(await store.claim("order", until=clock.hence(HOUR)))
        async with anyio.create_task_group() as group:
            leaving = [await begin(group, claim_and_leave) for _ in range(5)]
            last = await begin(group, lambda: store.claim("order", until=clock.hence(HOUR)))
            await store.release(claim)
            for waiter in leaving:
                waiter.cancel()
            granted(await last.outcome())

    async def test_a_claim_that_is_cancelled_as_it_is_made_is_nobodys(self, store: Store, clock: Clock):
        for _ in range(20):
            with anyio.CancelScope() as scope:
                scope.cancel()
                await store.release(granted(await store.claim("order", until=clock.hence(HOUR))))
        with anyio.fail_after(5):
            granted(await store.claim("order", until=clock.hence(HOUR)))

    async def test_those_who_wait_for_a_turn_are_refused_when_it_is_overtaken(
        self, store: Store, other: Store, clock: Clock
    ):
        granted(await store.claim("order", turn=1, until=clock.hence(HOUR)))
        async with anyio.create_task_group() as group:
            near = await begin(group, lambda: store.claim("order", turn=1, until=clock.hence(HOUR)))
            far = await begin(group, lambda: other.claim("order", turn=1, until=clock.hence(HOUR)))
            granted(await store.claim("order", turn=2, until=clock.hence(HOUR)))
            assert await near.outcome() == await far.outcome() == Rejected()
