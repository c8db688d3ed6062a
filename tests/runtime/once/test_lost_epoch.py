"""Redis without a file that is started anew has forgotten what was done: whoever may have done it is told to find out
first, and nothing happens twice to those who do (T35)."""

from typing import Any

import anyio
import pytest

from askback import errors
from askback.errors import RoundForgotten
from askback.errors.questions import RoundRefused
from askback.runtime.conversation_ids import ConversationIds
from askback.stores import Verdict
from askback.stores.redis import RedisStore
from askback.testing import accept, run_tool
from scripts.services import RedisServer
from tests.runtime.once.forgetful import FIND_OUT, YES, Shop, order, start_anew, working
from tests.runtime.once.forgetful import at_once as at_once
from tests.runtime.once.forgetful import redis as redis
from tests.support.defence import with_and_without
from tests.support.deliveries import End, end_of, text_of
from tests.support.raw import Raw, answering

pytestmark = [pytest.mark.anyio, pytest.mark.services, pytest.mark.verifies("R39", "T35")]


@pytest.fixture(autouse=True)
def soon(at_once: None) -> None:
    """All of it."""


def say_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost round is refused like any other, effects carry no epoch, and nobody takes notice of the loss."""
    claim = RedisStore.claim

    async def ignore(*_: Any) -> None: ...

    async def claim_in_any_epoch(self: RedisStore, key: str, **terms: Any) -> Verdict:
        if key.startswith("once:"):
            terms["epoch"] = ""
        return await claim(self, key, **terms)

    monkeypatch.setattr(RedisStore, "claim", claim_in_any_epoch)

    monkeypatch.setattr(RoundForgotten, "__init__", RoundRefused.__init__)
    monkeypatch.setattr(ConversationIds, "note_epoch", ignore)
    monkeypatch.setattr(ConversationIds, "note_loss", ignore)


@with_and_without
async def test_a_copy_of_a_yes_from_before_the_loss_says_to_find_out_and_is_not_simply_made_again(
    is_defended: bool, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    if not is_defended:
        say_nothing_of_it(monkeypatch)
    shop = Shop()
    async with working(redis, shop) as (_, client):
        first = await client.call(arguments={"number": 7})
        yes = answering(first, ask_1=YES)
        await client.call(arguments={"number": 7}, **yes)  # and its result never reached the client
        await start_anew(redis)
        end = await end_of(client.call(arguments={"number": 7}, **yes))
        assert (FIND_OUT in text_of(end)) == is_defended
        if FIND_OUT not in text_of(end) or 7 not in shop.placed:
            await order(client, 7)
    assert shop.placed == ([7] if is_defended else [7, 7])


@with_and_without
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_a_call_made_anew_after_the_loss_is_told_once_to_find_out(
    is_defended: bool, revision: str, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    if not is_defended:
        say_nothing_of_it(monkeypatch)
    shop = Shop()
    async with working(redis, shop) as (server, _):

        async def call(number: int) -> str:
            answers = [accept(True)]
            return (await run_tool(server, "t", {"number": number}, answers, revision=revision)).text

        assert await call(7) == "order 7 is placed"
        await start_anew(redis)
        told = await call(7)
        assert shop.placed == ([7] if is_defended else [7, 7])
        if is_defended:
            assert errors.MEMORY_LOST in told and FIND_OUT in told
            # Whoever found out and calls again knows what they do; so does everybody else, for other orders.
            assert await call(7) == "order 7 is placed"
            assert FIND_OUT in await call(8)
            assert await call(8) == await call(8) == "order 8 is placed"
            assert shop.placed == [7, 7, 8]


async def test_an_effect_that_may_be_repeated_needs_nobody_to_find_out(redis: RedisServer):
    shop = Shop()
    async with working(redis, shop, retry=True) as (_, client):
        await order(client, 7)
        await start_anew(redis)
        assert text_of(await order(client, 7)) == "order 7 is placed"


async def test_whoever_was_told_of_a_lost_round_is_not_told_again(redis: RedisServer):
    shop = Shop()
    async with working(redis, shop) as (_, client):
        first = await client.call(arguments={"number": 7})
        await start_anew(redis)
        lost = await end_of(client.call(arguments={"number": 7}, **answering(first, ask_1=YES)))
        assert FIND_OUT in text_of(lost) and lost["data"] == {"reason": "lost_round"}
        assert text_of(await order(client, 7)) == "order 7 is placed"
    assert shop.placed == [7]


async def test_a_worker_that_was_started_after_the_loss_learns_of_it_from_a_lost_round(redis: RedisServer):
    shop = Shop()
    async with working(redis, shop) as (_, client):
        first = await client.call(arguments={"number": 7})
        await order(client, 8)
    await start_anew(redis)
    async with working(redis, shop) as (_, client):
        await end_of(client.call(arguments={"number": 7}, **answering(first, ask_1=YES)))
        assert FIND_OUT in text_of(await order(client, 8))
    assert shop.placed == [8]


async def test_an_effect_that_is_under_way_gives_its_result_and_is_known_in_the_new_memory(
    redis: RedisServer,
):
    shop = Shop()
    shop.may_go_on = anyio.Event()
    ends: list[End] = []
    async with working(redis, shop) as (_, client), working(redis, shop) as (_, other):

        async def order_one() -> None:
            ends.append(await order(client, 7))

        async with anyio.create_task_group() as group:
            group.start_soon(order_one)
            await shop.is_placing.wait()
            await start_anew(redis)
            shop.may_go_on.set()
        assert text_of(ends[0]) == "order 7 is placed"
        assert text_of(await order(other, 7)) == "order 7 is placed"
    assert shop.placed == [7]


class Customer:
    """Does as they are told: finds out where nobody knows, calls again where that is said, and else sends it again."""

    def __init__(self, shop: Shop, clients: list[Raw], number: int) -> None:
        self._shop, self._clients, self._number = shop, clients, number
        self._calls = number
        self.times_told = 0

    async def send(self, **fields: Any) -> End:
        self._calls += 1
        client = self._clients[self._calls % len(self._clients)]
        return await end_of(client.call(arguments={"number": self._number}, **fields))

    async def buy(self) -> str:
        while True:
            asked = await self.send()
            if "requestState" not in asked:
                continue  # the store is away
            end = await self.answer(answering(asked, ask_1=YES))
            if "is placed" in end:
                return end
            assert "again" in end, end
            if FIND_OUT in end:
                self.times_told += 1
                if self._number in self._shop.placed:
                    return f"order {self._number} is placed"

    async def answer(self, yes: dict[str, Any]) -> str:
        """Every third does not hear the first result, and sends it once more."""
        hears = self._number % 3 > 0
        while True:
            end = await self.send(**yes)
            if end.get("data") == {"reason": "store_unavailable"}:
                continue
            if hears:
                return text_of(end)
            hears = True


@pytest.mark.timeout(120)
async def test_under_load_nothing_happens_twice_to_those_who_find_out_when_they_are_told(redis: RedisServer):
    shop, orders, ends = Shop(), 150, list[str]()
    async with working(redis, shop) as (_, one), working(redis, shop) as (_, two):
        customers = [Customer(shop, [one, two], number) for number in range(orders)]

        async def buy(customer: Customer) -> None:
            async with slots:
                ends.append(await customer.buy())
            if len(ends) in losses:
                losses[len(ends)].set()

        async def lose_memory() -> None:
            for is_time in losses.values():
                await is_time.wait()
                await start_anew(redis)

        losses = {part * orders // 3: anyio.Event() for part in (1, 2)}

        slots = anyio.CapacityLimiter(20)
        async with anyio.create_task_group() as group:
            group.start_soon(lose_memory)
            for customer in customers:
                group.start_soon(buy, customer)
    assert sorted(shop.placed) == list(range(orders))
    assert sorted(ends) == sorted(f"order {number} is placed" for number in range(orders))
    assert sum(customer.times_told for customer in customers) > 0
