"""A form while a person fills it in."""

from typing import Any

import pytest

from askback.client.forms import Draft, read_form
from tests.client.forms.schemas import blank_of, draft_of, form

ORDER = form(
    "name",
    "count",
    name={"type": "string", "title": "Name", "minLength": 2, "default": "Ada"},
    count={"type": "integer", "title": "How many", "minimum": 1, "maximum": 20},
    note={"type": "string", "title": "Note", "default": "as always"},
    tip={"type": "number", "title": "Tip", "default": 5},
    drink={"type": "string", "title": "Drink", "enum": ["cola", "water"], "enumNames": ["Cola", "Water"]},
    extras={"type": "array", "title": "Extras", "items": {"enum": ["olives", "capers"]}, "default": ["olives"]},
    sure={"type": "boolean", "title": "Sure", "default": True},
)  # fmt: skip


NOT_A_URL = "field should be a complete web address, from its very beginning."
NO_OFFSET = "field should be a date and time with its offset, like 2031-05-24T09:30:00+02:00."


@pytest.mark.verifies("R56")
@pytest.mark.parametrize(
    ("described", "typed", "problem"),
    [
        ({"type": "string", "minLength": 3}, "ab", "field needs 3 or more characters."),
        ({"type": "string", "maxLength": 3}, "abcd", "field can have 3 characters at most."),
        ({"type": "string"}, "x" * 50_001, "field can have 50000 characters at most."),
        ({"type": "string"}, "half \ud83d", "field contains characters that cannot be read."),
        ({"type": "string", "format": "email"}, "ada", "field should be an email address, like name@example.org."),
        ({"type": "string", "format": "uri"}, "example", NOT_A_URL),
        ({"type": "string", "format": "date"}, "15.11.2026", "field should be a date, like 2031-05-24."),
        ({"type": "string", "format": "date"}, "2026-02-30", "field should be a date, like 2031-05-24."),
        ({"type": "string", "format": "date-time"}, "2026-11-15T18:30:00", NO_OFFSET),
        ({"type": "number"}, "five", "field should be a number."),
        ({"type": "number"}, "1e999", "field should be a number."),
        ({"type": "number"}, "nan", "field should be a number."),
        ({"type": "number"}, "1_000", "field should be a number."),
        ({"type": "number"}, "9" * 400, "field should be a number."),
        ({"type": "number", "exclusiveMaximum": 2}, "2", "field should be less than 2."),
        ({"type": "integer"}, "2.5", "field should be a whole number."),
        ({"type": "integer", "minimum": 3}, "2", "field should be 3 or more."),
        ({"type": "integer", "multipleOf": 3}, "4", "field should be a multiple of 3."),
        ({"type": "boolean"}, "maybe", "field should be yes or no."),
    ],
    ids=lambda what: str(what)[:40].encode("ascii", "replace").decode(),
)  # fmt: skip
def test_what_does_not_fit_is_said_while_it_is_typed_and_is_not_sent(
    described: Any, typed: str, problem: str
):
    draft = draft_of(described)
    assert draft.write("field", typed) == problem
    assert draft.problem("field") == problem
    assert draft.text("field") == typed
    assert draft.value("field") is None
    with pytest.raises(ValueError, match="cannot be sent yet"):
        draft.content()


@pytest.mark.verifies("R56")
@pytest.mark.parametrize(
    ("described", "typed", "value"),
    [
        ({"type": "string"}, " two\nlines ", " two\nlines "),
        ({"type": "string", "format": "email"}, " ada@example.org ", "ada@example.org"),
        ({"type": "string", "format": "date"}, "2026-11-15 ", "2026-11-15"),
        ({"type": "string", "format": "date-time"}, "2026-11-15 18:30+01:00", "2026-11-15T18:30:00+01:00"),
        ({"type": "string", "format": "date-time"}, "2026-11-15 18:30:05 Z", "2026-11-15T18:30:05Z"),
        ({"type": "number"}, "-.5", -0.5),
        ({"type": "number"}, "\u22123", -3),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "integer"}, "+12", 12),
        ({"type": "integer"}, "5.0", 5),
        ({"type": "integer"}, "٤٢", 42),
        ({"type": "integer"}, "9007199254740991", 2**53 - 1),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "n", False),
    ],
    ids=lambda what: ascii(what)[:40],
)
def test_what_a_person_types_becomes_the_value_it_means(described: Any, typed: str, value: Any):
    draft = draft_of(described)
    assert draft.write("field", typed) is None
    sent = draft.content()["field"]
    assert sent == value and type(sent) is type(value)
    assert draft.text("field") == typed


