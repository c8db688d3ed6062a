"""What is typed on a page is found nowhere but in the vault and in the body that asked for it (T05, R30)."""

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import Page

from tests.end_to_end.secrets.scene import MODES, Customer, scene
from tests.support.chromium import browsing
from tests.support.secret_shop.canary import Canary
from tests.support.secret_shop.leaks import PAGE_LEAKS
from tests.support.secret_shop.process import PATIENCE
from tests.support.secret_shop.visitor import Visitor

pytestmark = [pytest.mark.verifies("T05", "R30"), pytest.mark.slow]

NOVEMBER, JULY = MODES

COMBINATIONS = [
    ("MCPServer", "stdio", NOVEMBER),
    ("MCPServer", "http", JULY),
    ("FastMCP", "stdio", JULY),
    ("FastMCP", "http", NOVEMBER),
]
"""Every two of host, transport and revision meet."""


async def type_with_mishaps(visitor: Visitor, canary: Canary, url: str) -> None:
    """Too much, as a file, from a page of somebody else's; and then as it should be."""
    await visitor.open(url)
    token, value = visitor.token, canary.value
    await visitor.send(url, value * 1_000)
    await visitor.post(url, {"token": token}, files={"field-value": (f"{canary.core}.txt", value.encode())})
    await visitor.post(url, {"token": "not ours", "answer": "yes", "field-value": value})
    await visitor.post(f"{url}x", {"token": token, "answer": "yes", "field-value": value})
    await visitor.type(url, value)


@pytest.mark.parametrize(("host", "transport", "revision"), COMBINATIONS)
async def test_a_typed_key_is_used_refused_and_forgotten_and_found_nowhere(
    host: str, transport: str, revision: str, tmp_path: Path
):
    canary, looks = Canary(), list[dict[str, bytes]]()
    with anyio.fail_after(PATIENCE):
        async with Visitor() as visitor, anyio.create_task_group() as tasks:
            customer = Customer(tasks, partial(type_with_mishaps, visitor, canary), visitor.turn_down)
            async with scene(
                tmp_path, host=host, transport=transport, revision=revision, customer=customer
            ) as at:
                assert await at.use("well") == f"{len(canary.value)} signs"
                assert await at.use("asking more") == f"{len(canary.value)} signs, True"
                for how in ("raising", "giving back", "listing"):
                    await at.use(how)
                await customer.rests()
                looks.append(await at.places())
                assert await at.use("rejecting") == "rejected"
                assert await at.use("well") == "Declined"
                await customer.rests()
                looks.append({**await at.places(), **visitor.places})
            assert len(customer.links) == 2
    assert [canary.places(places) for places in looks] == [{}, {}]
    places = looks[-1]
    assert b"The service said that \xe2\x80\xa6 is wrong." in places["pages"], "why it is asked for again"
    assert (places["states"] != b"") == (revision == "2026-07-28")
    assert b"shop DEBUG use well" in places["log"]
    assert all(event in places["ledger"] for event in (b'"asked"', b'"shown"', b'"answered"', b'"settled"'))
    assert b"POST /askback" in places["log"] or transport == "stdio", "uvicorn says who came"


LEAKS = {
    "into result": "to the client",
    "into error": "to the client",
    "into traceback": "log",
    "into log": "log",
    "into state": "states",
    "into store": "database",
    "into ledger": "ledger",
    "into arguments": "arguments",
    "into environment": "environment",
}
"""What the body is told to do, and where the search has to find it then."""


@pytest.mark.parametrize("how", [*LEAKS, *PAGE_LEAKS])
async def test_a_leak_in_any_of_these_places_would_be_found(how: str, tmp_path: Path):
    canary, found = Canary(), dict[str, list[str]]()
    leak = how if how in PAGE_LEAKS else ""
    with anyio.fail_after(PATIENCE):
        async with Visitor() as visitor, anyio.create_task_group() as tasks:
            customer = Customer(tasks, lambda url: visitor.type(url, canary.value))
            options: dict[str, Any] = {"host": "MCPServer", "transport": "http", "revision": "2026-07-28"}
            async with scene(tmp_path, **options, customer=customer, leak=leak) as at:
                await at.use("well" if leak else how)
                await customer.rests()
                found |= canary.places({**await at.places(), **visitor.places})
    assert LEAKS.get(how, leak) in found


async def test_the_search_knows_it_in_every_dress():
    canary = Canary()
    dresses = dict(canary.dresses())
    assert canary.places(
        {name: b"before " + dress + b" after" for name, dress in dresses.items()}
    ).keys() == (dresses.keys())


@pytest.mark.browser
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_browser_keeps_nothing_of_it(transport: str, tmp_path: Path):
    canary, kept = Canary(), dict[str, bytes]()

    async def type_in(page: Page, url: str) -> None:
        addresses: list[str] = []
        page.on("request", lambda request: addresses.append(request.url))
        await page.goto(url)
        await page.get_by_label("weather key").fill(canary.value)
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.wait_for_load_state()
        await page.reload()
        kept["addresses"] = repr([*addresses, page.url]).encode()
        kept["page"] = (await page.content()).encode()
        kept["storage"] = repr(await page.context.storage_state()).encode()
        kept["history"] = repr(await page.evaluate("[history.state, document.cookie, window.name]")).encode()

    with anyio.fail_after(PATIENCE):
        async with browsing() as browser, anyio.create_task_group() as tasks:
            page = await browser.new_page()
            customer = Customer(tasks, partial(type_in, page))
            async with scene(
                tmp_path, host="MCPServer", transport=transport, revision="2026-07-28", customer=customer
            ) as at:
                assert await at.use("well") == f"{len(canary.value)} signs"
                await customer.rests()
                kept |= await at.places()
    assert b"askback-" in kept["storage"]
    assert canary.places(kept) == {}
