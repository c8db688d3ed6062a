"""Stores that fail in the middle of a visit, and clients that want to hear how it goes on."""

import asyncio
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from askback import visit
from askback.errors import StoreUnavailable
from askback.model.visit import VisitSettled
from askback.runtime.visits import PARKED_PREFIX, VisitStore, digest_of
from askback.server.visit_endings import VisitEndings
from askback.stores import MemoryStore
from tests.support.visit_pages import outside
from tests.support.visit_shops import (
    BOUND,
    JULY,
    LINK,
    NOVEMBER,
    CountingMemory,
    Traveller,
    in_memory,
    mcpserver,
    over_http,
    pay,
    text_of,
)

pytestmark = pytest.mark.anyio

DOWN = StoreUnavailable(store="redis://inside", problem="connection refused", advice="Start it.")


class ForgetsTheLeft(MemoryStore):
    """Cannot keep what a call leaves."""

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        if owner.startswith(PARKED_PREFIX):
            raise DOWN
        await super().put(owner, name, value, until=until)


@pytest.mark.parametrize(("revision", "demands"), [(NOVEMBER, True), (JULY, False)])
async def test_a_store_that_cannot_keep_what_is_left_is_one_fixed_sentence(revision: str, demands: bool):
    shop = mcpserver(pay, demand_visits=demands, store=ForgetsTheLeft())
    async with in_memory(shop) as target, Traveller().at(revision, target) as client:
        with pytest.raises(MCPError) as told:
            await client.call_tool("t", {})
    assert told.value.data == {"reason": "store_unavailable"} and "redis" not in told.value.message


class Deaf(MemoryStore):
    """Never hears of an end."""

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        await anyio.lowlevel.checkpoint()
        raise DOWN


async def test_a_body_meets_the_store_s_failure_as_such_also_where_the_client_hears_of_progress():
    async def body() -> str:
        try:
            return repr(await visit("Please pay.", LINK))
        except StoreUnavailable:
            return "Please pay at the counter."

    async def hear(progress: float, total: float | None, message: str | None) -> None: ...

    shop = mcpserver(body, store=Deaf())
    with anyio.fail_after(BOUND):
        async with (
            over_http(shop) as url,
            Client(url, mode=JULY, elicitation_callback=Traveller()) as client,
        ):
            text = text_of(await client.call_tool("t", {}, progress_callback=hear))
    assert text == "Please pay at the counter."


async def test_of_two_visits_side_by_side_the_progress_only_grows():
    store = CountingMemory()
    heard: list[float] = []

    async def both() -> str:
        ways = (visit(f"Please {what}.", LINK, key=what) for what in ("sign", "pay"))
        return ", ".join(map(repr, await asyncio.gather(*ways)))

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async def settle(id: str) -> None:
        await store.counting.until_waiting(2)
        assert await shop.asked.settle(id, "done")

    shop, person = mcpserver(both, store=store), Traveller(then=settle)
    with anyio.fail_after(BOUND):
        async with (
            over_http(shop) as url,
            anyio.create_task_group() as person.group,
            Client(url, mode=JULY, elicitation_callback=person) as client,
        ):
            text = text_of(await client.call_tool("t", {}, progress_callback=hear))
            assert text == "Accepted(value='done'), Accepted(value='done')"
    assert heard == sorted(set(heard))


async def test_a_client_that_comes_to_hear_of_a_visit_whose_time_is_over_is_not_waited_with():
    session: Any = None
    ends = VisitEndings(VisitStore(MemoryStore(), clock=lambda: 100.0), clock=lambda: 100.0)
    ends.notify_when_ended("one", session, 99.0)
    ends.notify_when_ended("other", session, 99.0)


async def test_a_page_that_fails_between_two_ends_goes_on_where_it_was_when_it_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
):
    """Visits for the same thing are over together, if not at once."""
    grounds = outside()
    links = [await grounds.secret() for _ in range(3)]
    ids = [link.rpartition("/")[2] for link in links]
    site = grounds.asked.page_host._site(grounds.base)  # pyright: ignore[reportPrivateUsage] # what its pages work with
    found = await site.find(min(ids, key=digest_of))
    assert found is not None
    settle, last = grounds.asked.store.settle, f"visit:{max(map(digest_of, ids))}"

    async def fail_once(key: str, value: bytes, *, until: float) -> bytes:
        if key == last:
            monkeypatch.undo()
            raise DOWN
        return await settle(key, value, until=until)

    monkeypatch.setattr(grounds.asked.store, "settle", fail_once)
    with pytest.raises(StoreUnavailable):
        await site.settle(found)
    assert await site.settle(found)
    assert [await grounds.ending(link) for link in links] == [VisitSettled()] * 3
