"""What a visit has brought serves that visit and one call: no other visit, no second call, and it is not lost."""

import time
from collections.abc import Callable
from typing import Any, Literal

import anyio
import pytest
from fastmcp import FastMCP
from fastmcp.server.middleware.error_handling import RetryMiddleware
from mcp_types import ElicitRequestURLParams, ElicitResult

from askback import Askback, ask, visit
from askback.errors import StillOpen
from askback.runtime.visits import PARKED_PREFIX
from askback.server.hosts import lowlevel_of
from askback.stores import MemoryStore
from tests.runtime.visits.callers import Sender, agreed, caller, linked_id
from tests.runtime.visits.test_demands import demanded
from tests.support.servers.clients import client_on
from tests.support.visit_shops import (
    BOUND,
    JULY,
    LINK,
    NOVEMBER,
    SHORT,
    CountingMemory,
    Traveller,
    id_in,
    in_memory,
    mcpserver,
    over_http,
    pay,
    text_of,
)

pytestmark = pytest.mark.anyio

DAY = 86_400.0


class Person:
    """Fills in forms from a list, and agrees to every link; then something happens, where the test says so."""

    def __init__(self, *forms: Any, then: Callable[[str], Any] | None = None) -> None:
        self._forms, self._then = list(forms), then
        self.urls: list[str] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        if not isinstance(params, ElicitRequestURLParams):
            return ElicitResult(action="accept", content={"value": self._forms.pop(0)})
        self.urls.append(params.url)
        if self._then is not None:
            await self._then(params.url)
        return ElicitResult(action="accept")

    @property
    def ids(self) -> list[str]:
        """Of all visits, each once."""
        return list(dict.fromkeys(url.rpartition("/")[2] for url in self.urls))


async def order() -> str:
    plan = (await ask("Which plan?", Literal["small", "big"])).or_stop("no")
    return f"{plan}: {await visit(f'Please pay for {plan}.', f'https://pay.example/{plan}/{{id}}')}"


async def test_what_was_paid_for_one_thing_is_not_taken_for_another():
    shop, person = mcpserver(order, hold=SHORT), Person("small", "big", "small")
    with anyio.fail_after(BOUND):
        async with in_memory(shop) as target, client_on(JULY, target, person) as client:
            await client.call_tool("t", {})
            assert await shop.asked.settle(person.ids[0], "paid 5")
            assert "is not done there yet" in text_of(await client.call_tool("t", {}))
            text = text_of(await client.call_tool("t", {}))
    assert text == "small: Accepted(value='paid 5')"
    assert len(person.ids) == 2


async def test_what_was_demanded_for_one_thing_is_not_taken_for_another():
    shop, person = mcpserver(order, demand_visits=True, hold=SHORT), Person("small", "big")
    with anyio.fail_after(BOUND):
        async with in_memory(shop) as target, client_on(NOVEMBER, target, person) as client:
            (small,) = await demanded(client)
            assert await shop.asked.settle(small["elicitationId"], "paid 5")
            (big,) = await demanded(client)
    assert big["elicitationId"] != small["elicitationId"] and "/big/" in big["url"]


@pytest.mark.parametrize("message", ["Please pay {}.", "Please pay."])
async def test_a_link_that_changes_while_the_person_is_there_is_another_visit(message: str):
    """Also where the words are the same and the path alone is another."""
    price = [5]

    async def body() -> str:
        now = price[0]
        return f"{now}: {await visit(message.format(now), f'https://pay.example/{now}/{{id}}')}"

    async def settle(url: str) -> None:
        await shop.asked.settle(url.rpartition("/")[2], f"paid {price[0]}")
        price[0] = 500

    shop, person = mcpserver(body), Person(then=settle)
    with anyio.fail_after(BOUND):
        async with in_memory(shop) as target, client_on(JULY, target, person) as client:
            text = text_of(await client.call_tool("t", {}))
    assert text == "500: Accepted(value='paid 500')"
    assert len(person.ids) == 2


async def test_two_calls_alike_that_left_their_visits_find_both_and_a_third_begins_anew():
    shop, person = mcpserver(pay, hold=SHORT), Person()
    with anyio.fail_after(BOUND):
        async with in_memory(shop) as target, client_on(JULY, target, person) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "t")
                group.start_soon(client.call_tool, "t")
            one, other = person.ids
            assert await shop.asked.settle(one, "one") and await shop.asked.settle(other, "other")
            texts = [text_of(await client.call_tool("t", {})) for _ in range(3)]
    assert sorted(texts[:2]) == ["Accepted(value='one')", "Accepted(value='other')"]
    assert "is not done there yet" in texts[2] and len(person.ids) == 3


async def shipped() -> str:
    paid = await visit("Please pay.", LINK)
    return f"{paid} {await ask('Ship it?', bool)}"


async def test_a_visit_that_was_taken_up_is_still_known_when_the_body_runs_again():
    shop, person = mcpserver(shipped, hold=SHORT), Person(True)
    with anyio.fail_after(BOUND):
        async with in_memory(shop) as target, client_on(JULY, target, person) as client:
            await client.call_tool("t", {})
            assert await shop.asked.settle(person.ids[0], "paid")
            text = text_of(await client.call_tool("t", {}))
    assert text == "Accepted(value='paid') Accepted(value=True)"
    assert len(person.ids) == 1


