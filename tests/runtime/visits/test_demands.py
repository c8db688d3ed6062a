"""-32042 on 2025-11-25: the call ends with the visits it needs, and made again it finds them done."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from askback import CannotAsk, ask, visit
from askback.errors import VisitFailed
from askback.server.hosts import lowlevel_of
from tests.runtime.visits.callers import WHO, caller
from tests.support.servers.clients import client_on
from tests.support.visit_shops import (
    BOUND,
    LINK,
    NOVEMBER,
    CountingMemory,
    Host,
    Listening,
    Traveller,
    greeting,
    mcpserver,
    over_http,
    pay,
    text_of,
)

pytestmark = pytest.mark.anyio

WITHOUT_A_WAY_BACK: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "JSON responses": ({"json_response": True}, {"caller": caller}),
    "stateless": ({"stateless_http": True}, {"caller": caller, "clients_can": {"form", "url"}}),
    "stateless, JSON": (
        {"stateless_http": True, "json_response": True},
        {"caller": caller, "clients_can": {"form", "url"}},
    ),
}
"""How a server is served that cannot ask in the middle of a call, and what its author says of it."""


@asynccontextmanager
async def session_at(
    url: str, who: str | None = "ada", ear: Listening | None = None
) -> AsyncGenerator[ClientSession]:
    """A client of 2025-11-25 that shows links and says who it is for."""

    async def never(context: Any, params: Any) -> ElicitResult:
        raise AssertionError("there is no way to ask")

    headers = {} if who is None else {WHO: who}
    ear = ear or Listening()
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        streamable_http_client(url, http_client=http) as (read, write),
        ClientSession(read, write, elicitation_callback=never, message_handler=ear.hear) as session,
    ):
        await session.initialize()
        yield session


async def demanded(client: Any, **arguments: Any) -> list[dict[str, Any]]:
    """The visits that a call demands."""
    with pytest.raises(MCPError) as raised:
        await client.call_tool("t", arguments)
    assert raised.value.code == -32042
    assert set(raised.value.data) == {"elicitations"}
    return raised.value.data["elicitations"]


@pytest.mark.verifies("R79")
@pytest.mark.parametrize("way", WITHOUT_A_WAY_BACK)
async def test_without_a_way_back_the_call_lists_its_visit_and_succeeds_when_made_again(host: Host, way: str):
    how, options = WITHOUT_A_WAY_BACK[way]
    shop = host(pay, **options)
    with anyio.fail_after(BOUND):
        async with over_http(shop, **how) as url, session_at(url) as client:
            (listed,) = await demanded(client)
            assert listed == {
                "mode": "url",
                "message": "Please pay.",
                "url": LINK.replace("{id}", listed["elicitationId"]),
                "elicitationId": listed["elicitationId"],
            }
            assert await shop.asked.settle(listed["elicitationId"], "paid")
            assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"
            (anew,) = await demanded(client)
            assert anew["elicitationId"] != listed["elicitationId"]


@pytest.mark.verifies("R79")
async def test_an_author_may_prefer_it_where_there_is_a_way_back(host: Host):
    shop, person = host(pay, demand_visits=True), Traveller()
    async with person.at(NOVEMBER, lowlevel_of(shop.server)) as client:
        (listed,) = await demanded(client)
        assert await shop.asked.settle(listed["elicitationId"], "paid")
        assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"
    assert not person.urls


async def test_a_demand_is_for_2025_11_25_alone():
    shop = mcpserver(pay, demand_visits=True)
    person = Traveller(then=lambda id: shop.asked.settle(id, "paid"))
    async with person.at("2026-07-28", lowlevel_of(shop.server)) as client:
        assert text_of(await client.call_tool("t", {})) == "Accepted(value='paid')"


async def both() -> str:
    async def go(what: str) -> str:
        return repr(await visit(f"Please {what}.", LINK, key=what))

    return ", ".join(await asyncio.gather(go("sign"), go("pay")))


@pytest.mark.verifies("R79")
async def test_all_visits_that_a_call_needs_are_listed_together(host: Host):
    shop = host(both, demand_visits=True)
    async with Traveller().at(NOVEMBER, lowlevel_of(shop.server)) as client:
        listed = await demanded(client)
        assert [one["message"] for one in listed] == ["Please sign.", "Please pay."]
        for one in listed:
            assert await shop.asked.settle(one["elicitationId"], one["message"])
        text = text_of(await client.call_tool("t", {}))
    assert text == "Accepted(value='Please sign.'), Accepted(value='Please pay.')"


async def test_of_two_visits_the_one_that_is_done_is_not_asked_for_again(host: Host):
    shop = host(both, demand_visits=True, hold=0.05)
    async with Traveller().at(NOVEMBER, lowlevel_of(shop.server)) as client:
        sign, pay_ = await demanded(client)
        assert await shop.asked.settle(sign["elicitationId"], "signed")
        assert await demanded(client) == [pay_]
        assert await demanded(client) == [pay_]
        assert await shop.asked.settle(pay_["elicitationId"], "paid")
        text = text_of(await client.call_tool("t", {}))
    assert text == "Accepted(value='signed'), Accepted(value='paid')"


async def test_visits_one_after_another_are_demanded_one_after_another(host: Host):
    async def body() -> str:
        signed = await visit("Please sign.", LINK)
        went = await visit("Please look.", LINK, wait=False)
        paid = await visit("Please pay.", LINK)
        return f"{signed} {went} {paid}"

    shop = host(body, demand_visits=True)
    async with Traveller().at(NOVEMBER, lowlevel_of(shop.server)) as client:
        (sign,) = await demanded(client)
        assert await shop.asked.settle(sign["elicitationId"], "signed")
        (look,) = await demanded(client)
        assert look["message"] == "Please look."
        (pay_,) = await demanded(client)
        assert pay_["message"] == "Please pay."
        assert await shop.asked.settle(pay_["elicitationId"], "paid")
        text = text_of(await client.call_tool("t", {}))
    assert (
        text == f"Accepted(value='signed') Accepted(value='{look['elicitationId']}') Accepted(value='paid')"
    )


async def test_a_call_that_comes_too_early_is_held_and_told_the_same_visit_again(host: Host):
    shop = host(pay, demand_visits=True, hold=0.05)
    async with Traveller().at(NOVEMBER, lowlevel_of(shop.server)) as client:
        first = await demanded(client)
        assert await demanded(client) == first


async def test_a_call_that_is_held_goes_on_as_soon_as_the_visit_is_settled(host: Host):
    store = CountingMemory()
    shop = host(pay, demand_visits=True, store=store)
    texts: list[str] = []

    async def again(client: Any) -> None:
        texts.append(text_of(await client.call_tool("t", {})))

    async with Traveller().at(NOVEMBER, lowlevel_of(shop.server)) as client:
        (listed,) = await demanded(client)
        async with anyio.create_task_group() as group:
            group.start_soon(again, client)
            await store.counting.until_waiting()
            assert await shop.asked.settle(listed["elicitationId"], "paid")
    assert texts == ["Accepted(value='paid')"]


async def test_of_two_calls_that_come_back_at_once_one_has_the_visit(host: Host):
    store = CountingMemory()
    shop = host(pay, demand_visits=True, store=store)
    ends: list[str] = []

    async def again(client: Any) -> None:
        try:
            ends.append(text_of(await client.call_tool("t", {})))
        except MCPError as error:
            (listed,) = error.data["elicitations"]
            ends.append(listed["elicitationId"])

    async with Traveller().at(NOVEMBER, lowlevel_of(shop.server)) as client:
        (listed,) = await demanded(client)
        async with anyio.create_task_group() as group:
            group.start_soon(again, client)
            group.start_soon(again, client)
            await store.counting.until_waiting(2)
            assert await shop.asked.settle(listed["elicitationId"], "paid")
    assert ends.count("Accepted(value='paid')") == 1
    assert listed["elicitationId"] not in ends


async def test_what_failed_is_told_and_the_next_call_begins_anew(host: Host):
    async def body() -> str:
        try:
            return repr(await visit("Please pay.", LINK))
        except VisitFailed as failed:
            return failed.reason

    shop = host(body, demand_visits=True)
    async with Traveller().at(NOVEMBER, lowlevel_of(shop.server)) as client:
        (listed,) = await demanded(client)
        assert await shop.asked.fail(listed["elicitationId"], "the card was refused")
        assert text_of(await client.call_tool("t", {})) == "the card was refused"
        assert (await demanded(client))[0]["elicitationId"] != listed["elicitationId"]


async def test_forms_go_the_usual_way_beside_it():
    async def body() -> str:
        drink = await ask("Drink?", str)
        return f"{drink} {await visit('Please pay.', LINK)}"

    async def answer(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"value": "tea"})

    shop = mcpserver(body, demand_visits=True)
    with anyio.fail_after(BOUND):
        async with client_on(NOVEMBER, lowlevel_of(shop.server), answer) as client:
            (listed,) = await demanded(client)
            assert await shop.asked.settle(listed["elicitationId"], "paid")
            assert text_of(await client.call_tool("t", {})) == "Accepted(value='tea') Accepted(value='paid')"


@pytest.mark.verifies("R25", "R28", "R29")
async def test_what_one_caller_has_done_serves_no_other():
    how, options = WITHOUT_A_WAY_BACK["stateless"]
    shop = mcpserver(pay, **options)
    with anyio.fail_after(BOUND):
        async with (
            over_http(shop, **how) as url,
            session_at(url, "ada") as hers,
            session_at(url, "eve") as evil,
        ):
            (ada,) = await demanded(hers)
            assert await shop.asked.settle(ada["elicitationId"], "paid by Ada")
            (eve,) = await demanded(evil)
            assert eve["elicitationId"] != ada["elicitationId"]
            assert text_of(await hers.call_tool("t", {})) == "Accepted(value='paid by Ada')"


@pytest.mark.verifies("R25")
async def test_what_was_done_for_one_call_serves_no_call_with_other_arguments():
    async def body(pizza: str) -> str:
        return f"{pizza}: {await visit('Please pay.', LINK)}"

    shop = mcpserver(body, demand_visits=True)
    async with Traveller().at(NOVEMBER, lowlevel_of(shop.server)) as client:
        (listed,) = await demanded(client, pizza="Margherita")
        assert await shop.asked.settle(listed["elicitationId"], "paid")
        assert (await demanded(client, pizza="Funghi"))[0]["elicitationId"] != listed["elicitationId"]


@pytest.mark.verifies("R28")
@pytest.mark.parametrize("who", [None, ""])
async def test_where_nobody_tells_who_calls_the_author_gets_advice(who: str | None):
    errors: list[CannotAsk] = []

    async def body() -> str:
        try:
            return repr(await visit("Please pay.", LINK))
        except CannotAsk as error:
            errors.append(error)
            return "Please pay at the counter."

    shop = mcpserver(body, caller=caller)
    with anyio.fail_after(BOUND):
        async with over_http(shop, json_response=True) as url, session_at(url, who) as client:
            assert text_of(await client.call_tool("t", {})) == "Please pay at the counter."
    assert "could not be told from a stranger's" in errors[0].reason
    assert "Askback(caller=...)" in errors[0].advice


async def test_where_nobody_says_what_clients_can_show_nothing_is_demanded():
    shop = mcpserver(pay, caller=caller)
    with anyio.fail_after(BOUND):
        async with over_http(shop, stateless_http=True) as url, session_at(url) as client:
            result = await client.call_tool("t", {})
    assert "did not declare that it can show a link" in text_of(result)


@pytest.mark.verifies("R80")
async def test_the_client_whose_call_demanded_a_visit_is_told_of_its_end_and_no_other(host: Host):
    shop = greeting(host(pay, demand_visits=True, caller=caller))
    ada, eve = Listening(), Listening()
    with anyio.fail_after(BOUND):
        async with (
            over_http(shop) as url,
            session_at(url, "ada", ada) as hers,
            session_at(url, "eve", eve) as evil,
        ):
            await ada.until_listening(hers)
            await eve.until_listening(evil)
            (mine,), (theirs,) = await demanded(hers), await demanded(evil)
            assert await shop.asked.settle(mine["elicitationId"], "paid")
            await ada.news.wait()
            assert await shop.asked.settle(theirs["elicitationId"], "paid")
            await eve.news.wait()
    assert (ada.heard, eve.heard) == ([mine["elicitationId"]], [theirs["elicitationId"]])


@pytest.mark.parametrize(("revision", "said"), [("2025-06-18", "catch CannotAsk"), (NOVEMBER, "-32042")])
async def test_what_an_operator_says_of_clients_in_general_makes_no_links_in_june_2025(
    revision: str, said: str
):
    """Without a handshake nobody hears what this client can show; one that says so itself gets them."""
    shop = mcpserver(pay, caller=caller, clients_can=["url"])
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}}
    headers = {"mcp-protocol-version": revision, "accept": "application/json, text/event-stream", WHO: "ada"}
    with anyio.fail_after(BOUND):
        async with over_http(shop, stateless_http=True) as url, httpx2.AsyncClient() as http:
            answer = await http.post(url, json=call, headers=headers)
    assert said in answer.text
