"""The words both surfaces share."""

import pytest

from askback.client import labels
from askback.client.forms import read_form
from askback.client.person import Asker, FormAsked, Turn


def turn_for(asker: Asker) -> Turn:
    blank = read_form({"type": "object", "properties": {"name": {"type": "string"}}})
    return Turn(FormAsked(asker=asker, purpose="tool order", message="Who?", blank=blank), number=2)


@pytest.mark.verifies("R47", "T14")
@pytest.mark.parametrize(
    ("asker", "said"),
    [
        (Asker(label="pizzeria"), "pizzeria"),
        (Asker(label="pizzeria", name="pizzeria"), "pizzeria"),
        (Asker(label="pizzeria", name="Your Bank"), "pizzeria, which calls itself “Your Bank”"),
        (Asker(label="p", name="B", host="mcp.example.org"), "p at mcp.example.org, which calls itself “B”"),
        (Asker(label="p", name="\x1b[2J\nbank"), "p, which calls itself “␛[2J␊bank”"),
    ],
    ids=lambda what: str(what)[-30:],
)
def test_who_asks_begins_with_the_person_s_own_word_for_the_server(asker: Asker, said: str):
    assert labels.who_asks(asker) == said


@pytest.mark.verifies("R49")
def test_a_question_says_which_call_it_is_for_and_how_many_wait():
    turn = turn_for(Asker(label="pizzeria"))
    assert labels.why(turn.asked) == "for: tool order"
    assert labels.place(turn) == "Question 2"
    turn.behind = 3
    assert labels.place(turn) == "Question 2, 3 more waiting"


@pytest.mark.verifies("R52")
def test_no_is_not_the_same_word_as_not_now():
    assert len({labels.SEND, labels.DECLINE, labels.CANCEL, labels.DECLINE_ALL}) == 4
