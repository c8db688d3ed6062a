"""Bodies that return their own questions: asked on every revision, and called again with the replies."""

from collections.abc import Callable
from typing import Any

import pytest
from mcp.server.mcpserver import Context
from mcp_types import InputRequiredResult

from askback import ask, once
from askback.testing import Run, accept, cancel, decline, raw, run_tool, silence
from tests.protocol.styles.conftest import LATEST, RunBody, Way
from tests.protocol.styles.servers import End, Name, asking, content_of, form
from tests.support.corpus import corpus

pytestmark = pytest.mark.anyio


def messages(run: Run) -> list[str]:
    return [asked.message for asked in run.asked]


async def test_round_after_round_the_body_gets_its_state_and_the_last_replies(run: RunBody):
    seen: list[object] = []

    async def body(ctx: Context) -> End:
        seen.append((ctx.request_state, sorted(ctx.input_responses or {})))
        match ctx.request_state:
            case None:
                return asking(out=form("Out?"), state="out")
            case "out":
                state = f"back {content_of(ctx, 'out')['row']}"
                return asking(back=form("Back?"), state=state)
            case state:
                return f"{state} {content_of(ctx, 'back')['row']}"

    result = await run(body, [accept(row=1, side="aisle"), accept(row=2, side="window")])
    assert (result.text, messages(result)) == ("back 1 2", ["Out?", "Back?"])
    assert seen == [(None, []), ("out", ["out"]), ("back 1", ["back"])]


async def test_without_a_state_it_is_the_replies_that_tell(run: RunBody):
    async def body(ctx: Context) -> End:
        if ctx.input_responses is None:
            return asking(seat=form("Seat?"))
        return f"{ctx.request_state} {content_of(ctx, 'seat')['row']}"

    assert (await run(body, [accept(row=4)])).text == "None 4"


async def test_several_in_one_round_are_each_answered_for_themselves(run: RunBody, way: Way):
    async def body(ctx: Context) -> End:
        if ctx.input_responses is None:
            return asking(a=form("A?"), b=form("B?", Name), c=form("C?"))
        return " ".join(str(content_of(ctx, key)) for key in ("a", "b", "c"))

    result = await run(body, [accept(row=1, side="aisle"), decline(), cancel()])
    assert result.text == "{'row': 1, 'side': 'aisle'} decline cancel"
    assert messages(result) == ["A?", "B?", "C?"]
    assert [asked.key for asked in result.asked] == (
        ["a", "b", "c"] if way.revision == LATEST else [None] * 3
    )


async def test_a_body_that_also_asks_finds_everything_and_its_effects_happen_once(run: RunBody):
    done: list[str] = []

    async def body(ctx: Context) -> End:
        first = await ask("First?", str)
        await once("one", done.append, "one")
        if ctx.request_state is None:
            return asking(seat=form("Seat?"), state="asked")
        await once("two", done.append, "two")
        elicited = await ctx.elicit("Third?", Name)
        await once("three", done.append, "three")
        last = await ask("Last?", str)
        return f"{first} {content_of(ctx, 'seat')['row']} {elicited.action} {last} {ctx.request_state}"

    answers = [accept("a"), accept(row=2, side="aisle"), accept(name="c"), accept("d")]
    result = await run(body, answers)
    assert result.text == "Accepted(value='a') 2 accept Accepted(value='d') asked"
    assert messages(result) == ["First?", "Seat?", "Third?", "Last?"]
    assert done == ["one", "two", "three"]


async def test_it_may_return_and_ask_in_turns(run: RunBody):
    done: list[str] = []

    async def body(ctx: Context) -> End:
        if ctx.request_state is None:
            return asking(seat=form("Seat 1?"), state="1")
        between = await ask("Between?", str)
        await once("between", done.append, "between")
        if ctx.request_state == "1":
            state = f"2 {content_of(ctx, 'seat')['row']}"
            return asking(seat=form("Seat 2?"), state=state)
        after = await ask("After?", str)
        return f"{ctx.request_state} {content_of(ctx, 'seat')['row']} {between} {after}"

    answers = [accept(row=1, side="aisle"), accept("x"), accept(row=2, side="aisle"), accept("y")]
    result = await run(body, answers)
    assert result.text == "2 1 2 Accepted(value='x') Accepted(value='y')"
    assert messages(result) == ["Seat 1?", "Between?", "Seat 2?", "After?"]
    assert done == ["between"]


async def test_its_keys_may_be_the_same_as_ours(run: RunBody):
    async def body(ctx: Context) -> End:
        mine = await ask("Mine?", str)
        if ctx.input_responses is None:
            return InputRequiredResult(input_requests={"ask-1": form("Own 1?"), "ask-2": form("Own 2?")})
        last = await ask("Last?", str)
        own = [content_of(ctx, key)["row"] for key in ("ask-1", "ask-2")]
        return f"{mine} {own} {last}"

    answers = [accept("x"), accept(row=1, side="aisle"), accept(row=2, side="aisle"), accept("y")]
    assert (await run(body, answers)).text == "Accepted(value='x') [1, 2] Accepted(value='y')"


async def test_a_round_of_state_alone_is_called_again_after_a_pause(
    run: RunBody, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("askback.protocol.server.returned_rounds.PAUSES", (0.0, 0.001))
    calls: list[str | None] = []

    async def body(ctx: Context) -> End:
        calls.append(ctx.request_state)
        if len(calls) < 6:
            return asking(state=f"working {len(calls)}")
        return f"{ctx.request_state} {ctx.input_responses or 'no replies'}"

    result = await run(body)
    assert (result.text, result.asked) == ("working 5 no replies", [])
    assert calls == [None, *(f"working {number}" for number in range(1, 6))]


async def test_a_question_after_a_round_of_state_alone(run: RunBody, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("askback.protocol.server.returned_rounds.PAUSES", (0.0,))

    async def body(ctx: Context) -> End:
        if ctx.request_state is None:
            return asking(state="working")
        row = await ask("Row?", int)
        if ctx.request_state == "working":
            return asking(state="still working")
        return f"{ctx.request_state} {row}"

    result = await run(body, [accept(3)])
    assert (result.text, messages(result)) == ("still working Accepted(value=3)", ["Row?"])


@pytest.mark.verifies("R14")
async def test_a_reply_that_does_not_fit_is_asked_again_where_it_is_pushed(run: RunBody, way: Way):
    async def body(ctx: Context) -> End:
        if ctx.input_responses is None:
            return asking(seat=form("Seat?"))
        return str(content_of(ctx, "seat")["row"])

    unfit = raw({"action": "accept", "content": {"row": 99}})
    if way.revision == LATEST:  # what a body asks by itself, it reads by itself
        assert (await run(body, [unfit])).text == "99"
    else:
        assert (await run(body, [unfit, accept(row=2)])).text == "2"


@corpus("pushing", ["2025-06-18", "2025-11-25"])
async def test_the_time_that_the_server_gives_holds_for_them_too(host: Callable[..., Any], pushing: str):
    async def body(ctx: Context) -> End:
        return asking(seat=form("Seat?")) if ctx.input_responses is None else "never"

    result = await run_tool(host(body, timeout=0.05), "t", None, [silence()], revision=pushing)
    assert result.is_error
    assert result.text.startswith("Nobody answered the question 'seat' within 0.05 seconds.")
