"""Vault and ledger, and what is forgotten in time."""

from functools import partial

from askback.model.store import Finished, Store
from askback.testing.store_contract.base import HOUR, Clock, Contract, granted, together

CROWD = 50


class ShelfContract(Contract):
    async def test_what_was_put_is_there_until_it_is_deleted(self, store: Store, other: Store):
        assert await store.get("anna", "token") is None
        await store.put("anna", "token", b"first")
        await store.put("anna", "token", b"\x00second")
        assert await other.get("anna", "token") == b"\x00second"
        assert await other.delete("anna", "token")
        assert not await store.delete("anna", "token")
        assert await store.get("anna", "token") is None

    async def test_owners_and_names_are_kept_apart(self, store: Store):
        await store.put("anna", "token", b"anna's")
        await store.put("bert", "token", b"bert's")
        await store.put("anna", "key", b"another")
        assert await store.delete("anna", "token")
        assert await store.get("bert", "token") == b"bert's"
        assert await store.get("anna", "key") == b"another"

    async def test_a_secret_with_a_time_is_gone_after_it_and_one_without_stays(
        self, store: Store, clock: Clock
    ):
        await store.put("anna", "short", b"1", until=clock.hence(60))
        await store.put("anna", "long", b"2")
        clock.advance(59)
        assert await store.get("anna", "short") == b"1"
        clock.advance(1)
        assert await store.get("anna", "short") is None
        assert not await store.delete("anna", "short")
        clock.advance(1000 * HOUR)
        await store.sweep()
        assert await store.get("anna", "long") == b"2"

    async def test_a_secret_that_is_put_again_gets_its_new_time(self, store: Store, clock: Clock):
        await store.put("anna", "token", b"1", until=clock.hence(60))
        await store.put("anna", "token", b"2")
        clock.advance(HOUR)
        assert await store.get("anna", "token") == b"2"

    async def test_a_value_is_replaced_only_while_it_is_the_one_that_was_read(
        self, store: Store, other: Store, clock: Clock
    ):
        assert not await store.replace("anna", "token", b"1", b"2")
        await store.put("anna", "token", b"1")
        assert not await other.replace("anna", "token", b"", b"2")
        assert await other.replace("anna", "token", b"1", b"2", until=clock.hence(60))
        assert not await store.replace("anna", "token", b"1", b"3")
        assert await store.get("anna", "token") == b"2"
        clock.advance(60)
        assert not await store.replace("anna", "token", b"2", b"3")
        assert await store.get("anna", "token") is None

    async def test_a_value_is_deleted_only_while_it_is_the_one_that_was_read(
        self, store: Store, other: Store
    ):
        await store.put("anna", "token", b"1")
        assert not await other.replace("anna", "token", b"2", None)
        assert await other.replace("anna", "token", b"1", None)
        assert not await store.replace("anna", "token", b"1", None)
        assert await store.get("anna", "token") is None

    async def test_of_fifty_who_replace_the_same_value_one_does(self, store: Store, other: Store):
        await store.put("anna", "token", b"former")
        crowd = [((store, other)[number % 2], b"%d" % number) for number in range(CROWD)]
        won = await together(
            *(partial(copy.replace, "anna", "token", b"former", value) for copy, value in crowd)
        )
        assert won.count(True) == 1
        assert await store.get("anna", "token") == crowd[won.index(True)][1]

    async def test_what_is_kept_can_be_listed_by_the_beginning_of_its_owner(self, store: Store, other: Store):
        for owner, name in [
            ("cecil", "x"),
            ("anna", "token"),
            ("annabel", "é"),
            ("anna", "key"),
            ("an", "x"),
        ]:
            await store.put(owner, name, b"value")
        annas = [("anna", "key"), ("anna", "token"), ("annabel", "é")]
        assert await other.rows(prefix="anna") == annas
        assert await other.rows(prefix="") == [("an", "x"), *annas, ("cecil", "x")]
        assert await other.rows(prefix="anna%") == await other.rows(prefix="ANNA") == []

    async def test_a_list_is_read_in_parts_and_leaves_out_what_is_over(self, store: Store, clock: Clock):
        for number in range(5):
            await store.put("anna", str(number), b"value", until=clock.hence(60 if number == 2 else HOUR))
        await store.put("anna", "for good", b"value")
        clock.advance(60)
        first = await store.rows(prefix="anna", limit=2)
        assert first == [("anna", "0"), ("anna", "1")]
        assert await store.rows(prefix="anna", after=first[-1], limit=2) == [("anna", "3"), ("anna", "4")]
        assert await store.rows(prefix="anna", after=("anna", "4")) == [("anna", "for good")]
        assert await store.rows(prefix="anna", after=("anna", "for good")) == []

    async def test_lines_are_numbered_in_order(self, store: Store, other: Store):
        assert await store.read() == []
        numbers = [await (store, other)[n % 2].append(b"line %d" % n) for n in range(1, 6)]
        assert numbers == [1, 2, 3, 4, 5]
        assert await other.read() == [(n, b"line %d" % n) for n in range(1, 6)]

    async def test_a_ledger_is_read_in_parts(self, store: Store):
        for number in range(1, 8):
            await store.append(b"%d" % number)
        assert await store.read(limit=2) == [(1, b"1"), (2, b"2")]
        assert await store.read(after=2, limit=3) == [(3, b"3"), (4, b"4"), (5, b"5")]
        assert await store.read(after=6) == [(7, b"7")]
        assert await store.read(after=7) == []
        assert await store.read(after=99) == []

    async def test_lines_written_at_once_leave_no_gap(self, store: Store, other: Store):
        crowd = [(store, other)[number % 2] for number in range(CROWD)]
        numbers = await together(*(partial(copy.append, b"line") for copy in crowd))
        assert sorted(numbers) == list(range(1, CROWD + 1))
        assert len(await store.read(limit=1000)) == CROWD

    async def test_several_lines_are_written_one_after_the_other(self, store: Store, other: Store):
        crowd = [(store, other)[number % 2] for number in range(CROWD)]
        lasts = await together(
            *(partial(copy.append, b"%d a" % n, b"%d b" % n, b"%d c" % n) for n, copy in enumerate(crowd))
        )
        lines = dict(await store.read(limit=1000))
        assert list(lines) == list(range(1, 3 * CROWD + 1))
        for n, last in enumerate(lasts):
            assert [lines[last - 2], lines[last - 1], lines[last]] == [b"%d %c" % (n, c) for c in b"abc"]

    async def test_lines_are_forgotten_from_the_front_and_numbers_go_on(self, store: Store, other: Store):
        assert await store.trim(before=5) == 0
        await store.append(*(b"%d" % number for number in range(1, 8)))
        assert await other.trim(before=1) == 0
        assert await other.trim(before=4) == 3
        assert await other.trim(before=4) == 0
        assert await store.read(limit=2) == [(4, b"4"), (5, b"5")]
        assert await store.trim(before=99) == 3  # the last stays
        assert await store.read() == [(7, b"7")]
        assert await other.append(b"8") == 8
        assert await store.read() == [(7, b"7"), (8, b"8")]

    async def test_rows_are_counted_and_lines_are_not(self, store: Store, clock: Clock):
        await store.append(b"line")
        assert await store.count() == 0
        claim = granted(await store.claim("order", turn=1, until=clock.hence(HOUR)))
        assert await store.count() == 1
        await store.record(claim, b"one")
        assert await store.count() == 1
        await store.claim("order", turn=2, until=clock.hence(HOUR))
        assert await store.count() == 1

    async def test_after_all_has_expired_nothing_is_left(self, store: Store, clock: Clock):
        for number in range(10):
            claim = granted(await store.claim(f"key {number}", until=clock.hence(60 + number)))
            await store.record(claim, b"result")
            await store.settle(f"key {number}", b"value", until=clock.hence(60 + number))
            await store.spend(f"key {number}", until=clock.hence(60 + number))
            await store.put("anna", f"key {number}", b"secret", until=clock.hence(60 + number))
        assert await store.count() == 40
        assert await store.sweep() == 0
        clock.advance(HOUR)
        assert await store.sweep() <= 40  # some may have gone by themselves
        assert await store.count() == 0
        assert await store.sweep() == 0

    async def test_what_has_expired_does_not_count_even_before_a_sweep(self, store: Store, clock: Clock):
        await store.record(granted(await store.claim("order", until=clock.hence(60))), b"result")
        clock.advance(60)
        assert await store.count() == 0

    async def test_closing_may_repeat_and_a_later_call_opens_again(self, store: Store, clock: Clock):
        await store.close()
        await store.record(granted(await store.claim("order", until=clock.hence(HOUR))), b"Order 1")
        await store.close()
        await store.close()
        assert await store.claim("order", until=clock.hence(HOUR)) == Finished(b"Order 1")
