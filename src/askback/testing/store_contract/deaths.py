"""A runner that is gone without a word: for stores whose runners can die apart from them."""

from abc import abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from askback.model.store import Finished, Granted, Rejected, RunnerDied, Store, Verdict
from askback.testing.store_contract.base import HOUR, Clock, Contract, begin, bounded, granted


class DeathContract(Contract):
    """Say how a store is opened whose death is noticed within a second or so, and how it dies."""

    @abstractmethod
    def open_mortal(self, place: Path, clock: Clock) -> Store:
        """The store of that place, with the shortest lease it can have."""

    @abstractmethod
    async def kill(self, store: Store) -> None:
        """From now on it does nothing any more for what it was running."""

    @pytest.fixture
    async def mortal(self, store: Store, tmp_path: Path, clock: Clock) -> AsyncIterator[Store]:
        mortal = self.open_mortal(tmp_path, clock)
        yield mortal
        await mortal.close()

    async def test_another_takes_over_from_the_dead(self, store: Store, mortal: Store, clock: Clock):
        claim = granted(await mortal.claim("order", turn=1, digest="yes", until=clock.hence(HOUR)))
        await mortal.note(claim, b"placed")
        await self.kill(mortal)
        again = granted(await bounded(store.claim("order", turn=1, digest="yes", until=clock.hence(HOUR))))
        assert again.noted == b"placed"
        assert not await mortal.note(claim, b"late")
        assert not await mortal.record(claim, b"late")
        assert await store.record(again, b"Order 1")
        assert await store.claim("order", turn=1, digest="yes", until=clock.hence(HOUR)) == Finished(
            b"Order 1"
        )

    async def test_one_of_those_who_wait_takes_over_from_the_dead(
        self, store: Store, mortal: Store, clock: Clock
    ):
        granted(await mortal.claim("order", until=clock.hence(HOUR)))
        runs: list[Granted] = []
        runs_again = anyio.Event()

        async def wait() -> Verdict:
            verdict = await store.claim("order", until=clock.hence(HOUR))
            if isinstance(verdict, Granted):
                runs.append(verdict)
                runs_again.set()
            return verdict

        async with anyio.create_task_group() as group:
            waiters = [await begin(group, wait) for _ in range(3)]
            await self.kill(mortal)
            await bounded(runs_again.wait())
            assert sum(waiter.is_waiting for waiter in waiters) == 2
            await store.record(runs[0], b"Order 1")
            verdicts = [await waiter.outcome() for waiter in waiters]
            assert len(runs) == 1
            assert verdicts.count(Finished(b"Order 1")) == 2

    async def test_what_may_not_be_tried_again_is_lost_with_its_runner(
        self, store: Store, mortal: Store, clock: Clock
    ):
        granted(await mortal.claim("order", until=clock.hence(HOUR)))
        await self.kill(mortal)
        for _ in range(2):
            assert (
                await bounded(store.claim("order", until=clock.hence(HOUR), takeover=False)) == RunnerDied()
            )

    async def test_one_who_was_taken_for_dead_may_still_record_if_nobody_took_over(
        self, store: Store, mortal: Store, clock: Clock
    ):
        claim = granted(await mortal.claim("order", until=clock.hence(HOUR)))
        await self.kill(mortal)
        assert await bounded(store.claim("order", until=clock.hence(HOUR), takeover=False)) == RunnerDied()
        assert await mortal.record(claim, b"Order 1")
        assert await store.claim("order", until=clock.hence(HOUR), takeover=False) == Finished(b"Order 1")

    async def test_other_answers_stay_refused_after_a_death(self, store: Store, mortal: Store, clock: Clock):
        granted(await mortal.claim("order", turn=1, digest="yes", until=clock.hence(HOUR)))
        await self.kill(mortal)
        assert await bounded(store.claim("order", turn=1, digest="no", until=clock.hence(HOUR))) == Rejected()
        assert (
            await bounded(store.claim("order", turn=0, digest="yes", until=clock.hence(HOUR))) == Rejected()
        )

    async def test_a_later_turn_need_not_wait_for_the_dead(self, store: Store, mortal: Store, clock: Clock):
        granted(await mortal.claim("order", turn=1, until=clock.hence(HOUR)))
        await self.kill(mortal)
        assert isinstance(await bounded(store.claim("order", turn=2, until=clock.hence(HOUR))), Granted)

    async def test_the_dead_are_forgotten_in_their_time(self, store: Store, mortal: Store, clock: Clock):
        granted(await mortal.claim("order", until=clock.hence(60)))
        await self.kill(mortal)
        assert await bounded(store.claim("order", until=clock.hence(60), takeover=False)) == RunnerDied()
        clock.advance(60)
        await store.sweep()
        assert await store.count() == 0
