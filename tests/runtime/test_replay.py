"""What a later round replays, and what it says when the body asked something else than before."""

from itertools import count

import pytest

from askback import Accepted, Drift, ask, confirm, once
from askback.testing import accept, run_tool
from tests.runtime.conftest import RunBody
from tests.support.tool_servers import mcpserver

pytestmark = pytest.mark.anyio


async def test_an_answered_question_is_not_put_again(run: RunBody):
    async def body() -> str:
        numbers = [await ask(f"Number {n}?", int) for n in range(5)]
        return " ".join(str(answer.value) for answer in numbers if isinstance(answer, Accepted))

    result = await run(body, [accept(n) for n in range(5)])
    assert result.text == "0 1 2 3 4"
    assert [asked.message for asked in result.asked] == [f"Number {n}?" for n in range(5)]


async def test_the_author_chooses_the_key_that_travels():
    async def body() -> str:
        return str(await ask("Name?", str, key="user_name"))

    result = await run_tool(mcpserver(body), "t", None, [accept("Ada")])
    assert [asked.key for asked in result.asked] == ["user_name"]


async def test_a_question_that_changed_once_is_asked_once_more(run: RunBody):
    stock = iter([3])
    audits: list[int] = []

    async def body() -> str:
        await once("audit", audits.append, 1)
        name = await ask("Name?", str)
        sure = await confirm(f"Only {next(stock, 2)} left. Order?")
        return f"{name} {sure}"

    result = await run(body, [accept("Ada"), accept(yes=True), accept(yes=True)])
    assert result.text == "Accepted(value='Ada') True"
    messages = [asked.message for asked in result.asked]
    assert messages == ["Name?", "Only 3 left. Order?", "Only 2 left. Order?"]
    assert audits == [1]


async def test_a_question_that_keeps_changing_is_drift_with_four_facts(run: RunBody):
    ticks = count()

    async def body() -> str:
        await ask(f"It is {next(ticks)} o'clock. Go on?", bool)
        return "never"

    result = await run(body, lambda _: accept(True))
    assert result.is_error
    for fact in ("In conversation ", "'ask-1'", 'recorded "It is', 'now asked "It is', "once("):
        assert fact in result.text


async def test_an_author_can_catch_drift():
    ticks = count()
    seen: list[Drift] = []

    async def body() -> str:
        try:
            await ask(f"Tick {next(ticks)}?", bool)
        except Drift as drift:
            seen.append(drift)
            return "caught"
        return "never"

    result = await run_tool(mcpserver(body), "t", None, lambda _: accept(True))
    assert result.text == "caught"
    (drift,) = seen
    assert (drift.place, drift.recorded, drift.asked) == ("ask-1", "Tick 1?", "Tick 2?")
    assert drift.conversation


async def test_an_earlier_change_drops_the_later_answers_and_keeps_the_effects():
    plans = iter(["train", "train", "plane", "plane", "plane", "plane"])
    effects: list[str] = []

    async def body() -> str:
        plan = next(plans)
        how = await ask(f"By {plan}?", bool)
        await once("book", effects.append, "booked")
        seat = await ask("Which seat?", str)
        meal = await ask("Which meal?", str)
        return f"{how} {seat} {meal}"

    answers = [accept(True), accept("1A"), accept(False), accept("2B"), accept("soup")]
    result = await run_tool(mcpserver(body), "t", None, answers)
    assert [asked.message for asked in result.asked] == [
        "By train?",
        "Which seat?",
        "By plane?",
        "Which seat?",
        "Which meal?",
    ]
    assert result.text == "Accepted(value=False) Accepted(value='2B') Accepted(value='soup')"
    assert effects == ["booked"]


async def test_questions_in_branches_keep_their_answers_by_key(run: RunBody):
    async def body() -> str:
        if await confirm("With luggage?", key="luggage"):
            weight = await ask("How heavy?", int, key="weight")
        else:
            weight = None
        seat = await ask("Which seat?", str, key="seat")
        return f"{weight} {seat}"

    result = await run(body, [accept(yes=True), accept(20), accept("1A")])
    assert result.text == "Accepted(value=20) Accepted(value='1A')"
