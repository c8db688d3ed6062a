"""People who take their time, by a clock that the test moves; the client is the SDK's own, with its ten rounds."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import ElicitResult

from askback import Accepted, secret, visit
from askback.answers import Answer
from askback.client import Driver
from askback.client.person import Mode, Turn, VisitAsked, VisitReply
from askback.stores import MemoryStore
from askback.vault.keyring import KeyRing
from askback.vault.vault import Vault
from tests.runtime.visits.moving_clock import MovingLoop, go_by, moving_loop
from tests.support.servers.clients import client_on
from tests.support.visit_shops import (
    JULY,
    LINK,
    NOVEMBER,
    Shop,
    Traveller,
    id_in,
    in_memory,
    mcpserver,
    pay,
    text_of,
)
from tests.support.visitor import visitor

pytestmark = pytest.mark.anyio

MINUTE, HOUR = 60.0, 3600.0
PATIENCE = 10 * 25.0
"""Seconds that a client with ten rounds waits, where each is held for the usual time."""


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return "asyncio", {"loop_factory": MovingLoop}


def shop_of(body: Callable[..., Any] = pay, **options: Any) -> Shop:
    """A server that goes by the moving clock."""
    clock = moving_loop().clock
    return mcpserver(body, clock=clock, store=MemoryStore(clock=clock), **options)


class Slow(Traveller):
    """Agrees at once, and is done after a while."""

    def __init__(self, shop: Shop, seconds: float) -> None:
        super().__init__(then=self._go)
        self._shop, self._seconds = shop, seconds
        self.done = anyio.Event()

    async def _go(self, id: str) -> None:
        await go_by(self._seconds)
        assert await self._shop.asked.settle(id, "paid")
        self.done.set()


@asynccontextmanager
async def slow(seconds: float, **options: Any) -> AsyncGenerator[tuple[Shop, Slow]]:
    """A server with these options, and somebody who is done after that time."""
    shop = shop_of(**options)
    person = Slow(shop, seconds)
    async with anyio.create_task_group() as person.group:
        yield shop, person


class Patient:
    """At a client of ours: agrees, and is never to be bothered again."""

    modes: frozenset[Mode] = frozenset(("form", "url"))
    shows_several = False

    def __init__(self) -> None:
        self.asked = self.waits = 0
        self.id = ""
        self.agreed = anyio.Event()

    async def answer(self, turn: Turn) -> Answer[Any]:
        assert isinstance(turn.asked, VisitAsked)
        self.asked += 1
        self.id = id_in(turn.asked.url)
        self.agreed.set()
        return Accepted(None)

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        self.waits += 1
        return "done"


async def call(person: Traveller, revision: str, shop: Shop) -> str:
    """One call, from beginning to end; those who wait for a person wait as long as it takes."""
    async with in_memory(shop) as target, client_on(revision, target, person) as client:
        return text_of(await client.call_tool("t", {}))


async def test_a_person_who_takes_three_minutes_is_waited_for(revision: str):
    began = anyio.current_time()
    async with slow(3 * MINUTE) as (shop, person):
        assert await call(person, revision, shop) == "Accepted(value='paid')"
    assert anyio.current_time() - began == pytest.approx(3 * MINUTE, abs=1)
    assert len(person.urls) == 1


@pytest.mark.parametrize("seconds", [3.5 * MINUTE, 3.7 * MINUTE])
async def test_for_three_and_a_half_minutes_nobody_is_asked_twice(seconds: float):
    async with slow(seconds) as (shop, person):
        assert await call(person, JULY, shop) == "Accepted(value='paid')"
    assert len(person.urls) == 1


async def test_then_they_are_asked_again_kindly_and_with_the_same_link():
    async with slow(PATIENCE - 5) as (shop, person):
        assert await call(person, JULY, shop) == "Accepted(value='paid')"
    first, again = person.messages
    assert again.startswith(f"{first}\n\nThis is still open: finish it on the page that you opened")
    assert len(set(person.urls)) == 1


async def test_a_no_when_asked_again_ends_it():
    shop = shop_of()

    class Weary(Traveller):
        async def __call__(self, context: Any, params: Any) -> Any:
            self.action = "decline" if self.urls else "accept"
            return await super().__call__(context, params)

    assert await call(Weary(), JULY, shop) == "Declined()"


async def test_a_no_from_somebody_who_is_done_meanwhile_does_not_undo_it():
    shop = shop_of()

    class Confused(Traveller):
        async def __call__(self, context: Any, params: Any) -> Any:
            if self.urls:
                assert await shop.asked.settle(self.id, "paid")
                self.action = "decline"
            return await super().__call__(context, params)

    assert await call(Confused(), JULY, shop) == "Accepted(value='paid')"


async def test_a_person_who_takes_an_hour_gets_a_clear_end_and_the_next_call_succeeds_at_once():
    began = anyio.current_time()
    async with slow(HOUR) as (shop, person):
        text = await call(person, JULY, shop)
        assert text.endswith("when they have finished on that page, make the same call again.")
        assert anyio.current_time() - began == pytest.approx(PATIENCE, abs=5)
        await person.done.wait()
        began = anyio.current_time()
        assert await call(person, JULY, shop) == "Accepted(value='paid')"
        assert anyio.current_time() - began < 1
    assert len(set(person.urls)) == 1


async def test_a_call_that_comes_too_early_goes_on_with_the_same_visit():
    async with slow(6 * MINUTE) as (shop, person):
        assert "is not done there yet" in await call(person, JULY, shop)
        assert await call(person, JULY, shop) == "Accepted(value='paid')"
    assert len(set(person.urls)) == 1


async def test_what_a_visit_gave_is_given_once():
    async with slow(HOUR) as (shop, person):
        await call(person, JULY, shop)
        await person.done.wait()
        assert await call(person, JULY, shop) == "Accepted(value='paid')"
        assert "is not done there yet" in await call(person, JULY, shop)
    assert len(set(person.urls)) == 2


async def test_on_2025_11_25_an_hour_is_waited_for_in_place():
    async with slow(HOUR) as (shop, person):
        assert await call(person, NOVEMBER, shop) == "Accepted(value='paid')"
    assert len(person.urls) == 1


async def test_on_2025_11_25_a_client_that_gives_up_finds_the_visit_with_its_next_call():
    async with slow(HOUR) as (shop, person):
        with anyio.move_on_after(MINUTE):
            await call(person, NOVEMBER, shop)
        await person.done.wait()
        began = anyio.current_time()
        assert await call(person, NOVEMBER, shop) == "Accepted(value='paid')"
        assert anyio.current_time() - began < 1
    assert len(person.urls) == 1


async def test_nobody_waits_for_ever(revision: str):
    shop = shop_of()
    person = Traveller()
    began = anyio.current_time()
    text = await call(person, revision, shop)
    over = "within 7200 seconds" if revision == NOVEMBER else "does not wait any longer"
    assert over in text
    assert anyio.current_time() - began == pytest.approx(
        2 * HOUR if revision == NOVEMBER else PATIENCE, abs=5
    )


@pytest.mark.verifies("R29")
async def test_a_link_is_good_for_as_long_as_its_visit_may_take_and_no_longer(revision: str):
    async def hurried() -> str:
        return repr(await visit("Please pay.", LINK, timeout=MINUTE))

    shop, person = shop_of(hurried), Traveller()
    said = "The person agreed to open the link and was not done there within 60 seconds."
    assert (await call(person, revision, shop)).startswith(said)
    assert await shop.asked.visits.find(person.id) is None


async def test_whoever_does_not_answer_when_asked_again_had_agreed_all_the_same():
    async def unhurried() -> str:
        return repr(await visit("Please pay.", LINK, timeout=10 * MINUTE))

    class Gone(Traveller):
        async def __call__(self, context: Any, params: Any) -> Any:
            if self.urls:
                await go_by(HOUR)
            return await super().__call__(context, params)

    text = await call(Gone(), JULY, shop_of(unhurried))
    assert text.startswith("The person agreed to open the link and was not done there within 600 seconds.")


@pytest.mark.parametrize("seconds", [MINUTE, 20 * MINUTE, 55 * MINUTE])
async def test_our_own_client_waits_in_rounds_and_its_person_is_asked_once(seconds: float, revision: str):
    shop, person = shop_of(), Patient()
    loop = moving_loop()

    async def settle_later() -> None:
        await person.agreed.wait()
        await go_by(seconds)
        assert await shop.asked.settle(person.id, "paid")

    async with (
        Driver(shop.server, person, revision=revision, clock=loop.time) as driver,
        anyio.create_task_group() as group,
    ):
        group.start_soon(settle_later)
        assert text_of(await driver.call_tool("t", {})) == "Accepted(value='paid')"
    assert person.asked == 1 and person.waits == 0


async def test_rounds_that_were_used_for_other_things_are_counted():
    async def twice() -> str:
        first = await visit("Please sign.", LINK)
        return f"{first} {await visit('Please pay.', LINK)}"

    shop = shop_of(twice)
    asked: list[float] = []

    class Two(Traveller):
        async def __call__(self, context: Any, params: Any) -> Any:
            asked.append(anyio.current_time())
            return await super().__call__(context, params)

    async def settle_the_first(id: str) -> None:
        if len(asked) == 1:
            await go_by(3 * MINUTE)
            assert await shop.asked.settle(id, "signed")

    person = Two(then=settle_the_first)
    began = anyio.current_time()
    async with anyio.create_task_group() as person.group:
        assert "make the same call again" in await call(person, JULY, shop)
    # Two of the ten were left for the second visit.
    assert anyio.current_time() - began == pytest.approx(3 * MINUTE + 2 * 25, abs=5)


async def test_a_client_that_is_known_to_want_questions_gets_the_visit_again_each_time():
    async with slow(2 * MINUTE, clients_without_polling=["mcp"]) as (shop, person):
        assert await call(person, JULY, shop) == "Accepted(value='paid')"
    assert len(person.urls) == 5 and len(set(person.urls)) == 1


async def test_how_long_a_request_is_held_is_for_the_operator_to_say():
    began = anyio.current_time()
    async with slow(HOUR, hold=5) as (shop, person):
        assert "make the same call again" in await call(person, JULY, shop)
        assert anyio.current_time() - began == pytest.approx(50, abs=5)
        await person.done.wait()


async def test_a_secret_that_took_an_hour_is_there_for_the_next_call(
    revision: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    clock = moving_loop().clock

    async def forecast() -> str:
        match await secret("Your key for the weather service.", "weather key"):
            case Accepted(key):
                return f"{len(key.reveal())} characters"
            case other:
                return repr(other)

    vault = Vault(MemoryStore(clock=clock), KeyRing([b"k" * 32]), clock=clock)
    shop = shop_of(forecast, vault=vault)
    links: list[str] = []
    done = anyio.Event()

    async def agree(context: Any, params: Any) -> Any:
        if not links:
            group.start_soon(type_it)
        links.append(params.url)
        return ElicitResult(action="accept")

    async def type_it() -> None:
        await go_by(HOUR)
        async with visitor() as browser:
            assert (await browser.give(links[0], "four-and-twenty-letters!")).status == 200
        done.set()

    async with (
        anyio.create_task_group() as group,
        in_memory(shop) as target,
        client_on(revision, target, agree) as client,
    ):
        text = text_of(await client.call_tool("t", {}))
        if revision == JULY:
            assert "make the same call again" in text
            await done.wait()
            text = text_of(await client.call_tool("t", {}))
        assert text == "24 characters"
    assert len(set(links)) == 1