@pytest.mark.verifies("R56")
@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("typed", ["9007199254740992", "-9007199254740992", "9" * 100])
def test_a_whole_number_that_would_arrive_as_another_is_refused(kind: str, typed: str):
    draft = draft_of({"type": kind})
    assert "9007199254740991" in str(draft.write("field", typed))
    assert "9007199254740991" in str(draft.set("field", int(typed)))


@pytest.mark.verifies("R56")
def test_needed_fields_are_problems_while_they_are_empty_and_others_are_left_out():
    draft = Draft(read_form(ORDER))
    assert draft.problems() == {"count": "How many is needed."}
    draft.write("count", "2")
    assert draft.problems() == {}
    assert draft.content() == {
        "name": "Ada",
        "count": 2,
        "note": "as always",
        "tip": 5,
        "extras": ["olives"],
        "sure": True,
    }


@pytest.mark.verifies("R55")
def test_every_answer_can_be_changed_until_it_is_sent():
    draft = Draft(read_form(ORDER), {"count": 2, "drink": "cola", "name": "Grace"})
    draft.write("name", "Alan")
    draft.write("count", "x")
    assert "count" in draft.problems()
    draft.write("count", "3")
    draft.set("drink", None)
    draft.set("extras", ["capers", "olives"])
    draft.set("sure", False)
    content = draft.content()
    assert (content["name"], content["count"], content["sure"]) == ("Alan", 3, False)
    assert "drink" not in content
    assert content["extras"] == ["capers", "olives"]


@pytest.mark.verifies("R55", "R57")
def test_the_review_shows_what_differs_from_the_form_as_it_came():
    draft = Draft(read_form(ORDER))
    assert draft.differences() == []
    draft.write("count", "2")
    draft.write("tip", "")
    draft.set("drink", "water")
    draft.set("extras", [])
    draft.set("sure", False)
    draft.write("name", "Grace")
    draft.write("name", "Ada")
    assert [(one.entry.label, one.before, one.after) for one in draft.differences()] == [
        ("How many", "", "2"),
        ("Tip", "5", ""),
        ("Drink", "", "Water"),
        ("Extras", "olives", ""),
        ("Sure", "yes", "no"),
    ]


@pytest.mark.verifies("R57")
def test_a_default_that_a_person_empties_is_not_sent_and_does_not_come_back_where_that_can_be_said():
    draft = Draft(read_form(ORDER), {"count": 1})
    for name in ("note", "tip", "extras"):
        draft.set(name, None)
    content = draft.content()
    assert content["note"] == ""
    assert content["extras"] == []
    assert "tip" not in content
    notes = {one.entry.name: one.note for one in draft.differences()}
    assert notes["tip"] == "left empty, the server may take its own suggestion again"
    assert notes["note"] == notes["extras"] == ""


@pytest.mark.parametrize(
    ("described", "sent"),
    [
        ({"type": "string", "default": ""}, {"field": ""}),
        ({"type": "array", "items": {"enum": ["a"]}}, {"field": []}),
    ],
    ids=str,
)
def test_a_needed_field_may_stay_as_empty_as_the_server_made_it(described: Any, sent: Any):
    assert draft_of(described, is_required=True).content() == sent


def test_an_empty_text_can_be_one_of_the_options():
    draft = draft_of({"enum": ["", "a"], "enumNames": ["Nothing", "A"]}, is_required=True)
    assert "field" in draft.problems()
    draft.set("field", "")
    assert draft.shown("field") == "Nothing"
    assert draft.content() == {"field": ""}


def test_values_for_fields_that_the_form_does_not_have_are_refused():
    with pytest.raises(ValueError, match=r"no field 'colour'\. It has: name"):
        Draft(blank_of(name={"type": "string"}), {"colour": "red"})


@pytest.mark.verifies("T14", "T15")
def test_the_sentence_about_a_problem_is_safe_to_print_whatever_the_server_calls_the_field():
    title = "\x1b]0;owned\x07\nVerified\u202e" + "x" * 400
    draft = Draft(blank_of("a", "b", a={"type": "string", "title": title}, b={"enum": [title, title + "!"]}))
    draft.write("b", "neither")
    for problem in draft.problems().values():
        assert problem.isprintable()
        assert len(problem) < 250
