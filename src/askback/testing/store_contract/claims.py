"""Who may run a turn: one claim after another, how far a run has come, and runners that are gone without a word."""

from abc import abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from askback.model.store import EpochChanged, Finished, Granted, Rejected, RunnerDied, Store, Verdict
from askback.testing.store_contract.base import HOUR, Clock, Contract, begin, bounded, granted


class NoteContract(Contract):
    async def test_whoever_takes_over_gets_the_last_note(self, store: Store, other: Store, clock: Clock):
        claim = granted(await store.claim("order", digest="yes", until=clock.hence(HOUR)))
        assert claim.noted == b""
        assert await store.note(claim, b"placing")
        assert await store.note(claim, b"placed")
        await store.release(claim)
        again = granted(await other.claim("order", digest="yes", until=clock.hence(HOUR)))
        assert again.noted == b"placed"
        assert not await store.note(claim, b"late")
        assert await other.record(again, b"Order 1")
        assert await store.claim("order", digest="yes", until=clock.hence(HOUR)) == Finished(b"Order 1")

    async def test_a_waiter_who_takes_over_gets_the_note(self, store: Store, other: Store, clock: Clock):
        claim = granted(await store.claim("order", until=clock.hence(HOUR)))
        async with anyio.create_task_group() as group:
            waiter = await begin(group, lambda: other.claim("order", until=clock.hence(HOUR)))
            await store.note(claim, b"placed")
            await store.release(claim)
            assert granted(await waiter.outcome()).noted == b"placed"

    async def test_a_note_is_handed_on_as_often_as_it_is_released(self, store: Store, clock: Clock):
        claim = granted(await store.claim("order", until=clock.hence(HOUR)))
        await store.note(claim, b"placed")
        for _ in range(3):
            await store.release(claim)
            claim = granted(await store.claim("order", until=clock.hence(HOUR)))
            assert claim.noted == b"placed"

    async def test_a_released_turn_with_a_note_takes_no_other_answers(
        self, store: Store, other: Store, clock: Clock
    ):
        claim = granted(await store.claim("order", turn=1, digest="yes", until=clock.hence(HOUR)))
        await store.note(claim, b"placed")
        await store.release(claim)
        assert await bounded(other.claim("order", turn=1, digest="no", until=clock.hence(HOUR))) == Rejected()
        assert (
            await bounded(other.claim("order", turn=0, digest="yes", until=clock.hence(HOUR))) == Rejected()
        )

    async def test_who_may_not_take_over_learns_that_it_was_begun(
        self, store: Store, other: Store, clock: Clock
    ):
        claim = granted(await store.claim("order", until=clock.hence(HOUR)))
        async with anyio.create_task_group() as group:
            waiter = await begin(group, lambda: other.claim("order", until=clock.hence(HOUR), takeover=False))
            await store.note(claim, b"placed")
            await store.release(claim)
            assert await waiter.outcome() == RunnerDied()
        assert await bounded(other.claim("order", until=clock.hence(HOUR), takeover=False)) == RunnerDied()
        assert granted(await other.claim("order", until=clock.hence(HOUR))).noted == b"placed"

    async def test_a_note_belongs_to_its_turn(self, store: Store, clock: Clock):
        claim = granted(await store.claim("order", turn=1, until=clock.hence(HOUR)))
        await store.note(claim, b"placed")
        await store.record(claim, b"one")
        assert granted(await store.claim("order", turn=2, until=clock.hence(HOUR))).noted == b""

        claim = granted(await store.claim("drink", turn=1, until=clock.hence(HOUR)))
        await store.note(claim, b"placed")
        await store.release(claim)
        assert granted(await store.claim("drink", turn=2, until=clock.hence(HOUR))).noted == b""

    async def test_a_turn_with_a_note_is_spent_when_a_later_one_comes(self, store: Store, clock: Clock):
        claim = granted(await store.claim("order", turn=1, until=clock.hence(HOUR)))
        await store.note(claim, b"placed")
        await store.release(claim)
        await store.release(granted(await store.claim("order", turn=2, until=clock.hence(HOUR))))
        assert await bounded(store.claim("order", turn=1, until=clock.hence(HOUR))) == Rejected()
        assert granted(await store.claim("order", turn=2, until=clock.hence(HOUR))).noted == b""

    async def test_a_note_expires_with_its_turn(self, store: Store, clock: Clock):
        claim = granted(await store.claim("order", until=clock.hence(60)))
        await store.note(claim, b"placed")
        await store.release(claim)
        assert await store.count() == 1
        clock.advance(60)
        await store.sweep()
        assert await store.count() == 0
        assert granted(await store.claim("order", digest="no", until=clock.hence(60))).noted == b""

    async def test_a_claim_nobody_gave_notes_nothing(self, store: Store, clock: Clock):
        claim = granted(await store.claim("order", until=clock.hence(HOUR)))
        assert not await store.note(Granted("order", "made up"), b"wrong")
        await store.release(claim)
        assert granted(await store.claim("order", until=clock.hence(HOUR))).noted == b""


