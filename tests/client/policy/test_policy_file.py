"""A policy file is read whole, or refused with the place and what to write instead."""

from pathlib import Path

import pytest

from askback.client.policy import Policy, load_policy, parse_policy
from askback.errors import OperatorError, PolicyRefused
from tests.client.turns import make_form, make_visit
from tests.support.corpus import corpus


def policy(text: str) -> Policy:
    return parse_policy(text, file="night.toml")


MISTAKES = [
    ("rule = [", "it is no TOML", "mend that line"),
    ("[[rule]]\nname = 'x'\nname = 'y'\ndecline = true", "line 3", "mend that line"),
    ("", "no list of rules", "begin each rule with [[rule]]"),
    ("[rule]\ndecline = true", "no list of rules", "begin each rule with [[rule]]"),
    ("[[rules]]\ndecline = true", "'rules' is not part", "begin each rule with [[rule]]"),
    ("version = 1", "'version' is not part", "begin each rule with [[rule]]"),
    (
        "[[rule]]\ndecline = true\n\n[[rule]]\nserver = 'a'",
        "rule 2, line 4 does not say what to do",
        "decline = true",
    ),
    (
        "[[rule]]\nname = 'both'\ndecline = true\nask = true",
        "rule 1 (both), line 1 says both",
        "write one of",
    ),
    ("[[rule]]\ndecline = false", "decline = False", "write decline = true, or leave it out"),
    ("[[rule]]\nask = 1", "ask = 1", "write ask = true"),
    ("[[rule]]\nanswer = true\nserver = 'a'", "no table", "answer = { field = value }"),
    ("[[rule]]\nserver = 'a'\nanswer = { a = { b = 1 } }", "answers a with a table", "forms are flat"),
    ("[[rule]]\nanswer = { a = 1 }", "not which server", 'server = "..."'),
    ("[[rule]]\nserver = 7\ndecline = true", "has server = 7", 'server = "..."'),
    ("[[rule]]\nfields = 'a'\ndecline = true", "has fields = 'a'", 'fields = ["..."]'),
    ("[[rule]]\ntool = 'a'\nprompt = 'b'\ndecline = true", "names tool and prompt", "a rule for each"),
    ("[[rule]]\nsrever = 'a'\ndecline = true", "'srever'", "write server"),
    ("[[rule]]\nxyzzy = 'a'\ndecline = true", "'xyzzy'", "write name, server"),
    ("[[rule]]\nquestion = 'link'\ndecline = true", "question = 'link'", '"form", "visit"'),
    ("[[rule]]\nquestion = 'visit'\nopen = true", "'open'", "a policy opens no link"),
    ("[[rule]]\nquestion = 'visit'\naccept = true", "'accept'", "decline = true or ask = true"),
    ("[[rule]]\nserver = 'a'\nquestion = 'visit'\nanswer = {}", "answers a visit", "a policy opens no link"),
    ("[[rule]]\ndecline = true\ndefaults = true", "defaults or secrets without an answer", "leave them out"),
    ("[[rule]]\nserver = 'a'\nanswer = {}\ndefaults = false", "defaults = False", "defaults = true"),
    (
        "[[rule]]\nquestion = 'visit'\nfields = ['a']\nask = true",
        "names fields of a visit",
        "leave out fields",
    ),
]


