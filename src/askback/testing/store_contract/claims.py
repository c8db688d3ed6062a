"""Who may run a turn: one claim after another."""

import pytest

from askback.model.store import EpochChanged, Finished, Granted, Rejected, Store
from askback.testing.store_contract.base import HOUR, Clock, Contract, bounded, granted

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
        later = granted(await store.claim("order", turn=2, until=clock.hence(HOUR)))
        await store.release(later)
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
