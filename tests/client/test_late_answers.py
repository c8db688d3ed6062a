"""Questions that outlive their call: the result stays, and nobody is asked for a call that is over."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.abc
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from askback.answers import Answer
from askback.client import Driver, Turn
from tests.client.stranger_servers import (
    Context,
    Heard,
    LoopClock,
    Stranger,
    Typing,
    done,
    form,
    settle,
    withdrawn,
)

NOVEMBER = "2025-11-25"
CANCELLED = {"action": "cancel"}


class Hasty:
    """A server that asks, and gives its result as soon as the person has begun to read."""

    def __init__(self, person: Typing, behind: anyio.abc.TaskGroup, *messages: str) -> None:
        self.replies: list[Any] = []
        self._person, self._behind, self._messages = person, behind, messages
        self.stranger = Stranger(self._on_call, revision=NOVEMBER)

    async def _on_call(self, ctx: Context, heard: Heard) -> dict[str, Any]:
        for message in self._messages:
            self._behind.start_soon(self._ask, ctx, message)
        await self._person.begun.wait()
        await settle()
        return done("the result")

    async def _ask(self, ctx: Context, message: str) -> None:
        with suppress(MCPError):
            self.replies.append(await ctx.send_raw_request("elicitation/create", form(message)["params"]))


@asynccontextmanager
async def hasty(person: Typing, *messages: str) -> AsyncGenerator[Hasty]:
    async with anyio.create_task_group() as behind:
        yield Hasty(person, behind, *messages)
        behind.cancel_scope.cancel()


async def call(driver: Driver, results: list[str], limit: float | None = None) -> None:
    result = await driver.call_tool("order", limit=limit)
    results += [part.text for part in result.content if isinstance(part, TextContent)]


async def until_withdrawn(person: Typing) -> None:
    """The result is there, and the person has not left yet."""
    await person.begun.wait()
    await withdrawn(person.turns[0])
    await settle()


async def test_a_result_stays_when_the_callers_limit_ends_while_the_person_is_leaving(
    monkeypatch: pytest.MonkeyPatch,
):
    clock, person, results = LoopClock(monkeypatch), Typing(), list[str]()
    async with (
        hasty(person, "One?") as server,
        Driver(server.stranger.transport(), person) as driver,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(call, driver, results, 3600)
        await until_withdrawn(person)
        assert (results, person.was_cancelled) == ([], False)
        await clock.skip(3600)
        assert (results, person.was_cancelled) == (["the result"], True)


class Falling(Typing):
    async def answer(self, turn: Turn) -> Answer[Any]:
        await super().answer(turn)
        raise RuntimeError("the screen fell over")


async def test_a_result_stays_when_the_persons_screen_falls_over_while_they_are_leaving():
    person, results = Falling(), list[str]()
    async with (
        hasty(person, "One?") as server,
        Driver(server.stranger.transport(), person) as driver,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(call, driver, results)
        await until_withdrawn(person)
        person.sends.set()
    assert results == ["the result"]


async def test_a_question_that_waited_until_its_call_was_over_is_not_shown_and_cancelled():
    person, results = Typing(), list[str]()
    async with (
        hasty(person, "One?", "Two?") as server,
        Driver(server.stranger.transport(), person) as driver,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(call, driver, results)
        await until_withdrawn(person)
        person.sends.set()
        await anyio.wait_all_tasks_blocked()
        assert results == ["the result"]
        assert (len(person.turns), server.replies, driver.answered) == (1, [CANCELLED] * 2, [])


async def test_a_question_that_comes_when_its_call_is_over_is_said_to_be_of_no_call():
    person = Typing()
    async with (
        hasty(person, "One?") as server,
        Driver(server.stranger.transport(), person) as driver,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(call, driver, list[str]())
        await until_withdrawn(person)
        tasks.start_soon(server.stranger.ask, form("Two?")["params"])
        await settle()
        person.sends.set()
    assert [turn.asked.purposes for turn in person.turns] == [("tool order",), ("no call of yours",)]


async def test_a_question_that_waited_is_put_for_those_calls_that_are_still_under_way():
    both, other_ended = anyio.Event(), anyio.Event()

    async def one_asks(ctx: Context, heard: Heard) -> dict[str, Any]:
        if heard.params["name"] == "other":
            both.set()
            await person.begun.wait()
            await settle()
            return done()
        await both.wait()
        async with anyio.create_task_group() as asks:
            asks.start_soon(ctx.send_raw_request, "elicitation/create", form("One?")["params"])
            asks.start_soon(ctx.send_raw_request, "elicitation/create", form("Two?")["params"])
        return done()

    async def call_other(driver: Driver) -> None:
        await driver.call_tool("other")
        other_ended.set()

    person = Typing()
    driving = Driver(Stranger(one_asks, revision=NOVEMBER).transport(), person)
    async with driving as driver, anyio.create_task_group() as tasks:
        tasks.start_soon(driver.call_tool, "asks")
        tasks.start_soon(call_other, driver)
        await other_ended.wait()
        person.sends.set()
    assert [sorted(turn.asked.purposes) for turn in person.turns] == [
        ["tool asks", "tool other"],
        ["tool asks"],
    ]
