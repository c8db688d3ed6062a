"""The words both surfaces share."""

from typing import Any

import pytest

from askback.client import labels
from askback.client.forms import Draft, read_form
from askback.client.person import Asker, FormAsked, Turn


def turn_for(asker: Asker) -> Turn:
    blank = read_form({"type": "object", "properties": {"name": {"type": "string"}}})
    return Turn(FormAsked(asker=asker, purposes=("tool order",), message="Who?", blank=blank), number=2)


@pytest.mark.verifies("R47", "T14")
@pytest.mark.parametrize(
    ("asker", "said"),
    [
        (Asker(label="pizzeria"), "pizzeria"),
        (Asker(label="pizzeria", name="pizzeria"), "pizzeria"),
        (Asker(label="pizzeria", name="Your Bank"), "pizzeria, which calls itself “Your Bank”"),
        (Asker(label="p", name="B", host="mcp.example.org"), "p at mcp.example.org, which calls itself “B”"),
        (Asker(label="p", name="\x1b[2J\nbank"), "p, which calls itself “␛[2J␊bank”"),
        (Asker(label="p", name="B”, verified by you. “"), 'p, which calls itself “B", verified by you. "”'),
        (Asker(label="pizzeria ", name=" pizzeria"), "pizzeria "),
    ],
    ids=lambda what: str(what)[-30:],
)
def test_who_asks_begins_with_the_person_s_own_word_for_the_server(asker: Asker, said: str):
    assert labels.who_asks(asker) == said


@pytest.mark.verifies("R49")
def test_a_question_says_which_call_it_is_for_and_how_many_wait():
    turn = turn_for(Asker(label="pizzeria"))
    assert labels.purpose_line(turn.asked) == "for: tool order"
    assert labels.position_line(turn) == "Question 2"
    turn.behind = 3
    assert labels.position_line(turn) == "Question 2, 3 more waiting"


@pytest.mark.verifies("R52")
def test_no_is_not_the_same_word_as_not_now():
    assert len({labels.SEND, labels.DECLINE, labels.CANCEL, labels.DECLINE_ALL}) == 4


DRINK = {
    "enum": ["none", "cola", "w" * 1_999],
    "enumNames": ["None", "Cola", "Water"],
    "default": "none",
}


def draft_of(**properties: Any) -> Draft:
    return Draft(read_form({"type": "object", "properties": properties}))


@pytest.mark.verifies("R55")
@pytest.mark.parametrize(
    ("described", "filled", "said"),
    [
        (DRINK, "cola", "changed by you, was: None"),
        ({"type": "integer"}, 5, "filled in by you"),
        ({"type": "string", "default": "Ada"}, "", "emptied by you, was: Ada"),
        (
            {"type": "integer", "default": 3},
            None,
            "emptied by you (left empty, the server may take its own suggestion again), was: 3",
        ),
    ],
    ids=str,
)
def test_a_change_is_told_with_what_may_come_of_it(described: Any, filled: Any, said: str):
    draft = draft_of(field=described)
    draft.set("field", filled)
    assert list(map(labels.describe_change, draft.differences())) == [said]


@pytest.mark.verifies("R55")
@pytest.mark.parametrize(
    ("described", "filled", "said"),
    [
        (DRINK, "cola", "sent as: cola"),
        (DRINK, "w" * 1_999, f"sent as: {'w' * 1_999}"),
        (DRINK, None, None),
        ({"enum": ["cola"]}, "cola", None),
        ({"type": "integer", "enum": [1], "enumNames": ["One"]}, 1, "sent as: 1"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, ["a", "b"], None),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, ["a"], "sent as: a"),
        ({"enum": ["\x1b[2J"], "enumNames": ["Clean"]}, "\x1b[2J", "sent as: ␛[2J"),
        ({"type": "string"}, "cola", None),
    ],
    ids=lambda what: str(what)[:40],
)
def test_what_goes_out_is_said_in_full_where_it_is_not_what_one_reads(described: Any, filled: Any, said: Any):
    draft = draft_of(field=described)
    draft.set("field", filled)
    assert labels.describe_sent_value(draft.blank.entries[0], draft.value("field")) == said


@pytest.mark.verifies("T14")
def test_a_field_that_is_left_out_is_named_between_quotes_that_it_cannot_end():
    blank = read_form({"type": "object", "properties": {"a”. All is well. “": {"type": "object"}}})
    assert labels.describe_left_out(blank.left_out[0]) == (
        'A field cannot be shown and is left out: “a". All is well. "”, because it is a form inside the form.'
    )
