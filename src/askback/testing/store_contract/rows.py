"""Rows of the vault and the ledger: which go in time, and which go first where their number is capped."""

from functools import partial

import anyio

from askback.model.store import Cap, Finished, Store
from askback.testing.store_contract.base import HOUR, Clock, Contract, granted, together

CROWD = 50

LIMITS = Cap("visits", "anna", max_of_holder=3, max_in_all=5)


class CapContract(Contract):
    async def put(
        self, store: Store, clock: Clock, name: str, cap: Cap = LIMITS, value: bytes = b"row"
    ) -> int:
        return await store.put_capped("shelf", name, value, until=clock.hence(HOUR), cap=cap)

    async def names(self, store: Store) -> list[str]:
        return [name for _, name in await store.rows(prefix="shelf", limit=1000)]

    async def test_a_holder_keeps_so_many_rows_and_the_oldest_go_first(
        self, store: Store, other: Store, clock: Clock
    ):
        dropped = [await self.put((store, other)[n % 2], clock, f"a{9 - n}") for n in range(5)]
        assert dropped == [0, 0, 0, 1, 1]
        assert await self.names(other) == ["a5", "a6", "a7"]
        assert await store.get("shelf", "a9") is None
        assert await store.get("shelf", "a5") == b"row"
        assert await store.count() == 3

    async def test_holders_leave_each_others_rows_alone_until_there_are_too_many_in_all(
        self, store: Store, other: Store, clock: Clock
    ):
        assert await self.put(store, clock, "b0", LIMITS._replace(holder="bert")) == 0
        for n in range(7):
            await self.put(store, clock, f"a{n}")
        assert await self.names(store) == ["a4", "a5", "a6", "b0"]
        assert await self.put(other, clock, "c0", LIMITS._replace(holder="cleo")) == 0
        assert await self.put(other, clock, "d0", LIMITS._replace(holder="dora")) == 1
        assert await self.names(store) == ["a4", "a5", "a6", "c0", "d0"]

    async def test_a_holder_with_too_many_rows_loses_its_own_before_others_lose_theirs(
        self, store: Store, clock: Clock
    ):
        limits = LIMITS._replace(max_in_all=4)
        for name in ("b0", "b1"):
            await self.put(store, clock, name, limits._replace(holder="bert"))
        for n in range(2):
            await self.put(store, clock, f"a{n}", limits._replace(max_of_holder=2))
        assert await self.put(store, clock, "a2", limits._replace(max_of_holder=2)) == 1
        assert await self.names(store) == ["a1", "a2", "b0", "b1"]

    async def test_kinds_and_rows_without_a_cap_do_not_count(self, store: Store, clock: Clock):
        await store.put("shelf", "plain", b"row")
        for n in range(3):
            await self.put(store, clock, f"a{n}")
            await self.put(store, clock, f"b{n}", LIMITS._replace(kind="journals"))
        assert len(await self.names(store)) == 7

    async def test_rows_weigh_what_is_said_and_the_last_one_stays_whatever_it_weighs(
        self, store: Store, clock: Clock
    ):
        for n in range(3):
            await self.put(store, clock, f"a{n}", LIMITS._replace(weight=1))
        assert await self.put(store, clock, "a3", LIMITS._replace(weight=2)) == 2
        assert await self.names(store) == ["a2", "a3"]
        assert await self.put(store, clock, "a4", LIMITS._replace(weight=100)) == 2
        assert await self.names(store) == ["a4"]
        assert await self.put(store, clock, "a5") == 1
        assert await self.names(store) == ["a5"]

    async def test_a_row_that_is_put_again_keeps_its_place_and_counts_once(
        self, store: Store, other: Store, clock: Clock
    ):
        for name in ("a0", "a1", "a2", "a0", "a0"):
            assert await self.put(other, clock, name, value=name.encode()) == 0
        assert await self.put(store, clock, "a1", LIMITS._replace(weight=2)) == 1
        assert await self.names(store) == ["a1", "a2"]
        assert await self.put(store, clock, "a1", LIMITS._replace(weight=1)) == 0
        assert await self.put(store, clock, "a3") == 0
        assert await self.put(store, clock, "a4") == 1
        assert await self.names(other) == ["a2", "a3", "a4"]

    async def test_what_is_deleted_or_over_makes_room(self, store: Store, other: Store, clock: Clock):
        await store.put_capped("shelf", "short", b"row", until=clock.hence(60), cap=LIMITS)
        for n in range(2):
            await self.put(store, clock, f"a{n}")
        assert await other.delete("shelf", "a0")
        assert await self.put(store, clock, "a2") == 0
        clock.advance(60)
        await other.sweep()
        assert await self.put(store, clock, "a3") == 0
        assert await store.replace("shelf", "a1", b"row", None)
        assert await self.put(store, clock, "a4") == 0
        assert await self.names(other) == ["a2", "a3", "a4"]

    async def test_after_all_has_expired_there_is_room_for_all_again(self, store: Store, clock: Clock):
        for n in range(3):
            await self.put(store, clock, f"a{n}")
        clock.advance(HOUR)
        assert [await self.put(store, clock, f"b{n}") for n in range(4)] == [0, 0, 0, 1]

    async def test_a_row_that_is_put_without_a_cap_later_stays_where_it_was(self, store: Store, clock: Clock):
        for n in range(3):
            await self.put(store, clock, f"a{n}")
        await store.put("shelf", "a0", b"other", until=clock.hence(HOUR))
        assert await self.put(store, clock, "a3") == 1
        assert await self.names(store) == ["a1", "a2", "a3"]

    async def test_of_fifty_that_are_put_at_once_no_more_stay_than_may(
        self, store: Store, other: Store, clock: Clock
    ):
        holders = [LIMITS._replace(holder=f"holder {n % 3}") for n in range(CROWD)]
        dropped = await together(
            *(partial(self.put, (store, other)[n % 2], clock, f"a{n}", cap) for n, cap in enumerate(holders))
        )
        assert len(await self.names(store)) == 5
        assert sum(dropped) == CROWD - 5

    async def test_rows_are_put_and_deleted_at_once_without_waiting_for_each_other_for_ever(
        self, store: Store, other: Store, clock: Clock
    ):
        async def come_and_go(copy: Store, name: str) -> None:
            await self.put(copy, clock, name)
            await copy.delete("shelf", name)

        with anyio.fail_after(20):
            await together(
                *(partial(come_and_go, (store, other)[n % 2], f"a{n % 7}") for n in range(CROWD)),
                *(partial(copy.sweep) for copy in (store, other)),
            )
        assert await self.names(store) == []
        assert [await self.put(store, clock, f"b{n}") for n in range(4)] == [0, 0, 0, 1]


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
