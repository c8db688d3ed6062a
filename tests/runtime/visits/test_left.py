"""Visits that outlive their calls: for the same caller and the same call, and for nobody else."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from askback import visit
from askback.errors import StillOpen
from askback.runtime.visits import PARKED_PREFIX
from tests.runtime.visits.callers import WHO, Sender, agreed, caller, linked_id
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

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@asynccontextmanager
async def client_of(url: str, who: str | None, person: Traveller) -> AsyncGenerator[Client]:
    """A client of 2026-07-28 that says who it is for."""
    headers = {} if who is None else {WHO: who}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=JULY, elicitation_callback=person) as client:
            yield client


@pytest.mark.verifies("R25", "R28", "R29")
async def test_a_visit_that_one_caller_left_is_not_found_by_another():
    shop, ada, eve = mcpserver(pay, hold=SHORT, caller=caller), Traveller(), Traveller()
    with anyio.fail_after(BOUND):
        async with (
            over_http(shop) as url,
            client_of(url, "ada", ada) as hers,
            client_of(url, "eve", eve) as evil,
        ):
            assert "make the same call again" in text_of(await hers.call_tool("t", {}))
            assert await shop.asked.settle(ada.id, "paid by Ada")
            assert "make the same call again" in text_of(await evil.call_tool("t", {}))
            assert text_of(await hers.call_tool("t", {})) == "Accepted(value='paid by Ada')"
    assert eve.id != ada.id


@pytest.mark.verifies("R25")
async def test_a_visit_that_was_left_serves_no_call_with_other_arguments():
    async def order(pizza: str) -> str:
        return f"{pizza}: {await visit('Please pay.', LINK)}"

    shop, person = mcpserver(order, hold=SHORT), Traveller()
    async with in_memory(shop) as target, person.at(JULY, target) as client:
        await client.call_tool("t", {"pizza": "Margherita"})
        assert await shop.asked.settle(person.id, "paid")
        assert "is not done there yet" in text_of(await client.call_tool("t", {"pizza": "Funghi"}))
        text = text_of(await client.call_tool("t", {"pizza": "Margherita"}))
    assert text == "Margherita: Accepted(value='paid')"


@pytest.mark.verifies("R28")
async def test_where_nobody_tells_who_calls_nothing_is_left_and_that_is_said():
    errors: list[StillOpen] = []

    async def body() -> str:
        try:
            return repr(await visit("Please pay.", LINK))
        except StillOpen as error:
            errors.append(error)
            raise

    shop, person = mcpserver(body, hold=SHORT), Traveller()
    with anyio.fail_after(BOUND):
        async with over_http(shop) as url, client_of(url, None, person) as client:
            text = text_of(await client.call_tool("t", {}))
            assert "so the next call starts from the beginning" in text and "Askback(caller=...)" in text
            assert not await shop.asked.settle(person.id, "paid")  # nobody will ever ask for it
            await client.call_tool("t", {})
    assert [error.lasts for error in errors] == [False, False]
    assert len(set(person.urls)) == 2


@pytest.mark.verifies("R25", "R36")
async def test_a_round_of_one_caller_is_not_taken_from_another():
    shop = mcpserver(pay, caller=caller)
    with anyio.fail_after(BOUND):
        async with over_http(shop) as url:
            ada, eve = (Sender(url, who) for who in ("ada", "eve"))
            first = await ada.call()
            with pytest.raises(MCPError, match="requestState"):
                await eve.call(**agreed(first))
            assert await shop.asked.settle(linked_id(first), "paid")
            assert (await ada.call(**agreed(first)))["content"][0]["text"] == "Accepted(value='paid')"


async def test_a_client_that_cancels_its_call_finds_the_visit_with_the_next():
    """On 2025-11-25, where a call that was cancelled does not come back."""
    store = CountingMemory()
    shop, person = mcpserver(pay, store=store), Traveller()
    async with in_memory(shop) as target, person.at(NOVEMBER, target) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "t")
            await store.counting.until_waiting()
            group.cancel_scope.cancel()
        await store.counting.until_put(PARKED_PREFIX)
        assert await shop.asked.settle(person.id, "paid")
        assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"
    assert len(person.urls) == 1


async def test_a_call_that_hangs_up_while_it_is_held_goes_on_where_it_was():
    """On 2026-07-28 the same round may come again: the person is not asked twice."""
    store = CountingMemory()
    shop = mcpserver(pay, store=store, caller=caller)
    with anyio.fail_after(BOUND):
        async with over_http(shop) as url:
            ada = Sender(url, "ada")
            first = await ada.call()
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: ada.call(**agreed(first)))
                await store.counting.until_waiting()
                group.cancel_scope.cancel()
            await store.counting.until_waiting(0)
            assert await shop.asked.settle(linked_id(first), "paid")
            assert (await ada.call(**agreed(first)))["content"][0]["text"] == "Accepted(value='paid')"


async def test_two_people_of_one_name_are_not_kept_from_finishing():
    """Two calls of one caller at once, both given up: each is asked for by itself, and one of them is found again."""
    shop, person = mcpserver(pay, hold=SHORT), Traveller()
    async with in_memory(shop) as target, person.at(JULY, target) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "t")
            group.start_soon(client.call_tool, "t")
        assert len(set(person.urls)) == 2
        for url in set(person.urls):
            assert await shop.asked.settle(id_in(url), "paid")
        assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"
        assert len(set(person.urls)) == 2


@pytest.mark.verifies("R29")
async def test_a_visit_that_one_server_left_is_not_found_by_another_that_shares_its_store():
    store, person = CountingMemory(), Traveller()
    ours, others = mcpserver(pay, hold=SHORT, store=store), mcpserver(pay, "mill", hold=SHORT, store=store)
    async with in_memory(ours) as target, person.at(JULY, target) as client:
        await client.call_tool("t", {})
    assert await ours.asked.settle(person.id, "paid")
    async with in_memory(others) as target, person.at(JULY, target) as client:
        assert "is not done there yet" in text_of(await client.call_tool("t", {}))
    async with in_memory(ours) as target, person.at(JULY, target) as client:
        assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"
