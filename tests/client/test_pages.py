"""Our own client at our own pages: consent, a page that is filled in, a call that goes on; and people who dawdle."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest
from mcp.server import MCPServer
from mcp_types import CallToolResult, TextContent

from askback import Accepted, Askback, secret, visit
from askback.answers import Answer
from askback.client import Driver, Turn, VisitAsked, VisitReply
from askback.errors import NotVisited
from askback.testing import accept, decline
from askback.testing.person import ScriptedPerson
from tests.support.secret_shop.visitor import SAVED, Visitor

NOVEMBER, JULY = "2025-11-25", "2026-07-28"

WAYS = {
    "in place": (NOVEMBER, False),
    "demanded": (NOVEMBER, True),
    "in rounds": (JULY, False),
}
"""How a visit is put, by revision, and whether the author wants it demanded."""

KEY = "a key for the weather"
WELL = f"{len(KEY)} signs"

PATIENCE = 50
"""Seconds for a whole story."""

HOLD = 0.05
"""Seconds, so that a person who takes a moment takes many rounds."""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))


def weather(**options: Any) -> tuple[MCPServer[Any], Askback]:
    mcp = MCPServer[Any]("weather")
    asked = Askback(mcp, hold=HOLD, **options)

    @mcp.tool()
    async def forecast() -> str:
        match await secret("Your key for the weather service.", "weather key"):
            case Accepted(key):
                return f"{len(key.reveal())} signs"
            case answer:
                return type(answer).__name__

    @mcp.tool()
    async def pay() -> str:
        answer = await visit("Pay for the forecast.", "https://pay.example/checkout/{id}")
        return f"Paid: {answer.or_stop('Not paid.')}"

    return mcp, asked


class Guest(ScriptedPerson):
    """Consents, and hears on which page they are then; when they are asked about it they wait, or say a word."""

    def __init__(self, *replies: Any, words: list[VisitReply] | None = None) -> None:
        super().__init__(replies or [accept()])
        self.waits = list[bool]()
        """For each time they were shown that a page is under way: whether the server ended that."""
        self._said = words or []
        self._pages = asyncio.Queue[str]()

    async def answer(self, turn: Turn) -> Answer[Any]:
        answer = await super().answer(turn)
        if isinstance(turn.asked, VisitAsked) and isinstance(answer, Accepted):
            self._pages.put_nowait(turn.asked.url)
        return answer

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        if self._said:
            self.waits.append(False)
            return self._said.pop(0)
        await finished.wait()
        self.waits.append(True)
        return "done"

    async def page(self) -> str:
        """The next page that they go to."""
        return await self._pages.get()


class Call:
    """A tool's call under way."""

    def __init__(self, driver: Driver, tool: str, tasks: anyio.abc.TaskGroup) -> None:
        self._ended = anyio.Event()
        self._outcome: CallToolResult | Exception | None = None
        tasks.start_soon(self._make, driver, tool)

    async def _make(self, driver: Driver, tool: str) -> None:
        try:
            self._outcome = await driver.call_tool(tool)
        except Exception as error:
            self._outcome = error
        self._ended.set()

    async def outcome(self) -> str:
        await self._ended.wait()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        assert self._outcome is not None
        return "".join(part.text for part in self._outcome.content if isinstance(part, TextContent))


@asynccontextmanager
async def at_weather(
    way: str, person: Guest, **options: Any
) -> AsyncGenerator[tuple[Driver, Askback, Visitor, anyio.abc.TaskGroup]]:
    revision, demands = WAYS[way]
    mcp, asked = weather(demand_visits=demands, **options)
    with anyio.fail_after(PATIENCE):
        async with (
            Visitor() as visitor,
            Driver(mcp, person, revision=revision) as driver,
            anyio.create_task_group() as tasks,
        ):
            yield driver, asked, visitor, tasks


