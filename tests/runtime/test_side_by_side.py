"""Questions asked at the same time: with keys they share a round, without keys it is an author's error."""

import asyncio
from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
import pytest

from askback import Accepted, Answer, Ask, Declined, ask, ask_all, once
from askback.testing import accept, decline, run_tool
from askback.testing.script import Asked, Reply
from tests.runtime.conftest import RunBody
from tests.support.corpus import corpus
from tests.support.tool_servers import mcpserver

pytestmark = pytest.mark.anyio

Both = list[Answer[str] | Answer[int]]
Way = Callable[[], Awaitable[Both]]


def by_message(asked: Asked) -> Reply:
    return {"Name?": accept("Ada"), "Age?": accept(36)}[asked.message]


async def with_gather() -> Both:
    return list(await asyncio.gather(ask("Name?", str, key="name"), ask("Age?", int, key="age")))


async def with_a_task_group() -> Both:
    async with asyncio.TaskGroup() as group:
        name = group.create_task(ask("Name?", str, key="name"))
        age = group.create_task(ask("Age?", int, key="age"))
    return [name.result(), age.result()]


async def with_an_anyio_group() -> Both:
    answers: dict[str, Answer[str] | Answer[int]] = {}

    async def name() -> None:
        answers["name"] = await ask("Name?", str, key="name")

    async def age() -> None:
        answers["age"] = await ask("Age?", int, key="age")

    async with anyio.create_task_group() as group:
        group.start_soon(name)
        group.start_soon(age)
    return [answers["name"], answers["age"]]


async def with_ask_all() -> Both:
    answers = await ask_all({"name": ("Name?", str), "age": ("Age?", int)})
    return [answers["name"], answers["age"]]


async def with_a_typed_ask_all() -> Both:
    return list(await ask_all(Ask("name", "Name?", str), Ask("age", "Age?", int)))


WAYS: list[Way] = [with_gather, with_a_task_group, with_an_anyio_group, with_ask_all, with_a_typed_ask_all]


@corpus("way", WAYS)
async def test_every_way_of_asking_side_by_side_gives_both_answers(run: RunBody, way: Way):
    async def body() -> str:
        answers = await way()
        assert answers == [Accepted("Ada"), Accepted(36)]
        return "both"

    assert (await run(body, by_message)).text == "both"


@corpus("way", WAYS)
async def test_on_the_rounds_era_both_questions_share_one_round(way: Way):
    async def body() -> str:
        return str(await way())

    result = await run_tool(mcpserver(body), "t", None, by_message)
    rounds = [line for line in result.transcript if line.what == "tools/call"]
    assert len(rounds) == 2
    assert sorted(str(asked.key) for asked in result.asked) == ["age", "name"]


async def test_without_keys_the_author_is_told(run: RunBody):
    async def body() -> str:
        return str(await asyncio.gather(ask("Name?", str), ask("Age?", int)))

    result = await run(body, lambda _: decline())
    assert result.is_error
    assert "key=" in result.text and "ask_all" in result.text


async def test_a_person_is_asked_one_thing_at_a_time_in_order(run: RunBody):
    async def body() -> str:
        answers = await asyncio.gather(*(ask(f"Number {n}?", int, key=f"n{n}") for n in range(4)))
        return " ".join(str(answer.value) for answer in answers if isinstance(answer, Accepted))

    result = await run(body, lambda asked: accept(int(asked.message.split()[1].rstrip("?"))))
    assert result.text == "0 1 2 3"
    assert [asked.message for asked in result.asked] == [f"Number {n}?" for n in range(4)]


async def test_nothing_of_a_suspended_body_runs_on_behind_the_answer():
    ran_on: list[str] = []

    async def slow() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ran_on.append("ended")

    async def body() -> str:
        answer, _ = await asyncio.gather(ask("Go on?", bool, key="go"), slow())
        return str(answer)

    server = mcpserver(body)
    with pytest.raises(AssertionError):
        await run_tool(server, "t", None, [])
    assert ran_on == ["ended"]


async def test_an_effect_under_way_is_finished_and_recorded_before_the_call_suspends():
    started: list[str] = []

    async def pay() -> str:
        started.append("paid")
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        return "receipt"

    async def body() -> str:
        receipt, answer = await asyncio.gather(once("pay", pay), ask("Sure?", bool, key="sure"))
        return f"{receipt} {answer}"

    result = await run_tool(mcpserver(body), "t", None, [accept(True)])
    assert result.text == "receipt Accepted(value=True)"
    assert started == ["paid"]


async def test_an_answer_that_came_early_is_kept_for_the_task_that_asks_late():
    async def late() -> Answer[int]:
        first = await ask("First?", int, key="first")
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        second = await ask("Second?", int, key="second")
        assert isinstance(first, Accepted)
        return second

    async def body() -> str:
        answers = await asyncio.gather(late(), ask("Other?", int, key="other"))
        return str(answers)

    result = await run_tool(mcpserver(body), "t", None, lambda asked: accept(len(asked.message)))
    assert [asked.message for asked in result.asked].count("Other?") == 1
    assert [asked.message for asked in result.asked].count("First?") == 1


async def test_one_key_for_two_questions_is_an_authors_error(run: RunBody):
    async def body() -> str:
        first = await ask("Name?", str, key="same")
        second = await ask("Age?", int, key="same")
        return f"{first} {second}"

    result = await run(body, [accept("Ada")])
    assert result.is_error and "'same'" in result.text and "twice" in result.text


async def test_a_declined_question_beside_an_accepted_one_stays_apart(run: RunBody):
    async def body() -> str:
        answers = await ask_all({"a": ("A?", str), "b": ("B?", str)})
        assert answers == {"a": Declined(), "b": Accepted("yes")}
        return "apart"

    assert (await run(body, [decline(), accept("yes")])).text == "apart"
