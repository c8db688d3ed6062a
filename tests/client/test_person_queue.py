"""The line before a person: order, place, and who is never shown."""

from typing import Any

import anyio
import pytest
from mcp.client.session import ClientRequestContext
from mcp_types import ListRootsResult

from askback.answers import Accepted, Answer, Cancelled
from askback.client import Driver, PersonQueue, Turn
from askback.client.labels import position_line
from askback.testing import accept
from askback.testing.person import ScriptedPerson
from tests.client.stranger_servers import JULY, Context, Heard, Stranger, Typing, asking, done, form
from tests.client.turns import make_form, make_visit

NOVEMBER = "2025-11-25"
FOUR = {f"q{number}": form(f"Question {number}?") for number in range(1, 5)}


async def four_in_a_round(ctx: Context, heard: Heard) -> dict[str, Any]:
    roots = {"method": "roots/list"}
    return done() if "inputResponses" in heard.params else asking("s", **FOUR, roots=roots)


async def four_at_once(ctx: Context, heard: Heard) -> dict[str, Any]:
    async with anyio.create_task_group() as pushes:
        for question in FOUR.values():
            pushes.start_soon(ctx.send_raw_request, "elicitation/create", question["params"])
    return done()


class Several(Typing):
    shows_several = True


async def test_one_question_at_a_time_first_come_first_asked():
    person, order = Typing(), list[str]()
    line = PersonQueue(person)

    async def ask(message: str) -> None:
        await line.put(make_form(message=message))
        order.append(message)

    async with anyio.create_task_group() as tasks:
        for message in ("one", "two", "three"):
            tasks.start_soon(ask, message)
        await person.begun.wait()
        await anyio.wait_all_tasks_blocked()
        assert [turn.asked.message for turn in person.turns] == ["one"]
        person.sends.set()
    assert [turn.asked.message for turn in person.turns] == order == ["one", "two", "three"]


async def test_the_one_who_is_asked_sees_how_many_wait_behind():
    person = Typing()
    line = PersonQueue(person)
    first = make_form()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(line.put, first)
        await person.begun.wait()
        tasks.start_soon(line.put, make_form())
        with anyio.fail_after(5):
            await first.changed()
        assert first.behind == 1
        person.sends.set()


async def test_a_person_who_shows_several_gets_them_as_they_come():
    person = Several()
    line = PersonQueue(person)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(line.put, make_form())
        await anyio.wait_all_tasks_blocked()
        assert len(person.turns) == 3
        person.sends.set()


async def test_a_turn_that_was_withdrawn_while_it_waited_is_never_shown():
    person, answers = Typing(), list[Answer[Any]]()
    line, late = PersonQueue(person), make_form(message="late")

    async def ask(turn: Turn) -> None:
        answers.append(await line.put(turn))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, make_form())
        await person.begun.wait()
        tasks.start_soon(ask, late)
        await anyio.wait_all_tasks_blocked()
        late.withdraw("It is gone.")
        person.sends.set()
    assert answers == [Accepted({"size": 3}), Cancelled()]
    assert late not in person.turns


async def test_a_visit_that_is_finished_already_is_not_waited_for():
    finished, visit = anyio.Event(), make_visit().asked
    finished.set()
    assert await PersonQueue(ScriptedPerson(words=["cancel"])).wait(visit, finished) == "done"  # pyright: ignore[reportArgumentType] # a visit


@pytest.mark.verifies("T20")
async def test_several_servers_stand_in_one_line():
    async def ask(ctx: Context, heard: Heard) -> dict[str, Any]:
        return done() if "inputResponses" in heard.params else asking("s", size=form())

    person = ScriptedPerson([accept(size=1), accept(size=2)])
    line = PersonQueue(person)
    here = Driver(Stranger(ask).transport(), line, label="here")
    there = Driver(Stranger(ask).transport(), line, label="there")
    async with here as one, there as two, anyio.create_task_group() as calls:
        calls.start_soon(one.call_tool, "order")
        calls.start_soon(two.call_tool, "order")
    assert sorted(turn.asked.asker.label for turn in person.turns) == ["here", "there"]


class Counting(Typing):
    """Answers when everything has come that comes, and notes its place."""

    def __init__(self, *, shows_several: bool = False) -> None:
        super().__init__()
        self.shows_several = shows_several
        self.places: list[str] = []

    async def answer(self, turn: Turn) -> Answer[Any]:
        await anyio.wait_all_tasks_blocked()
        self.places.append(position_line(turn))
        return Accepted({"size": 3})


async def no_roots(context: ClientRequestContext) -> ListRootsResult:
    return ListRootsResult(roots=[])


@pytest.mark.verifies("T20")
@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
@pytest.mark.parametrize(
    ("on_call", "revision"), [(four_in_a_round, JULY), (four_at_once, NOVEMBER)], ids=["round", "pushed"]
)
async def test_questions_of_one_call_that_wait_for_another_are_counted_too(
    on_call: Any, revision: str, several: bool
):
    person = Counting(shows_several=several)
    server = Stranger(on_call, revision=revision)
    async with Driver(server.transport(), person, roots=no_roots) as driver:
        await driver.call_tool("order")
    assert person.places == [
        "Question 1, 3 more waiting",
        "Question 2, 2 more waiting",
        "Question 3, 1 more waiting",
        "Question 4",
    ]


@pytest.mark.verifies("T20")
@pytest.mark.parametrize(
    ("several", "first"),
    [(True, ["Question 1, 3 more waiting"] * 2), (False, ["Question 1, 7 more waiting"])],
    ids=["several", "one"],
)
async def test_side_by_side_those_of_the_same_call_wait_behind_and_in_a_line_all(
    several: bool, first: list[str]
):
    person = Counting(shows_several=several)
    line = PersonQueue(person)
    here = Driver(Stranger(four_in_a_round).transport(), line, roots=no_roots)
    there = Driver(Stranger(four_in_a_round).transport(), line, roots=no_roots)
    async with here as one, there as two, anyio.create_task_group() as calls:
        calls.start_soon(one.call_tool, "order")
        calls.start_soon(two.call_tool, "order")
    assert [shown for shown in person.places if shown == first[0]] == first
    assert person.places[0] == first[0]
