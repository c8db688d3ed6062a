"""Many at once: one runs, the others wait, and nobody is forgotten."""

from functools import partial

import anyio

from askback.model.store import Finished, Granted, Rejected, Store, Verdict
from askback.testing.store_contract.base import HOUR, Clock, Contract, begin, granted, together

CROWD = 50


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
            verdict = await store.claim("order", until=clock.hence(HOUR))
            await store.release(granted(verdict))

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
                claim = await store.claim("order", until=clock.hence(HOUR))
                await store.release(granted(claim))
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
