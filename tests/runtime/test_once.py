"""Effects that must not repeat: what they give, and how they fail."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, cast

import pytest
from pydantic import BaseModel

from askback import ask, confirm, once
from askback.errors import EffectFailed, NotRecordable
from askback.testing import accept, run_tool
from tests.runtime.conftest import RunBody
from tests.support.corpus import corpus
from tests.support.tool_servers import mcpserver

pytestmark = pytest.mark.anyio


class Receipt(BaseModel):
    number: int
    day: date


@dataclass
class Point:
    x: int
    y: int


def receipt() -> Receipt:
    return Receipt(number=1, day=date(2026, 7, 28))


async def points() -> list[Point]:
    return [Point(1, 2)]


def money() -> Decimal:
    return Decimal("9.99")


def pair() -> tuple[int, set[str]]:
    return 1, {"a"}


def raw() -> bytes:
    return b"abc"


def lengths() -> dict[str, timedelta]:
    return {"walk": timedelta(minutes=5)}


def nothing() -> None:
    return None


def undeclared():
    return {"plain": ["json", 1, None]}


RESULTS: list[tuple[Callable[..., Any], Any]] = [
    (receipt, Receipt(number=1, day=date(2026, 7, 28))),
    (points, [Point(1, 2)]),
    (money, Decimal("9.99")),
    (pair, (1, {"a"})),
    (raw, b"abc"),
    (lengths, {"walk": timedelta(minutes=5)}),
    (nothing, None),
    (undeclared, {"plain": ["json", 1, None]}),
    (partial(money), Decimal("9.99")),
    (lambda: 5, 5),
]


@corpus(("effect", "expected"), RESULTS)
async def test_a_result_is_the_same_on_the_first_run_and_on_replay(
    run: RunBody, effect: Callable[..., Any], expected: Any
):
    seen: list[Any] = []

    async def body() -> str:
        seen.append(await once("effect", effect))
        await ask("Go on?", bool)
        return "done"

    await run(body, [accept(True)])
    assert seen == [expected, expected]
    assert type(seen[0]) is type(seen[1]) is type(expected)


async def test_an_effect_runs_once_however_often_the_body_runs(run: RunBody):
    runs: list[int] = []

    async def body() -> str:
        for number in range(3):
            if not await confirm(f"Step {number}?"):
                return "stopped"
            await once(f"step-{number}", runs.append, number)
        return "done"

    assert (await run(body, [accept(yes=True)] * 3)).text == "done"
    assert runs == [0, 1, 2]


async def test_a_failed_effect_fails_alike_on_replay_and_is_not_tried_again(run: RunBody):
    tries: list[int] = []
    told: list[str] = []

    def charge() -> int:
        tries.append(1)
        raise ConnectionError("the bank did not answer")

    async def body() -> str:
        try:
            await once("charge", charge)
        except EffectFailed as error:
            told.append(f"{error.kind}: {error.text}")
        await ask("Go on?", bool)
        return "done"

    assert (await run(body, [accept(True)])).text == "done"
    assert tries == [1]
    assert told == ["ConnectionError: the bank did not answer"] * 2


async def test_left_uncaught_a_failed_effect_says_what_happened_and_whose_move_is_next(run: RunBody):
    async def body() -> str:
        return str(await once("divide", lambda: 1 // 0))

    result = await run(body)
    assert result.is_error
    assert "ZeroDivisionError" in result.text and "make a new call" in result.text


async def test_a_result_that_cannot_be_written_down_is_refused_and_not_run_again(run: RunBody):
    runs: list[int] = []
    told: list[str] = []

    def connection() -> object:
        runs.append(1)
        return object()

    async def body() -> str:
        try:
            await once("connection", connection)
        except NotRecordable as error:
            told.append(error.instead)
        await ask("Go on?", bool)
        return "done"

    assert (await run(body, [accept(True)])).text == "done"
    assert runs == [1]
    assert len(told) == 2 and "pydantic" in told[0] and told[0] == told[1]


async def test_a_result_unlike_its_declaration_is_refused():
    def number() -> int:
        return cast("int", "many")

    async def body() -> str:
        return str(await once("number", number))

    result = await run_tool(mcpserver(body), "t")
    assert result.is_error and "declares" in result.text


async def test_one_key_for_two_effects_is_an_authors_error(run: RunBody):
    async def body() -> str:
        await once("same", len, "a")
        await once("same", len, "bb")
        return "never"

    result = await run(body)
    assert result.is_error and "'same'" in result.text and "twice" in result.text


async def test_arguments_reach_the_effect():
    def join(*parts: str, sep: str) -> str:
        return sep.join(parts)

    async def body() -> str:
        return await once("join", join, "a", "b", sep="-")

    assert (await run_tool(mcpserver(body), "t")).text == "a-b"


async def test_a_journal_too_long_for_a_client_is_refused_with_advice():
    async def body() -> str:
        await once("big", lambda: "x" * 300_000)
        await ask("Go on?", bool)
        return "never"

    result = await run_tool(mcpserver(body), "t", None, [])
    assert result.is_error and "once" in result.text and "keep the data" in result.text