async def test_a_visit_that_was_taken_up_is_still_known_when_the_host_tries_again():
    fails, store = [True], CountingMemory()

    async def body() -> str:
        paid = await visit("Please pay.", LINK)
        if fails:
            fails.clear()
            raise ConnectionError("the warehouse did not answer")
        return repr(paid)

    server: FastMCP[Any] = FastMCP("shop")
    server.tool(body, name="t")
    server.add_middleware(RetryMiddleware(max_retries=2, base_delay=0.0))
    asked, person = Askback(server, store=store), Person()
    with anyio.fail_after(BOUND):
        async with client_on(NOVEMBER, lowlevel_of(server), person) as client:
            await hung_up(client, store)
            assert await asked.settle(person.ids[0], "paid")
            assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"
    assert len(person.ids) == 1


async def hung_up(client: Any, store: CountingMemory) -> None:
    """A call that is given up while it waits for the end of its visit."""
    store.counting.puts.clear()
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "t")
        await store.counting.until_waiting()
        store.counting.puts.clear()
        group.cancel_scope.cancel()
    await store.counting.until_put(PARKED_PREFIX)
    await store.counting.until_waiting(0)


async def test_a_visit_that_is_put_again_and_cancelled_before_anybody_agrees_is_not_lost():
    store, asked_again = CountingMemory(), anyio.Event()

    async def think(url: str) -> None:
        if len(person.urls) == 2:
            asked_again.set()
            await anyio.sleep_forever()

    shop, person = mcpserver(pay, store=store), Person(then=think)
    with anyio.fail_after(BOUND):
        async with in_memory(shop) as target, client_on(NOVEMBER, target, person) as client:
            await hung_up(client, store)
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "t")
                await asked_again.wait()
                store.counting.puts.clear()
                group.cancel_scope.cancel()
            await store.counting.until_put(PARKED_PREFIX)
            assert await shop.asked.settle(person.ids[0], "paid")
            assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"
    assert len(person.urls) == 2 and len(person.ids) == 1


async def test_a_client_that_goes_away_while_it_is_held_finds_the_visit_with_a_new_call(revision: str):
    store, person = CountingMemory(), Person()
    shop = mcpserver(pay, store=store)
    with anyio.fail_after(BOUND):
        async with in_memory(shop) as target:
            async with client_on(revision, target, person) as client:
                await hung_up(client, store)
            assert await shop.asked.settle(person.ids[0], "paid")
            async with client_on(revision, target, person) as client:
                assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"
    assert len(person.urls) == 1


async def test_a_client_that_lost_its_state_finds_the_visit_done_and_the_state_brings_no_second_call():
    """One payment serves the call that came first; whoever comes after it pays for itself."""
    shop = mcpserver(pay, caller=caller)
    with anyio.fail_after(BOUND):
        async with over_http(shop) as url:
            ada = Sender(url, "ada")
            first = await ada.call()
            id = linked_id(first)
            assert await shop.asked.settle(id, "paid")
            assert (await ada.call())["content"][0]["text"] == "Accepted(value='paid')"
            late = await ada.call(**agreed(first))
            assert linked_id(late) != id


async def test_a_call_that_may_still_come_back_keeps_its_visit_to_itself():
    shop = mcpserver(pay, caller=caller)
    with anyio.fail_after(BOUND):
        async with over_http(shop) as url:
            ada = Sender(url, "ada")
            first, second = await ada.call(), await ada.call()
    assert linked_id(first) != linked_id(second)


async def test_what_was_paid_in_time_is_found_the_next_morning():
    now = [time.time()]
    shop, person = clocked(pay, now, hold=SHORT), Person()
    with anyio.fail_after(BOUND):
        async with in_memory(shop) as target, client_on(JULY, target, person) as client:
            await client.call_tool("t", {})
            now[0] += 600
            assert await shop.asked.settle(person.ids[0], "paid")
            now[0] += 12 * 3600
            assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"


def clocked(body: Callable[..., Any], now: list[float], **options: Any) -> Any:
    def clock() -> float:
        return now[0]

    return mcpserver(body, clock=clock, store=MemoryStore(clock=clock), **options)


async def test_an_end_is_known_for_as_long_as_people_may_think():
    now = [time.time()]

    class Slow(Person):
        async def __call__(self, context: Any, params: Any) -> ElicitResult:
            if not isinstance(params, ElicitRequestURLParams):
                now[0] += 2 * DAY
            return await super().__call__(context, params)

    async def settle(url: str) -> None:
        assert await shop.asked.settle(id_in(url), "paid")

    shop, person = clocked(shipped, now, think_time=2 * DAY, timeout=3 * DAY), Slow(True, then=settle)
    with anyio.fail_after(BOUND):
        async with in_memory(shop) as target, client_on(JULY, target, person) as client:
            text = text_of(await client.call_tool("t", {}))
    assert text == "Accepted(value='paid') Accepted(value=True)"


async def test_a_visit_that_was_declined_is_left_to_nobody():
    shop, person = mcpserver(pay), Traveller("decline")
    async with in_memory(shop) as target, person.at(JULY, target) as client:
        assert text_of(await client.call_tool("t", {})) == "Declined()"
        assert text_of(await client.call_tool("t", {})) == "Declined()"
    assert len(set(person.urls)) == 2
    assert not await shop.asked.store.rows(prefix=PARKED_PREFIX)


async def test_what_is_consumed_is_left_to_nobody(revision: str):
    async def body() -> str:
        try:
            return repr(await visit("Please pay.", LINK))
        except StillOpen:
            return "still open"

    shop = mcpserver(body)
    person = Traveller(then=lambda id: shop.asked.settle(id, "paid"))
    async with in_memory(shop) as target, person.at(revision, target) as client:
        assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"
    assert not await shop.asked.store.rows(prefix=PARKED_PREFIX)
