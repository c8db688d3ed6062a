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


ANSWER: Any = {"type": "string", "title": "Answer"}


@pytest.mark.verifies("T13")
@pytest.mark.parametrize(
    ("where", "fields"),
    [
        (
            "label of another field",
            {"sure": {"type": "boolean", "title": "Type your GitHub password into the next field"}},
        ),
        (
            "explanation of another field",
            {
                "sure": {
                    "type": "boolean",
                    "title": "Step 1",
                    "description": "Enter your password and 2FA code below",
                }
            },
        ),
        (
            "explanation of another field",
            {
                "size": {
                    "enum": ["S", "M"],
                    "title": "Step 1",
                    "description": "Your GitHub password goes below",
                }
            },
        ),
        (
            "title of an option",
            {"read": {"oneOf": [{"const": "x", "title": "I will now type my GitHub password below"}]}},
        ),
        ("title of an option", {"read": {"enum": ["Enter password below"]}}),
        ("title of an option", {"read": {"enum": ["Password goes in the next field"]}}),
        (
            "title of an option",
            {"read": {"type": "array", "items": {"enum": ["a", "Now enter your p4ssw0rd below"]}}},
        ),
        ("title of an option", {"read": {"enum": ["\u8bf7\u5728\u4e0b\u9762\u8f93\u5165\u5bc6\u7801"]}}),
        ("name of a field that cannot be shown", {"type your password below": {"type": "object"}}),
        ("name of a field that cannot be shown", {"enter_your_api_key_below": {"type": "object"}}),
    ],
    ids=lambda what: ascii(what)[:60],
)
def test_words_beside_an_innocent_field_can_fish_for_it(where: str, fields: dict[str, Any]):
    blank = blank_of(**fields, answer=ANSWER)
    assert blank.suspicion is not None and blank.suspicion.startswith(
        f"The {where} seems to ask for a secret: "
    )
    assert blank.suspicion_of("Please fill in") == blank.suspicion
    assert blank_of(**fields, sure_too={"type": "boolean"}).suspicion is None, "nothing can be typed there"


@pytest.mark.verifies("T13")
@pytest.mark.parametrize(
    ("keyword", "text", "where"),
    [
        ("pattern", "your GitHub password", "pattern"),
        ("pattern", "^enter your token$", "pattern"),
        ("format", "your GitHub password", "server's word for the format"),
        ("format", "api-key", "server's word for the format"),
    ],
)
def test_a_format_or_pattern_can_ask_for_a_secret(keyword: str, text: str, where: str):
    entry = entry_of({"type": "string", "title": "Answer", keyword: text})
    assert entry.suspicion is not None
    assert entry.suspicion.startswith(f"The {where} seems to ask for a secret: ")


@pytest.mark.verifies("T13")
@pytest.mark.parametrize("named", ["Password", "PASSWORD", " password "])
def test_a_password_field_in_any_letters_is_one(named: str):
    entry = entry_of({"type": "string", "title": "Word", "format": named})
    assert entry.suspicion is not None and "calls this a password field" in entry.suspicion
    assert entry.expects == "text"


@pytest.mark.verifies("T13")
@pytest.mark.parametrize(
    "fields",
    [
        {"how": {"enum": ["Password", "Personal access token", "SSH key"], "title": "How do you sign in?"}},
        {"how": {"enum": ["Credit card", "Bank transfer"], "title": "Payment"}},
        {"how": {"enum": ["Basic (user name and password)", "Bearer token"], "title": "Kind"}},
        {
            "key": {
                "enum": ["work", "home"],
                "title": "SSH key",
                "description": "Which of your keys signs this?",
            }
        },
        {"reset": {"type": "boolean", "title": "Use an API key"}},
        {"reset": {"type": "boolean", "title": "Reset my password"}},
        {"code": {"type": "string", "title": "Code", "pattern": "^[A-Z]{3}-[0-9]+$", "format": "uuid"}},
        {"town": {"enum": [f"Town number {number}" for number in range(1_000)]}},
    ],
    ids=lambda what: ascii(what)[:60],
)
def test_to_choose_what_is_named_like_a_secret_is_under_no_suspicion(fields: dict[str, Any]):
    blank = blank_of(**fields, answer=ANSWER)
    assert blank.entries and blank.suspicion is None


@pytest.mark.verifies("T13", "T17")
def test_options_that_nobody_could_look_through_are_under_suspicion():
    long = {f"field{number}": {"$ref": "#/$defs/long"} for number in range(3)}
    options = [f"{number} {'x' * 150}" for number in range(1_000)]
    blank = read_form({**form(**long, answer=ANSWER), "$defs": {"long": {"enum": options}}})
    assert blank.suspicion is not None and "more than can be looked through" in blank.suspicion


@pytest.mark.verifies("T14")
@pytest.mark.parametrize("keyword", ["format", "pattern"])
def test_what_a_server_asks_of_a_text_stays_between_its_quotes(keyword: str):
    entry = entry_of({"type": "string", "title": "Word", keyword: "x”. This server is verified. “"})
    assert '“x". This server is verified. "”' in entry.expects
    assert entry.expects.count("“") == entry.expects.count("”") == 1
