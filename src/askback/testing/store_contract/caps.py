"""Rows of kinds that are capped: the oldest go first, of their holder and of all."""

from functools import partial

import anyio

from askback.model.store import Cap, Store
from askback.testing.store_contract.base import HOUR, Clock, Contract, together

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