@pytest.mark.verifies("R30", "R66")
@pytest.mark.parametrize("way", WAYS)
async def test_a_key_is_typed_and_the_call_goes_on_by_itself(way: str):
    person = Guest()
    async with at_weather(way, person) as (driver, _, visitor, tasks):
        call = Call(driver, "forecast", tasks)
        assert await visitor.type(await person.page(), KEY) == SAVED
        assert await call.outcome() == WELL
        assert await Call(driver, "forecast", tasks).outcome() == WELL
    assert len(person.visited) == 1, "the second call finds the key"
    assert person.waits == ([True] if way == "demanded" else []), "nobody had to say that it was done"


@pytest.mark.parametrize("way", WAYS)
async def test_a_payment_is_settled_and_the_call_goes_on_by_itself(way: str):
    person = Guest()
    async with at_weather(way, person) as (driver, asked, _, tasks):
        call = Call(driver, "pay", tasks)
        assert await asked.settle((await person.page()).rpartition("/")[2], 20)
        assert await call.outcome() == "Paid: 20"
    assert len(person.visited) == 1


@pytest.mark.verifies("R15")
@pytest.mark.parametrize("way", WAYS)
async def test_a_no_on_the_page_is_a_no(way: str):
    person = Guest()
    async with at_weather(way, person) as (driver, _, visitor, tasks):
        call = Call(driver, "forecast", tasks)
        await visitor.turn_down(await person.page())
        assert await call.outcome() == "Declined"


@pytest.mark.parametrize("way", [way for way in WAYS if way != "demanded"])
async def test_a_no_before_the_page_closes_the_page(way: str):
    person = Guest(decline())
    async with at_weather(way, person) as (driver, _, visitor, tasks):
        assert await Call(driver, "forecast", tasks).outcome() == "Declined"
        (turn,) = person.turns
        assert isinstance(turn.asked, VisitAsked)
        with pytest.raises(AssertionError):
            await visitor.type(turn.asked.url, KEY)


async def test_who_declines_a_demanded_visit_ends_the_call():
    person = Guest(decline())
    async with at_weather("demanded", person) as (driver, _, __, tasks):
        with pytest.raises(NotVisited, match="they declined"):
            await Call(driver, "forecast", tasks).outcome()


async def test_who_gives_up_waiting_for_a_demanded_visit_ends_the_call_and_may_come_back():
    person = Guest(accept(), accept(), words=["cancel"])
    async with at_weather("demanded", person) as (driver, _, visitor, tasks):
        with pytest.raises(NotVisited, match="gave up waiting"):
            await Call(driver, "forecast", tasks).outcome()
        first = await person.page()
        assert await visitor.type(first, KEY) == SAVED
        assert await Call(driver, "forecast", tasks).outcome() == WELL
    assert len(person.visited) == 1


async def test_who_closed_the_page_opens_it_again_from_the_wait():
    """Where a server asks once more, as for clients that want questions, it is shown that a page is under way."""
    person = Guest(accept(), accept(), words=["again"])
    async with at_weather("in rounds", person, clients_without_polling=["askback"]) as (
        driver,
        _,
        visitor,
        tasks,
    ):
        call = Call(driver, "forecast", tasks)
        await visitor.open(await person.page())
        again = await person.page()
        assert await visitor.type(again, KEY) == SAVED
        assert await call.outcome() == WELL
    assert person.visited == [again, again]
    assert person.waits == [False]


async def test_who_cancels_from_the_wait_ends_the_call_and_the_page():
    person = Guest(accept(), words=["cancel"])
    async with at_weather("in rounds", person, clients_without_polling=["askback"]) as (
        driver,
        _,
        visitor,
        tasks,
    ):
        call = Call(driver, "forecast", tasks)
        page = await person.page()
        await visitor.open(page)
        assert await call.outcome() == "Cancelled"
        assert await visitor.send(page, KEY) != SAVED
    assert person.waits == [False]
