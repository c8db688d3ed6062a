"""How far a run has come, for whoever takes over."""

import anyio

from askback.model.store import Finished, Granted, Rejected, RunnerDied, Store
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
