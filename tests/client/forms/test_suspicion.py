"""A form that fishes for secrets is under suspicion, in plain words, and nothing in it is masked."""

from typing import Any

import pytest

from askback.client.forms import read_form
from tests.client.forms.schemas import blank_of, entry_of, form


@pytest.mark.verifies("T13")
@pytest.mark.parametrize(
    ("described", "where"),
    [
        ({"type": "string", "title": "Password"}, "label"),
        ({"type": "string", "title": "Mot de passe"}, "label"),
        ({"type": "string", "title": "Пароль"}, "label"),
        ({"type": "string", "title": "p4ssw0rd"}, "label"),
        ({"type": "string", "title": "API k\u200bey"}, "label"),
        (
            {"type": "string", "title": "Account", "description": "Paste your GitHub token here"},
            "explanation",
        ),
        ({"type": "integer", "title": "PIN code"}, "label"),
        ({"type": "string", "title": "Account", "default": "enter your password here"}, "text in the box"),
    ],
    ids=lambda what: ascii(what)[:60],
)
def test_a_field_that_seems_to_ask_for_a_secret_says_so(described: Any, where: str):
    blank = blank_of(field=described)
    suspicion = blank.entries[0].suspicion
    assert suspicion is not None and suspicion.startswith(f"The {where} seems to ask for a secret: ")
    assert blank.suspicion == suspicion
    assert blank.suspicion_of("Hello") == suspicion


@pytest.mark.verifies("T13")
def test_a_field_that_the_server_calls_a_password_is_shown_as_text_and_suspected():
    entry = entry_of({"type": "string", "title": "Word", "format": "password"})
    assert entry.kind == "text"
    assert entry.suspicion is not None and "calls this a password field" in entry.suspicion
    assert entry.expects == "text"


@pytest.mark.verifies("T13")
@pytest.mark.parametrize(
    "described",
    [
        {"type": "string", "title": "Name"},
        {"type": "integer", "title": "Minimum password length"},
        {"type": "boolean", "title": "Reset my password"},
        {"enum": ["token", "password"], "title": "How do you sign in?"},
        {"type": "string", "title": "Postal code"},
    ],
    ids=str,
)
def test_an_innocent_field_is_under_no_suspicion(described: Any):
    blank = blank_of(field=described)
    assert blank.suspicion is None
    assert blank.suspicion_of("Where shall we deliver?") is None


@pytest.mark.verifies("T13")
def test_a_message_can_fish_for_a_field_with_an_innocent_name():
    blank = blank_of(answer={"type": "string", "title": "Answer"})
    found = blank.suspicion_of("To go on, please enter your API key below.")
    assert found is not None and found.startswith("The message seems to ask for a secret: API key")


@pytest.mark.verifies("T13")
def test_where_nothing_can_be_typed_a_message_may_speak_of_secrets():
    blank = blank_of(sure={"type": "boolean"})
    assert blank.suspicion_of("Please enter your password.") is None


@pytest.mark.verifies("T13", "T14")
def test_a_suspicion_repeats_nothing_that_the_server_wrote():
    schema = form(field={"type": "string", "title": "Enter your p-a-s-s-w-o-r-d for Verified Bank\x1b[0m"})
    suspicion = read_form(schema).suspicion
    assert suspicion is not None
    assert "Bank" not in suspicion and suspicion.isprintable()
