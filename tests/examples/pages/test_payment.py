"""The payment example: booked when the bank says that it was paid, and every other end in words of its own."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitResult
from starlette.applications import Starlette
from starlette.routing import Route

from askback.testing import cancel, decline
from askback.testing.script import Reply
from examples.listening import listening
from examples.payment.bank import Bank
from examples.payment.server import Shop, Webhook
from tests.support.link_follower import CORNERS, going, running, text_of

pytestmark = pytest.mark.slow

TEAPOT = {"thing": "teapot"}
BOOKED = "Order 1: a teapot, paid with 24 euro."


async def press(link: str, answer: str) -> str:
    """Open the bank's page and press a button on it; what it says then."""
    async with httpx2.AsyncClient(trust_env=False) as browser:
        assert "Pay 24 euro for a teapot?" in (await browser.get(link)).text
        return (await browser.post(link, data={"answer": answer})).text


async def paying(link: str) -> None:
    assert "Paid. The shop knows" in await press(link, "pay")


async def with_a_bad_card(link: str) -> None:
    assert "The card was refused. The shop knows" in await press(link, "refuse")


@pytest.mark.parametrize(("revision", "transport"), CORNERS)
async def test_an_order_is_booked_after_it_was_paid(revision: str, transport: str):
    async with running("payment", transport) as target, going(target, paying, revision=revision) as driver:
        assert text_of(await driver.call_tool("order", TEAPOT)) == BOOKED


async def test_a_refused_card_is_an_end_in_words(revision: str):
    async with shopping() as shop, going(shop.mcp, with_a_bad_card, revision=revision) as driver:
        said = text_of(await driver.call_tool("order", TEAPOT))
        assert said == "Nothing ordered, and nothing paid: the bank refused the card."


@asynccontextmanager
async def shopping(**options: Any) -> AsyncGenerator[Shop]:
    """The shop in this process, with its bank and its webhook."""
    outside, key = Starlette(), b"agreed upon"
    async with listening(outside) as url:
        shop = Shop(url, **options)
        webhook = Route("/webhook", Webhook(shop.asked, key).receive, methods=["POST"])
        outside.router.routes += [*Bank(webhook=f"{url}/webhook", key=key).routes, webhook]
        yield shop


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (decline(), "Nothing ordered, since you do not want to pay."),
        (cancel(), "Nothing ordered yet. Ask again when you like."),
    ],
)
async def test_no_and_not_now_are_told_apart(revision: str, reply: Reply, said: str):
    async with shopping() as shop, going(shop.mcp, revision=revision, answers=[reply]) as driver:
        assert text_of(await driver.call_tool("order", TEAPOT)) == said


async def test_who_pays_when_the_time_is_over_keeps_their_money(revision: str):
    links: list[str] = []

    async def noting(link: str) -> None:
        links.append(link)

    async with shopping(patience=0.5) as shop, going(shop.mcp, noting, revision=revision) as driver:
        said = text_of(await driver.call_tool("order", TEAPOT))
        assert said == "Nothing ordered: the time to pay is over, and that page counts no more."
        assert "No money was taken." in await press(links[0], "pay")
        assert shop.orders == []


async def test_a_link_that_was_changed_to_pay_less_buys_nothing(revision: str):
    async def paying_less(link: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as browser:
            await browser.post(link.replace("euro=24", "euro=1"), data={"answer": "pay"})

    async with shopping() as shop, going(shop.mcp, paying_less, revision=revision) as driver:
        assert "something else was paid" in text_of(await driver.call_tool("order", TEAPOT))
        assert shop.orders == []


async def test_nobody_but_the_bank_can_say_that_it_was_paid(revision: str):
    async def saying_so(link: str) -> None:
        base, id = link.split("/pay/")
        said = {"id": id.split("?")[0], "paid": True, "euro": 24, "thing": "teapot"}
        async with httpx2.AsyncClient(trust_env=False) as browser:
            forged = await browser.post(f"{base}/webhook", json=said, headers={"X-Signature": "0" * 64})
            assert forged.status_code == 403
        await with_a_bad_card(link)

    async with shopping() as shop, going(shop.mcp, saying_so, revision=revision) as driver:
        assert "nothing paid" in text_of(await driver.call_tool("order", TEAPOT))


async def test_what_is_paid_twice_is_booked_once(revision: str):
    async def paying_twice(link: str) -> None:
        await paying(link)
        await paying(link)

    async with shopping() as shop, going(shop.mcp, paying_twice, revision=revision) as driver:
        assert text_of(await driver.call_tool("order", TEAPOT)) == BOOKED
        assert shop.orders == ["teapot"]


async def test_a_payment_that_outlasts_the_client_is_taken_up_by_the_next_call():
    """The SDK's own client, which gives a call ten rounds."""
    links: list[str] = []

    async def agree(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        links.append(getattr(params, "url", ""))
        return ElicitResult(action="accept")

    with anyio.fail_after(20):
        async with (
            shopping(hold=0.01) as shop,
            Client(shop.mcp, mode="2026-07-28", elicitation_callback=agree) as client,
        ):
            said = text_of(await client.call_tool("order", TEAPOT))
            assert said == "The payment page is still open. Pay there, then ask for the same order again."
            await paying(links[0])
            assert text_of(await client.call_tool("order", TEAPOT)) == BOOKED
    assert len(set(links)) == 1
