"""What a run without a person answers: what a rule names, and nothing else."""

import logging
from typing import Any

import anyio
import pytest

from askback.answers import Accepted, Cancelled, Declined
from askback.client import Driver
from askback.client.person import Person, VisitAsked
from askback.client.policy import PolicyPerson, parse_policy
from askback.errors import Unanswered
from askback.testing import REVISIONS, ScriptedPerson, accept, cancel
from examples.pizzeria.server import mcp as pizzeria
from examples.policy.nightly import order
from tests.client.turns import make_form, make_visit

pytestmark = pytest.mark.anyio


def person(rules: str, otherwise: Person | None = None) -> PolicyPerson:
    return PolicyPerson(parse_policy(rules, file="night.toml"), otherwise)


def answering(answer: str, *more: str) -> PolicyPerson:
    return person(
        "\n".join(["[[rule]]", 'name = "cola"', 'server = "pizzeria"', f"answer = {answer}", *more])
    )


NEEDED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "day": {"type": "string", "format": "date"},
        "size": {"type": "integer", "enum": [26, 32]},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "note": {"type": "string", "default": "none"},
    },
    "required": ["day"],
}


async def test_a_rule_answers_and_the_answer_says_so(caplog: pytest.LogCaptureFixture):
    turn = make_form()
    with caplog.at_level(logging.INFO, "askback.client.policy"):
        assert await answering('{ drink = "cola", tip = 3 }').answer(turn) == Accepted(
            {"drink": "cola", "tip": 3}
        )
    assert turn.by == "policy night.toml, rule 1 (cola)"
    assert caplog.messages == [
        "policy night.toml, rule 1 (cola) answers “Anything with your pizza?” of pizzeria (tool order)"
    ]


async def test_a_field_that_the_rule_does_not_name_is_not_answered():
    assert await answering('{ drink = "cola" }').answer(make_form()) == Accepted({"drink": "cola"})
    assert await answering("{}").answer(make_form()) == Accepted(dict[str, Any]())
    assert await answering("{ day = 2026-11-15 }").answer(make_form(NEEDED)) == Accepted(
        {"day": "2026-11-15"}
    )


async def test_the_forms_defaults_are_sent_where_the_rule_says_so():
    kept = answering('{ drink = "cola" }', "defaults = true")
    assert await kept.answer(make_form()) == Accepted({"drink": "cola", "tip": 0})


async def test_values_are_spelled_as_toml_has_them():
    said = answering('{ day = 2026-11-15, size = 32, extras = ["b"] }')
    assert await said.answer(make_form(NEEDED)) == Accepted(
        {"day": "2026-11-15", "size": 32, "extras": ["b"]}
    )


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("{ tip = 21 }", "tip"),
        ('{ drink = "beer" }', "drink"),
        ('{ tip = "3" }', "tip"),
        ("{ size = 32 }", "the form has no field 'size'; it has drink, tip"),
    ],
)
async def test_an_answer_that_does_not_fit_is_not_sent(answer: str, problem: str):
    turn = make_form()
    with pytest.raises(Unanswered, match=r"night\.toml, rule 1 \(cola\) cannot answer") as unanswered:
        await answering(answer).answer(turn)
    assert problem in str(unanswered.value)
    assert turn.by == "person"


async def test_a_needed_field_that_the_rule_forgets_is_named():
    with pytest.raises(Unanswered, match="day"):
        await answering("{ size = 32 }").answer(make_form(NEEDED))


SECRET: dict[str, Any] = {
    "type": "object",
    "properties": {"api_key": {"type": "string", "title": "API key"}, "team": {"type": "string"}},
    "required": ["team"],
}


@pytest.mark.verifies("T13")
async def test_a_field_that_fishes_for_a_secret_is_answered_only_if_the_rule_says_so():
    form = '{ api_key = "x", team = "a" }'
    with pytest.raises(Unanswered, match=r"write secrets = \['api_key'\]"):
        await answering(form).answer(make_form(SECRET))
    trusted = answering(form, 'secrets = ["api_key"]')
    assert await trusted.answer(make_form(SECRET)) == Accepted({"api_key": "x", "team": "a"})
    assert await answering('{ team = "a" }').answer(make_form(SECRET)) == Accepted({"team": "a"})


@pytest.mark.verifies("T13")
async def test_a_value_that_looks_like_a_key_is_sent_only_if_the_rule_says_so():
    form = '{ team = "ghp_16C7e42F292c6912E7710c838347Ae178B4a" }'
    with pytest.raises(Unanswered, match=r"secrets = \['team'\]"):
        await answering(form).answer(make_form(SECRET))
    assert isinstance(await answering(form, 'secrets = ["team"]').answer(make_form(SECRET)), Accepted)


@pytest.mark.verifies("T13")
async def test_words_beside_a_field_that_fish_for_a_secret_stop_it_too():
    asking = {"sure": {"type": "boolean", "title": "Type your password into the next field"}}
    schema = {"type": "object", "properties": {**asking, "team": {"type": "string"}}}
    with pytest.raises(Unanswered, match=r"secrets = \['team'\]"):
        await answering('{ team = "a" }').answer(make_form(schema))
    assert await answering("{ sure = true }").answer(make_form(schema)) == Accepted({"sure": True})


