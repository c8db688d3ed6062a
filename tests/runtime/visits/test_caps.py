"""Visits that nobody finishes: so many are kept for one caller and so many in all, and whose visit is dropped is told
(T36)."""

import time
from collections.abc import Mapping
from typing import Any

import pytest
from mcp.server import MCPServer
from mcp_types import ClientCapabilities

from askback import Askback, visit
from askback.errors import AuthorError, VisitUnknown
from askback.model.quotas import RowQuota
from askback.oauth import Provider
from askback.runtime.visits import MAX_VISITS, VISITS_OWNER
from askback.server.hosts import lowlevel_of
from askback.stores import Cap, MemoryStore, Store
from askback.vault.keys import VARIABLE, new_key
from tests.runtime.visits.callers import WHO, agreed, caller, linked_id
from tests.support.defence import with_and_without
from tests.support.deliveries import end_of, text_of
from tests.support.direct_middleware import Direct
from tests.support.site import site
from tests.support.stores.workers import Opener
from tests.support.stores.workers import opener as opener
from tests.support.visit_shops import LINK, LINKS, NOVEMBER, Traveller, mcpserver, over_http

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("T36")]

CAPABILITIES = ClientCapabilities.model_validate(LINKS)

LONG_MESSAGE = "\N{GRINNING FACE}" * 9_990

MADE_ROOM = "it made room for newer ones"


async def pay() -> str:
    return repr(await visit("Please pay.", LINK))


async def pay_for_much() -> str:
    return repr(await visit(LONG_MESSAGE, LINK))