@pytest.mark.parametrize(("text", "problem", "instead"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_told_with_its_place_and_what_to_write(text: str, problem: str, instead: str):
    with pytest.raises(PolicyRefused) as refused:
        policy(text)
    assert refused.value.file == "night.toml"
    assert problem in refused.value.problem
    assert instead in refused.value.instead
    assert isinstance(refused.value, OperatorError)


def test_a_file_that_is_not_there_is_told(tmp_path: Path):
    with pytest.raises(PolicyRefused, match="it cannot be read"):
        load_policy(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9")
    with pytest.raises(PolicyRefused, match="it cannot be read"):
        load_policy(tmp_path / "latin.toml")


MATCHES = [
    ("", True),
    ("server = 'pizzeria'", True),
    ("server = 'pizz*'", True),
    ("server = '*ria'", True),
    ("server = 'p*z*i*'", True),
    ("server = '*'", True),
    ("server = 'Pizzeria'", False),
    ("server = 'pizza'", False),
    ("server = 'pizzeria*pizzeria'", False),
    ("server = 'p?zzeria'", False),
    ("tool = 'order'", True),
    ("tool = 'or*'", True),
    ("tool = 'ord'", False),
    ("prompt = 'order'", False),
    ("resource = '*'", False),
    ("message = 'Anything with your pizza?'", True),
    ("message = 'Anything'", False),
    ("message = '*pizza*'", True),
    ("message = 'Anything*'", True),
    ("message = 'Anything*.'", False),
    ("fields = ['tip']", True),
    ("fields = ['tip', 'drink']", True),
    ("fields = ['tip', 'size']", False),
    ("question = 'form'", True),
    ("question = 'visit'", False),
    ("server = 'pizzeria'\ntool = 'other'", False),
]


@pytest.mark.parametrize(("condition", "names"), MATCHES, ids=range(len(MATCHES)))
def test_a_rule_names_the_questions_that_fit_all_it_says(condition: str, names: bool):
    rule = policy(f"[[rule]]\n{condition}\ndecline = true").rule_for(make_form().asked)
    assert (rule is not None) is names


def test_while_several_calls_are_open_a_rule_that_answers_must_name_each_of_them():
    rules = policy("[[rule]]\nserver = 'pizzeria'\ntool = 'order'\nanswer = {}")
    assert rules.rule_for(make_form(purpose=("tool order", "tool order")).asked)
    assert not rules.rule_for(make_form(purpose=("tool order", "tool pay")).asked)


@pytest.mark.verifies("T07")
@corpus("outcome", ["decline = true", "ask = true"])
def test_no_second_call_gets_a_question_past_a_rule_that_does_not_answer(outcome: str):
    rules = policy(f"[[rule]]\ntool = 'order'\n{outcome}")
    assert rules.rule_for(make_form(purpose=("tool order", "tool pay")).asked)
    assert rules.rule_for(make_form(purpose=("tool pay", "tool order")).asked)
    assert not rules.rule_for(make_form(purpose=("tool pay", "tool wash")).asked)


def test_a_name_that_holds_the_word_or_is_one_name():
    rules = policy("[[rule]]\nprompt = 'pizza or pasta'\ndecline = true")
    asked = make_form(purpose="prompt pizza or pasta").asked
    assert rules.rule_for(asked)
    assert not rules.rule_for(make_form(purpose=("prompt pizza", "pasta")).asked)
    assert asked.purpose == "prompt pizza or pasta"


def test_a_rule_about_fields_or_answers_names_no_visit():
    visit = make_visit().asked
    assert policy("[[rule]]\ndecline = true").rule_for(visit)
    assert policy("[[rule]]\nquestion = 'visit'\nmessage = '*pay*'\ndecline = true").rule_for(visit)
    assert not policy("[[rule]]\nfields = ['a']\ndecline = true").rule_for(visit)
    assert not policy("[[rule]]\nserver = '*'\nanswer = {}").rule_for(visit)
    assert not policy("[[rule]]\nquestion = 'form'\ndecline = true").rule_for(visit)


def test_the_first_rule_that_names_a_question_holds():
    rules = policy("[[rule]]\nmessage = 'Other'\nask = true\n[[rule]]\ndecline = true\n[[rule]]\nask = true")
    rule = rules.rule_for(make_form().asked)
    assert rule is not None and rule.number == 2


@pytest.mark.verifies("T18")
def test_a_long_message_does_not_make_a_pattern_explode():
    rules = policy("[[rule]]\nmessage = '*a*a*a*a*a*a*a*a*b'\ndecline = true")
    assert rules.rule_for(make_form(message="a" * 1_000_000).asked) is None