@pytest.mark.verifies("T13")
@pytest.mark.parametrize("place", ["message", "beside"])
async def test_a_suspicious_field_draws_no_attention_from_the_words_around_the_others(place: str):
    demand = "Type your password into the field Team."
    sure = {"sure": {"type": "boolean", "title": demand if place == "beside" else "Sure?"}}
    schema = {"type": "object", "properties": {**SECRET["properties"], **sure}}
    turn = make_form(schema, message=demand if place == "message" else "Who are you?")
    with pytest.raises(Unanswered, match=r"secrets = \['team'\]"):
        await answering('{ team = "hunter2" }', 'secrets = ["api_key"]').answer(turn)
    with pytest.raises(Unanswered, match=r"api_key.*; team"):
        await answering('{ team = "a", api_key = "x" }').answer(turn)


async def test_a_form_that_nobody_could_answer_is_not_answered():
    with pytest.raises(Unanswered):
        await answering("{}").answer(make_form("no schema at all"))


async def test_a_rule_declines_forms_and_visits():
    for turn in (make_form(), make_visit()):
        assert await person("[[rule]]\ndecline = true").answer(turn) == Declined()
        assert turn.by == "policy night.toml, rule 1"


async def test_what_no_rule_names_is_neither_yes_nor_no():
    turn = make_form(message="Wire \x1b[2Jthe money?")
    with pytest.raises(Unanswered) as unanswered:
        await person("[[rule]]\nmessage = 'Other'\ndecline = true").answer(turn)
    assert str(unanswered.value) == (
        "No rule of the policy night.toml names “Wire ␛[2Jthe money?” of pizzeria (tool order), and no person is here "
        "to answer it. Add or mend a rule for it, or run this where a person can answer."
    )


async def test_a_rule_can_leave_a_question_to_a_person():
    rules = "[[rule]]\nmessage = '*pizza*'\nask = true"
    with pytest.raises(Unanswered, match="leaves to a person"):
        await person(rules).answer(make_form())
    somebody = ScriptedPerson([accept(tip=1)])
    turn = make_form()
    assert await person(rules, somebody).answer(turn) == Accepted({"drink": "none", "tip": 1})
    assert turn.by == "person"


async def test_what_no_rule_names_and_what_does_not_fit_goes_to_the_person_behind_the_policy():
    somebody = ScriptedPerson([cancel(), cancel()])
    assert (
        await person("[[rule]]\nserver = '*'\nanswer = { x = 1 }", somebody).answer(make_form())
        == Cancelled()
    )
    assert (
        await person("[[rule]]\nmessage = 'x'\ndecline = true", somebody).answer(make_form()) == Cancelled()
    )
    somebody.finish()


async def test_a_person_who_cannot_be_shown_links_is_not_shown_any():
    forms_only = ScriptedPerson([accept()], modes=frozenset({"form"}))
    with pytest.raises(Unanswered):
        await person("[[rule]]\nask = true", forms_only).answer(make_visit())


@pytest.mark.verifies("R61")
async def test_only_a_person_accepts_a_visit_and_tells_how_it_went():
    rules = "[[rule]]\nquestion = 'visit'\nask = true"
    somebody = ScriptedPerson([accept()], words=["again"])
    turn = make_visit()
    assert await person(rules, somebody).answer(turn) == Accepted(None)
    assert isinstance(turn.asked, VisitAsked)
    assert await person(rules, somebody).wait(turn.asked, anyio.Event()) == "again"
    assert await person(rules).wait(turn.asked, anyio.Event()) == "cancel"


@pytest.mark.verifies("R45")
@pytest.mark.parametrize(
    ("rules", "modes"),
    [
        ("decline = true", {"form", "url"}),
        ("server = '*'\nanswer = {}", {"form"}),
        ("question = 'visit'\ndecline = true", {"url"}),
        ("question = 'form'\ndecline = true", {"form"}),
        ("fields = ['a']\ndecline = true", {"form"}),
        ("ask = true", set[str]()),
    ],
)
def test_only_what_a_rule_can_settle_is_declared(rules: str, modes: set[str]):
    assert person(f"[[rule]]\n{rules}").modes == modes
    assert person(f"[[rule]]\n{rules}", ScriptedPerson(modes=frozenset({"url"}))).modes == modes | {"url"}


def test_turns_come_one_by_one_where_the_person_behind_wants_that():
    assert person("[[rule]]\nask = true").shows_several
    assert not person("[[rule]]\nask = true", ScriptedPerson()).shows_several


async def test_the_nightly_order_is_placed_and_says_by_which_rules():
    result, *answered = await order("Margherita", server=pizzeria)
    assert result.endswith("Margherita, water, tip 0")
    assert [line.partition("policy.toml, ")[2] for line in answered] == [
        "rule 1 (water, no tip)",
        "rule 2 (what we always order)",
    ]


async def test_another_order_is_declined_at_night():
    result, *answered = await order("Funghi", server=pizzeria)
    assert result == "Nothing ordered."
    assert answered[-1].startswith("decline: Order Funghi with water?")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_call_that_asks_what_no_rule_names_ends_and_nothing_is_said_for_anybody(revision: str):
    rules = "[[rule]]\nserver = 'pizzeria'\nmessage = 'Anything*'\nanswer = {}"
    async with Driver(pizzeria, person(rules), label="pizzeria", revision=revision) as driver:
        with pytest.raises(Unanswered, match="Order Margherita with none"):
            await driver.call_tool("order", {"pizza": "Margherita"})
    assert [one.action for one in driver.answered] == ["accept"]