def without_caps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row is kept until its time is over."""

    def boundless(self: RowQuota, holder: str, *, kind: str = "", weight: int = 1) -> Cap:
        return Cap(kind or self.kind, holder, 10**12, 10**12, weight)

    monkeypatch.setattr(RowQuota, "cap", boundless)


def direct(store: Store, **options: Any) -> Direct:
    return Direct(store=store, capabilities=CAPABILITIES, caller=caller, hold=0.01, **options)


async def flood(server: Direct, calls: int, *, headers: Mapping[str, str] | None = None) -> None:
    """First calls, each with other arguments, from one client that never comes back."""
    for number in range(calls):
        await server.call(pay, arguments={"number": number}, headers=headers or {})


async def shelved(store: Store) -> int:
    return len(await store.rows(prefix=VISITS_OWNER, limit=100_000))


@with_and_without
@pytest.mark.parametrize("who", ["", "mallory"], ids=["nobody knows who", "one caller"])
async def test_first_calls_of_one_client_fill_its_own_share_and_nobody_elses(
    is_defended: bool, who: str, opener: Opener, monkeypatch: pytest.MonkeyPatch
):
    if not is_defended:
        without_caps(monkeypatch)
    store = opener(time.time)
    server = direct(store, max_visits=60, max_visits_per_caller=10)
    anns = await server.call(pay, headers={WHO: "ann"})
    await flood(server, 100, headers={WHO: who} if who else {})
    if is_defended:
        assert await shelved(store) == (11 if who else 31)  # of those whom nobody knows, half of all
        assert await store.count() <= 2 * 31
    else:
        assert await shelved(store) == 101
    assert await server.askback.settle(linked_id(anns), "paid")
    assert text_of(await server.call(pay, headers={WHO: "ann"}, **agreed(anns))) == "Accepted(value='paid')"


async def test_many_callers_together_fill_no_more_than_all_there_is(opener: Opener):
    store = opener(time.time)
    server = direct(store, max_visits=20, max_visits_per_caller=10)
    for number in range(50):
        await server.call(pay, headers={WHO: f"caller {number}"})
    assert await shelved(store) == 20
    assert await store.count() <= 40


@pytest.mark.slow
@with_and_without
async def test_fifteen_thousand_first_calls_of_one_client_without_authorization_are_bounded(
    is_defended: bool, monkeypatch: pytest.MonkeyPatch
):
    calls = 15_000 if is_defended else 1_500
    if not is_defended:
        without_caps(monkeypatch)
    store = MemoryStore()
    server = Direct(store=store, capabilities=CAPABILITIES)
    for number in range(calls):
        await server.call(pay_for_much, arguments={"number": number}, headers={})
    rows = await store.rows(prefix="", limit=calls)
    size = sum([len(await store.get(*row) or b"") for row in rows])
    assert len(rows) == (MAX_VISITS // 2 if is_defended else calls)
    assert size / len(rows) < 500  # the question itself, of 40 kB, is not kept
    assert await store.count() == len(rows)


async def test_a_header_of_ones_own_making_gives_no_other_share(opener: Opener):
    store = opener(time.time)
    server = direct(store, max_visits=20, max_visits_per_caller=10)
    for number in range(30):
        await server.call(pay, headers={"mcp-session-id": f"session {number}"})
    assert await shelved(store) == 10


async def test_the_call_that_comes_back_for_a_dropped_visit_is_told(opener: Opener):
    server = direct(opener(time.time), max_visits_per_caller=2)
    first = await server.call(pay, headers={WHO: "ann"})
    waiting = await server.call(pay, headers={WHO: "ann"}, **agreed(first))
    assert waiting["resultType"] == "input_required"
    await flood(server, 2, headers={WHO: "ann"})
    back = {"requestState": waiting["requestState"]}
    end = await end_of(server.call(pay, headers={WHO: "ann"}, **back))
    assert MADE_ROOM in text_of(end) and "Call again for a new link" in text_of(end)
    with pytest.raises(VisitUnknown, match="made room for newer ones"):
        await server.askback.settle(linked_id(first), "paid")


async def test_what_was_done_on_a_visit_before_it_was_dropped_counts(opener: Opener):
    server = direct(opener(time.time), max_visits_per_caller=2)
    first = await server.call(pay, headers={WHO: "ann"})
    waiting = await server.call(pay, headers={WHO: "ann"}, **agreed(first))
    await server.askback.settle(linked_id(first), "paid")
    await flood(server, 2, headers={WHO: "ann"})
    back = {"requestState": waiting["requestState"]}
    assert text_of(await server.call(pay, headers={WHO: "ann"}, **back)) == "Accepted(value='paid')"


async def test_a_call_that_is_held_open_learns_that_its_visit_was_dropped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("askback.runtime.visit_flow.RECHECK_SECONDS", 0.01)
    shop = mcpserver(pay, max_visits_per_caller=1)

    async def call_once_more(_id: str) -> None:
        async with Traveller("decline").at(NOVEMBER, lowlevel_of(shop.server)) as other:
            await other.call_tool("t", {})

    async with Traveller(then=call_once_more).at(NOVEMBER, lowlevel_of(shop.server)) as client:
        result = await client.call_tool("t", {})
    assert MADE_ROOM in str(result)


async def test_sessions_without_authorization_have_a_share_each(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("askback.runtime.visit_flow.RECHECK_SECONDS", 0.01)
    shop = mcpserver(pay, max_visits_per_caller=1)
    async with over_http(shop) as url:

        async def pay_after_another(id: str) -> None:
            async with Traveller("decline").at(NOVEMBER, url) as other:
                await other.call_tool("t", {})
            await shop.asked.settle(id, "paid")

        async with Traveller(then=pay_after_another).at(NOVEMBER, url) as client:
            result = await client.call_tool("t", {})
    assert "Accepted(value='paid')" in str(result)


async def test_whoever_opens_the_link_of_a_dropped_visit_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(VARIABLE, new_key())
    provider = Provider(
        name="calendar", issuer="https://login.example", client_id="id", client_secret="secret"
    )
    pages = site(provider, max_visits=2)  # one for those whom nobody knows
    links = [await pages.ask("ann", "calendar") for _ in range(2)]
    async with pages.visitor("ann") as ann:
        dropped, newest = [await ann.open(link) for link in links]
    assert dropped.status == 404 and "too many links were open at once" in dropped.html
    assert newest.status != 404


async def test_the_log_says_once_that_visits_are_dropped(caplog: pytest.LogCaptureFixture):
    server = direct(MemoryStore(), max_visits_per_caller=2)
    await flood(server, 50, headers={WHO: "ann"})
    said = [record.getMessage() for record in caplog.records if "were dropped" in record.getMessage()]
    assert len(said) == 1
    assert "a caller may have 2, and all together 10000" in said[0]
    assert "raise max_visits_per_caller= or max_visits=" in said[0]


@pytest.mark.parametrize("option", ["max_visits", "max_visits_per_caller"])
@pytest.mark.parametrize("given", [0, -1, None, True, 2.5, "many"])
def test_a_cap_is_a_whole_number_from_one_on(option: str, given: Any):
    with pytest.raises(AuthorError, match="a whole number from 1 on"):
        Askback(MCPServer("shop"), **{option: given})
