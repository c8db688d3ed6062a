"""Where `ctx.elicit()` gets no answer: what its author and the caller are told."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context
from mcp_types import ElicitResult
from pydantic import BaseModel

from askback import CannotAsk, OutsideConversation, once
from askback.testing import accept, fail, raw, run_tool, silence
from tests.protocol.styles.conftest import RunBody, Way
from tests.protocol.styles.servers import End, Name, Seat, asking, form
from tests.support.corpus import corpus

pytestmark = pytest.mark.anyio


async def test_replies_that_never_fit_end_the_call(run: RunBody):
    async def body(ctx: Context) -> str:
        return (await ctx.elicit("Seat?", Seat)).action

    result = await run(body, lambda _: raw({"action": "accept", "content": {"row": 99}}), reply_retries=1)
    assert result.is_error
    assert result.text.startswith("The question 'elicit-1' was answered 2 times and no reply fitted it.")
    assert len(result.asked) == 2


@pytest.mark.verifies("R11")
async def test_a_form_that_fishes_for_secrets_is_refused_before_anything_is_sent(run: RunBody):
    class SignIn(BaseModel):
        password: str

    async def body(ctx: Context) -> str:
        return (await ctx.elicit("Sign in", SignIn)).action

    result = await run(body)
    assert result.is_error and not result.asked
    assert result.text.startswith("Field 'password': its name asks for a secret")


async def test_a_message_that_keeps_changing_is_drift_with_four_facts(
    host: Callable[..., Any], revision: str
):
    ticks = count()

    async def body(ctx: Context) -> str:
        return (await ctx.elicit(f"It is {next(ticks)} o'clock. Go on?", Name)).action

    result = await run_tool(host(body), "t", None, lambda _: accept(name="Ada"), revision=revision)
    assert result.is_error
    for fact in ("In conversation ", "'elicit-1'", 'recorded "It is', 'now asked "It is', "once("):
        assert fact in result.text


async def test_a_message_that_changed_once_is_asked_once_more(run: RunBody, way: Way):
    stock = iter([3])

    async def body(ctx: Context) -> str:
        return (await ctx.elicit(f"Only {next(stock, 2)} left. Your name?", Name)).action

    again = way.always_replay
    result = await run(body, [accept(name="Ada")] * (2 if again else 1))
    assert result.text == "accept"
    assert [asked.message for asked in result.asked] == [
        "Only 3 left. Your name?",
        *["Only 2 left. Your name?"] * again,
    ]


async def test_a_question_with_a_timeout_ends_when_nobody_answers(run: RunBody):
    request = form("Seat?")

    async def body(ctx: Context) -> str:
        result = await ctx.session.send_request(request, ElicitResult, request_read_timeout_seconds=0.05)
        return result.action

    result = await run(body, [silence()])
    assert result.is_error
    assert result.text.startswith("Nobody answered the question 'elicit-1' within 0.05 seconds.")


async def test_the_time_that_the_server_gives_holds_for_them_too(run: RunBody):
    async def body(ctx: Context) -> str:
        return (await ctx.elicit("Seat?", Seat)).action

    result = await run(body, [silence()], timeout=0.05)
    assert result.text.startswith("Nobody answered the question 'elicit-1' within 0.05 seconds.")


@pytest.mark.verifies("R01", "R02")
async def test_an_author_can_catch_that_nobody_can_be_asked(run: RunBody):
    async def body(ctx: Context) -> str:
        try:
            await ctx.elicit("Seat?", Seat)
        except CannotAsk as error:
            return f"row 1, since {error.mode}s cannot be shown"
        return "never"

    result = await run(body, capabilities={})
    assert (result.text, result.asked) == ("row 1, since forms cannot be shown", [])


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_a_client_that_fails_cannot_be_asked(host: Callable[..., Any], revision: str):
    async def body(ctx: Context) -> str:
        try:
            return (await ctx.elicit("Seat?", Seat)).action
        except CannotAsk:
            return "row 1"

    result = await run_tool(host(body), "t", None, [fail()], revision=revision)
    assert result.text == "row 1"


async def test_one_inside_an_effect_is_told_to_its_author(run: RunBody):
    async def body(ctx: Context) -> str:
        async def effect() -> str:
            return (await ctx.elicit("Seat?", Seat)).action

        return await once("book", effect)

    result = await run(body)
    assert result.is_error and not result.asked
    assert result.text.startswith("The effect in once('book', ...) asks a question.")


async def test_one_that_is_reached_after_the_end_is_told_to_its_author(run: RunBody):
    told: list[str] = []
    answered = anyio.Event()
    behind: list[asyncio.Task[None]] = []

    async def body(ctx: Context) -> str:
        async def later() -> None:
            await answered.wait()
            try:
                await ctx.elicit("Seat?", Seat)
            except OutsideConversation as error:
                told.append(str(error))

        behind.append(asyncio.create_task(later()))
        return "answered"

    assert (await run(body)).text == "answered"
    answered.set()
    with anyio.fail_after(5):
        await behind[-1]
    assert told[0].startswith("ctx.elicit(...) was reached after its call had been answered.")


@corpus("before", ["2024-11-05", "2025-03-26"])
async def test_before_there_were_questions_nobody_can_be_asked(host: Callable[..., Any], before: str):
    async def eliciting(ctx: Context) -> str:
        return (await ctx.elicit("Seat?", Seat)).action

    async def returning(ctx: Context) -> End:
        return asking(seat=form("Seat?")) if ctx.input_responses is None else "never"

    for body in (eliciting, returning):
        result = await run_tool(host(body), "t", revision=before)
        assert result.is_error and not result.asked
        assert result.text.startswith(
            f"This client speaks MCP {before}, which knows no questions to the user."
        )