RESULTS = {"empty": b"", "every-byte": bytes(range(256)), "a-megabyte": b"pizza" * 200_000}
KEYS = ("plain", "with space", "Größe", "пицца", "🍕", "quote'quote", "x" * 500)


class ClaimContract(Contract):
    async def test_a_claim_from_this_memory_is_served_and_one_from_another_refused(
        self, store: Store, other: Store, clock: Clock
    ):
        epoch = await store.epoch()
        assert await other.epoch() == await store.epoch() == epoch
        granted(await other.claim("order", turn=1, until=clock.hence(HOUR), epoch=epoch))
        lost = await store.claim(
            "order", turn=2, until=clock.hence(HOUR), epoch=f"{epoch}, before it was lost"
        )
        assert lost == EpochChanged()
        granted(await store.claim("order", turn=2, until=clock.hence(HOUR), epoch=epoch))

    async def test_the_first_claim_may_run(self, store: Store, clock: Clock):
        assert isinstance(await store.claim("order", until=clock.hence(HOUR)), Granted)

    async def test_a_copy_of_what_was_recorded_gets_its_result(
        self, store: Store, other: Store, clock: Clock
    ):
        claim = granted(await store.claim("order", turn=1, digest="yes", until=clock.hence(HOUR)))
        assert await store.record(claim, b"Order 1")
        for copy in (store, other):
            assert await copy.claim("order", turn=1, digest="yes", until=clock.hence(HOUR)) == Finished(
                b"Order 1"
            )

    @pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS.keys())
    async def test_a_result_comes_back_as_it_was(
        self, store: Store, other: Store, clock: Clock, result: bytes
    ):
        await store.record(granted(await store.claim("order", until=clock.hence(HOUR))), result)
        assert await other.claim("order", until=clock.hence(HOUR)) == Finished(result)

    async def test_other_answers_are_refused_while_the_turn_is_run_and_afterwards(
        self, store: Store, other: Store, clock: Clock
    ):
        claim = granted(await store.claim("order", digest="yes", until=clock.hence(HOUR)))
        assert await bounded(other.claim("order", digest="no", until=clock.hence(HOUR))) == Rejected()
        await store.record(claim, b"Order 1")
        assert await bounded(other.claim("order", digest="no", until=clock.hence(HOUR))) == Rejected()
        assert await other.claim("order", digest="yes", until=clock.hence(HOUR)) == Finished(b"Order 1")

    async def test_an_older_turn_is_refused_while_a_later_is_run_and_afterwards(
        self, store: Store, other: Store, clock: Clock
    ):
        await store.record(granted(await store.claim("order", turn=1, until=clock.hence(HOUR))), b"one")
        later = granted(await store.claim("order", turn=2, until=clock.hence(HOUR)))
        assert await bounded(other.claim("order", turn=1, until=clock.hence(HOUR))) == Rejected()
        await store.record(later, b"two")
        for turn in (0, 1):
            assert await other.claim("order", turn=turn, until=clock.hence(HOUR)) == Rejected()
        assert await other.claim("order", turn=2, until=clock.hence(HOUR)) == Finished(b"two")

    async def test_a_later_turn_may_leave_some_out(self, store: Store, clock: Clock):
        await store.record(granted(await store.claim("order", turn=1, until=clock.hence(HOUR))), b"one")
        assert isinstance(await store.claim("order", turn=7, until=clock.hence(HOUR)), Granted)

    async def test_a_turn_that_is_overtaken_can_no_longer_be_recorded(
        self, store: Store, other: Store, clock: Clock
    ):
        overtaken = granted(await store.claim("order", turn=1, until=clock.hence(HOUR)))
        later = granted(await other.claim("order", turn=2, until=clock.hence(HOUR)))
        assert not await store.record(overtaken, b"one")
        await store.release(overtaken)
        assert await other.record(later, b"two")
        assert await store.claim("order", turn=2, until=clock.hence(HOUR)) == Finished(b"two")

    async def test_a_turn_that_was_overtaken_is_spent_even_if_the_later_is_released(
        self, store: Store, clock: Clock
    ):
        granted(await store.claim("order", turn=1, until=clock.hence(HOUR)))
        await store.release(granted(await store.claim("order", turn=2, until=clock.hence(HOUR))))
        assert await bounded(store.claim("order", turn=1, until=clock.hence(HOUR))) == Rejected()
        assert isinstance(await store.claim("order", turn=2, until=clock.hence(HOUR)), Granted)

    async def test_a_released_turn_is_as_if_never_claimed(self, store: Store, other: Store, clock: Clock):
        claim = granted(await store.claim("order", turn=3, digest="yes", until=clock.hence(HOUR)))
        await store.release(claim)
        assert await store.count() == 0
        again = granted(await other.claim("order", turn=1, digest="no", until=clock.hence(HOUR)))
        assert again.token != claim.token

    async def test_a_release_leaves_what_was_recorded_before(self, store: Store, clock: Clock):
        await store.record(granted(await store.claim("order", turn=1, until=clock.hence(HOUR))), b"one")
        await store.release(granted(await store.claim("order", turn=2, until=clock.hence(HOUR))))
        assert await store.claim("order", turn=1, until=clock.hence(HOUR)) == Finished(b"one")

    async def test_a_claim_is_recorded_or_released_once(self, store: Store, clock: Clock):
        claim = granted(await store.claim("order", until=clock.hence(HOUR)))
        assert await store.record(claim, b"first")
        assert not await store.record(claim, b"second")
        await store.release(claim)
        assert await store.claim("order", until=clock.hence(HOUR)) == Finished(b"first")

        released = granted(await store.claim("drink", until=clock.hence(HOUR)))
        await store.release(released)
        await store.release(released)
        assert not await store.record(released, b"late")
        assert isinstance(await store.claim("drink", until=clock.hence(HOUR)), Granted)

    async def test_a_claim_nobody_gave_is_worth_nothing(self, store: Store, clock: Clock):
        claim = granted(await store.claim("order", until=clock.hence(HOUR)))
        assert not await store.record(Granted("order", "made up"), b"wrong")
        assert not await store.record(Granted("nothing", claim.token), b"wrong")
        await store.release(Granted("order", "made up"))
        assert await store.record(claim, b"right")

    async def test_a_result_is_kept_until_its_time_and_not_longer(
        self, store: Store, other: Store, clock: Clock
    ):
        await store.record(granted(await store.claim("order", until=clock.hence(60))), b"Order 1")
        clock.advance(59)
        assert await other.claim("order", until=clock.hence(60)) == Finished(b"Order 1")
        clock.advance(1)
        assert isinstance(await other.claim("order", digest="new", until=clock.hence(60)), Granted)

    async def test_results_expire_each_in_its_time(self, store: Store, clock: Clock):
        for key, seconds in (("long", 1000), ("short", 10), ("medium", 100)):
            await store.record(granted(await store.claim(key, until=clock.hence(seconds))), key.encode())
        clock.advance(50)
        assert isinstance(await store.claim("short", until=clock.hence(HOUR)), Granted)
        assert await store.claim("medium", until=clock.hence(HOUR)) == Finished(b"medium")
        clock.advance(500)
        assert isinstance(await store.claim("medium", until=clock.hence(HOUR)), Granted)
        assert await store.claim("long", until=clock.hence(HOUR)) == Finished(b"long")

    async def test_what_is_being_run_is_not_forgotten(self, store: Store, other: Store, clock: Clock):
        claim = granted(await store.claim("order", digest="yes", until=clock.hence(60)))
        clock.advance(HOUR)
        await store.sweep()
        assert await bounded(other.claim("order", digest="no", until=clock.hence(60))) == Rejected()
        assert await store.record(claim, b"Order 1")
        await store.sweep()
        assert await store.count() == 0

    @pytest.mark.parametrize("key", KEYS, ids=range(len(KEYS)))
    async def test_a_key_may_be_any_text(self, store: Store, other: Store, clock: Clock, key: str):
        await store.record(granted(await store.claim(key, until=clock.hence(HOUR))), b"yes")
        assert await other.claim(key, until=clock.hence(HOUR)) == Finished(b"yes")
        assert isinstance(await other.claim(key + "!", until=clock.hence(HOUR)), Granted)


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
