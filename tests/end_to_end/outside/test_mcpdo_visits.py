"""mcpdo sent to pages: to one that is not ours, which the application settles, and to one of ours for a key."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer

from askback import Askback
from askback.stores import SQLiteStore
from tests.end_to_end.outside.mcpdo import CORNERS, Guest, guest_at, text_of
from tests.support.programs import RUNNING
from tests.support.secret_shop.process import free_port
from tests.support.secret_shop.shop import Plan
from tests.support.secret_shop.visitor import SAVED, Visitor

pytestmark = pytest.mark.strangers

KEY = "a key for the weather"

HOLD = 0.5
"""Seconds: so short that a client has to come back by itself while the person is away."""


class Shop:
    """A shop with a guest at it, and the application behind it."""

    def __init__(self, plan: Plan, guest: Guest) -> None:
        self.plan, self.guest = plan, guest

    def settle(self, link: dict[str, Any]) -> None:
        anyio.run(self._end, link, None)

    def fail(self, link: dict[str, Any], reason: str) -> None:
        anyio.run(self._end, link, reason)

    def type(self, link: dict[str, Any], value: str) -> str:
        """What the page says then."""
        return anyio.run(_type, link["url"], value)

    @property
    def runs(self) -> int:
        """How often the body of `pay` was begun."""
        return len(self.plan.runs.read_text().splitlines()) if self.plan.runs.exists() else 0

    async def _end(self, link: dict[str, Any], reason: str | None) -> None:
        asked = Askback(MCPServer("application"), store=SQLiteStore(self.plan.store))
        id = link["url"].rpartition("/")[2]
        assert await (asked.settle(id, 20) if reason is None else asked.fail(id, reason))
        await asked.store.close()


async def _type(url: str, value: str) -> str:
    async with Visitor() as visitor:
        return await visitor.type(url, value)


@contextmanager
def shop_with_guest(connection: str, **how: Any) -> Generator[Shop]:
    with TemporaryDirectory(prefix="shop-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKBACK_HOME", str(Path(folder) / "home"))
        port = free_port() if connection.endswith("http") else None
        plan = Plan(folder=folder, port=port, hold=HOLD, **how)
        words = plan.command[1:]
        with guest_at(connection, stdio=words, http=words) as guest:
            yield Shop(plan, guest)


@pytest.fixture(scope="module", params=CORNERS)
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    with shop_with_guest(request.param) as shop:
        yield shop


@pytest.fixture(scope="module", params=["legacy http"])
def demanding(request: pytest.FixtureRequest) -> Iterator[Shop]:
    with shop_with_guest(request.param, demand_visits=True) as shop:
        yield shop


def test_a_visit_is_over_when_the_application_says_so(shop: Shop):
    link = shop.guest.call("pay")
    assert link["message"] == "Pay for the forecast."
    assert link["url"].startswith("https://pay.example/checkout/")
    shop.settle(link)
    paid = shop.guest.answer(link, "--done")
    assert (text_of(paid), paid["isError"]) == ("Paid: 20", False)


@pytest.mark.verifies("R24")
def test_consent_is_not_the_end_and_the_call_waits_for_that(shop: Shop):
    link, printed = shop.guest.call("pay"), list[dict[str, Any]]()
    begun = shop.runs
    waiting = Thread(target=lambda: printed.append(shop.guest.answer(link, "--done")))
    waiting.start()
    come_back = 2 if shop.guest.era == "modern" else 0
    while shop.runs < begun + come_back:
        waiting.join(HOLD / 10)
        assert waiting.is_alive(), printed
    shop.settle(link)
    waiting.join(RUNNING)
    assert text_of(printed[0]) == "Paid: 20"


@pytest.mark.verifies("R15")
def test_a_visit_that_fails_and_one_that_nobody_makes_are_told_apart(shop: Shop):
    link = shop.guest.call("pay")
    shop.fail(link, "the card was refused")
    failed = shop.guest.answer(link, "--done")
    assert failed["isError"] and "the card was refused" in text_of(failed)
    assert text_of(shop.guest.answer(shop.guest.call("pay"), "--cancel")) == "Not paid."


@pytest.mark.verifies("R30")
def test_a_key_is_typed_on_our_page_and_asked_for_once(shop: Shop):
    link = shop.guest.call("use", "how:=well")
    assert link["message"] == "Your key for the weather service."
    assert shop.type(link, KEY) == SAVED
    for used in (shop.guest.answer(link, "--done"), shop.guest.call("use", "how:=well")):
        assert text_of(used) == f"{len(KEY)} signs"


@pytest.mark.verifies("R79")
def test_a_demanded_visit_is_made_and_the_call_made_again(demanding: Shop):
    link = demanding.guest.call("pay")
    demanding.settle(link)
    assert text_of(demanding.guest.answer(link, "--done")) == "Paid: 20"


@pytest.mark.verifies("R79")
def test_a_demanded_key_is_typed_and_the_call_made_again(demanding: Shop):
    link = demanding.guest.call("use", "how:=well")
    assert demanding.type(link, KEY) == SAVED
    assert text_of(demanding.guest.answer(link, "--done")) == f"{len(KEY)} signs"
