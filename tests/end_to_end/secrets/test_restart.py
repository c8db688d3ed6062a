"""A server that is killed while a person is on a page, and started again: they finish, and are asked nothing twice."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from askback.answers import Accepted
from askback.client import Driver, FinishedCall, WaitingCall
from askback.errors import ServerGone
from askback.testing import accept
from askback.testing.person import ScriptedPerson
from tests.end_to_end.secrets.relay import Relayed, relayed
from tests.end_to_end.secrets.scene import MODES, Customer, text_of
from tests.support.secret_shop.process import PATIENCE, Shop, free_port, shop_at
from tests.support.secret_shop.shop import Plan
from tests.support.secret_shop.visitor import SAVED, Visitor

pytestmark = [pytest.mark.verifies("R24", "R28"), pytest.mark.slow]

KEY = "a key for the weather"
WELL = f"{len(KEY)} signs"
CONSENT = b'"action":"accept"'

NOVEMBER, JULY = MODES


@asynccontextmanager
async def at_shop(folder: Path, **how: Any) -> AsyncGenerator[tuple[Shop, Relayed]]:
    """A shop with a wire before it, on which a test sees the consent go by."""
    plan = Plan(folder=str(folder), port=free_port(), **how)
    with anyio.fail_after(PATIENCE):
        async with shop_at(plan) as shop, relayed(shop.port) as relay:
            yield shop, relay


async def use(url: str, revision: str, customer: Customer) -> str:
    """By the SDK's own client."""
    async with Client(url, mode=MODES[revision], elicitation_callback=customer) as client:
        return text_of(await client.call_tool("use", {"how": "well"}))


async def cut_off(url: str, revision: str, customer: Customer) -> None:
    """A call that its server does not live to answer."""
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever this client makes of it
        await use(url, revision, customer)


@pytest.mark.parametrize("revision", MODES)
async def test_killed_after_consent_it_finds_the_key_in_the_next_call(revision: str, tmp_path: Path):
    async with at_shop(tmp_path) as (shop, relay), Visitor() as visitor, anyio.create_task_group() as tasks:
        customer = Customer(tasks, visitor.open)
        tasks.start_soon(cut_off, relay.url, revision, customer)
        await relay.passed(CONSENT)
        await customer.rests()
        await shop.restart()
        assert await visitor.send(customer.links[0], KEY) == SAVED
        assert await use(relay.url, revision, customer) == WELL
        assert len(customer.links) == 1


async def test_killed_after_consent_it_takes_the_same_round_up_again(tmp_path: Path):
    async with at_shop(tmp_path) as (shop, relay), Visitor() as visitor, anyio.create_task_group() as tasks:
        waiting, link = await begun(relay.url)
        ended: list[Any] = []

        async def consent() -> None:
            async with driver_at(relay.url) as driver:
                with pytest.raises(ServerGone):
                    await driver.resume(waiting, CONSENTED)

        tasks.start_soon(consent)
        await relay.passed(CONSENT)
        await shop.restart()

        async def consent_again() -> None:
            async with driver_at(relay.url) as driver:
                ended.append(await driver.resume(waiting, CONSENTED))

        async with anyio.create_task_group() as calling:
            calling.start_soon(consent_again)
            assert await visitor.type(link, KEY) == SAVED
        assert [text_of(one.result) for one in ended] == [WELL]


async def test_killed_between_typing_and_reading_it_reads(tmp_path: Path):
    async with at_shop(tmp_path) as (shop, relay), Visitor() as visitor:
        waiting, link = await begun(relay.url)
        assert await visitor.type(link, KEY) == SAVED
        await shop.restart()
        async with driver_at(relay.url) as driver:
            ended = await driver.resume(waiting, CONSENTED)
        assert await visitor.open(link) == SAVED, "the page still says how it ended"
    assert isinstance(ended, FinishedCall)
    assert text_of(ended.result) == WELL


async def test_called_anew_before_the_page_is_filled_in_both_links_do(tmp_path: Path):
    """On 2025-11-25 the wait dies with the session, so the next call asks; the page that is open still counts."""
    async with at_shop(tmp_path) as (shop, relay), Visitor() as visitor, anyio.create_task_group() as tasks:

        async def finish_the_first(_: str) -> None:
            assert await visitor.send(customer.links[0], KEY) == SAVED

        customer = Customer(tasks, visitor.open, finish_the_first)
        tasks.start_soon(cut_off, relay.url, NOVEMBER, customer)
        await relay.passed(CONSENT)
        await customer.rests()
        await shop.restart()
        assert await use(relay.url, NOVEMBER, customer) == WELL
        assert await use(relay.url, NOVEMBER, customer) == WELL
        assert len(customer.links) == 2


async def test_a_demanded_visit_outlives_the_server(tmp_path: Path):
    async with at_shop(tmp_path, demand_visits=True) as (shop, _), Visitor() as visitor:
        person = Away(shop, visitor)
        async with Driver(shop.url, person, label="shop", revision=NOVEMBER) as driver:
            with pytest.raises(Exception, match=r"(?s)."):
                await driver.call_tool("use", {"how": "well"})
        async with Driver(shop.url, person, label="shop", revision=NOVEMBER) as driver:
            assert text_of(await driver.call_tool("use", {"how": "well"})) == WELL
    assert len(person.visited) == 1


class Away(ScriptedPerson):
    """Goes to the page, and while they type the server is killed and started again."""

    def __init__(self, shop: Shop, visitor: Visitor) -> None:
        super().__init__([accept()])
        self._shop, self._visitor = shop, visitor

    async def wait(self, asked: Any, finished: anyio.Event) -> Any:
        await self._visitor.open(asked.url)
        await self._shop.restart()
        assert await self._visitor.send(asked.url, KEY) == SAVED
        return "done"


# Step by step.

CONSENTED = {"secret-1:weather key": Accepted(None)}


def driver_at(url: str) -> Driver:
    return Driver(url, modes={"url"}, label="shop", revision=JULY)


async def begun(url: str) -> tuple[WaitingCall, str]:
    """A call that is left at its question, and the link in it."""
    async with driver_at(url) as driver:
        waiting = await driver.begin("use", {"how": "well"})
    assert isinstance(waiting, WaitingCall)
    (asked,) = waiting.questions.values()
    return waiting, getattr(asked, "url", "")
