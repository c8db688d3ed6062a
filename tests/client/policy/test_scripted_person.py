"""The scripted person of the testing kit: says what the script says, and fails clearly where the questions differ."""

import subprocess
import sys

import anyio
import pytest

from askback.answers import Accepted, Cancelled, Declined
from askback.client import Driver
from askback.client.person import Person, VisitAsked
from askback.errors import Unanswered
from askback.testing import (
    REVISIONS,
    Asked,
    ScriptedPerson,
    ScriptMismatch,
    accept,
    cancel,
    decline,
    fail,
    raw,
    silence,
)
from askback.testing.script import Reply
from examples.pizzeria.server import mcp as pizzeria
from tests.client.turns import make_form, make_visit

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_scripted_person_answers_a_server_over_a_driver(revision: str):
    person = ScriptedPerson([accept(drink="cola", to="pizza"), accept(yes=True)])
    async with Driver(pizzeria, person, revision=revision) as driver:
        result = await driver.call_tool("order", {"pizza": "Funghi"})
    assert "Funghi, cola, tip 0" in str(result.content)
    assert [turn.asked.message for turn in person.turns] == [
        "Anything with your pizza?",
        "Order Funghi with cola?",
    ]
    person.finish()


async def test_the_other_fields_stay_as_the_form_has_them():
    assert await ScriptedPerson([accept(tip=2)]).answer(make_form()) == Accepted({"drink": "none", "tip": 2})


async def test_a_no_and_a_closed_form_are_two_things():
    person = ScriptedPerson([decline(), cancel()])
    assert await person.answer(make_form()) == Declined()
    assert await person.answer(make_form()) == Cancelled()


async def test_replies_can_depend_on_the_question():
    def reply(asked: Asked) -> Reply:
        return decline() if asked.mode == "url" else accept(tip=len(asked.fields))

    person = ScriptedPerson(reply)
    assert await person.answer(make_form()) == Accepted({"drink": "none", "tip": 2})
    assert await person.answer(make_visit()) == Declined()


async def test_a_visit_is_consented_and_nothing_is_opened():
    person = ScriptedPerson([accept()])
    assert await person.answer(make_visit("https://pay.example.com/7")) == Accepted(None)
    assert person.visited == ["https://pay.example.com/7"]


async def test_after_a_visit_the_words_come_in_order_and_then_done():
    person = ScriptedPerson([accept()], words=["again", "cancel"])
    turn = make_visit()
    assert isinstance(turn.asked, VisitAsked)
    assert [await person.wait(turn.asked, anyio.Event()) for _ in range(3)] == ["again", "cancel", "done"]


@pytest.mark.parametrize(
    ("person", "told"),
    [
        (ScriptedPerson([accept(size=3)]), "a field that the form does not have"),
        (ScriptedPerson([accept(tip=99)]), "does not fit what the server asked"),
        (ScriptedPerson([accept(drink="beer")]), "does not fit what the server asked"),
        (ScriptedPerson([accept(to="Delete")]), "meant for 'Delete'"),
        (ScriptedPerson([]), "no reply left"),
        (ScriptedPerson({"other": accept()}), "no reply for the key None"),
        (ScriptedPerson([raw({"action": "maybe"})]), "is not an answer of a person"),
    ],
    ids=range(7),
)
async def test_a_script_that_does_not_fit_the_form_fails_the_test(person: ScriptedPerson, told: str):
    with pytest.raises(ScriptMismatch, match=told):
        await person.answer(make_form())
    with pytest.raises(ScriptMismatch, match=told):
        person.finish()  # also where a driver or a server has swallowed it


async def test_a_script_that_does_not_fit_the_visit_fails_the_test():
    with pytest.raises(ScriptMismatch, match="asked for a visit"):
        await ScriptedPerson([accept(tip=1)]).answer(make_visit())
    with pytest.raises(ScriptMismatch, match="nobody can: The link begins with javascript:"):
        await ScriptedPerson([accept()]).answer(make_visit("javascript:alert(1)"))


def test_unused_replies_fail_the_test():
    with pytest.raises(ScriptMismatch, match="1 of the script's replies unused"):
        ScriptedPerson([decline()]).finish()


async def test_a_person_who_fails_leaves_the_question_unanswered():
    with pytest.raises(Unanswered, match="gone to lunch"):
        await ScriptedPerson([fail(message="gone to lunch")]).answer(make_form())


async def test_a_silent_person_waits_until_the_question_is_taken_back():
    turn = make_form()
    person: Person = ScriptedPerson([silence()])
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(person.answer, turn)
            await anyio.wait_all_tasks_blocked()
            turn.withdraw("the server has ended")


async def test_raw_content_goes_out_as_it_is_to_see_it_refused():
    person = ScriptedPerson([raw({"action": "accept", "content": {"tip": "many"}})])
    assert await person.answer(make_form()) == Accepted({"tip": "many"})


def test_who_tests_a_server_alone_needs_no_client_extra():
    loaded = "import sys, askback.testing; print('ada_url' in sys.modules, 'prompt_toolkit' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout
    assert said == "False False\n"
