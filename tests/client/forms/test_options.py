"""Every way in which servers have written a choice, and some in which they should not."""

from typing import Any

import pytest

from askback.client.forms import Draft
from tests.client.forms.schemas import blank_of, entry_of, why_left_out

SHAPES = {
    "plain": {"type": "string", "enum": ["red", "blue"]},
    "oneOf": {
        "type": "string",
        "oneOf": [{"const": "red", "title": "Red"}, {"const": "blue", "title": "Blue"}],
    },
    "anyOf": {
        "type": "string",
        "anyOf": [{"const": "red", "title": "Red"}, {"const": "blue", "title": "Blue"}],
    },
    "enumNames": {"type": "string", "enum": ["red", "blue"], "enumNames": ["Red", "Blue"]},
    "no type": {"enum": ["red", "blue"]},
    "nullable": {"anyOf": [{"type": "string", "enum": ["red", "blue"]}, {"type": "null"}]},
    "null among them": {"enum": ["red", "blue", None]},
}
TITLED = [{"const": "red", "title": "Red"}, {"const": "blue", "title": "Blue"}]
SEVERAL = {
    "items enum": {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}},
    "items anyOf": {"type": "array", "items": {"anyOf": TITLED}},
    "items oneOf": {"type": "array", "items": {"oneOf": TITLED}},
    "items enumNames": {"type": "array", "items": {"enum": ["red", "blue"], "enumNames": ["Red", "Blue"]}},
}


@pytest.mark.verifies("R58")
@pytest.mark.parametrize("shape", SHAPES)
def test_one_of_several_is_read_in_every_shape(shape: str):
    entry = entry_of(SHAPES[shape], is_required=True)
    assert entry.kind == "choice"
    assert [option.value for option in entry.options] == ["red", "blue"]
    has_titles = "Red" in str(SHAPES[shape])
    assert [option.shown for option in entry.options] == (["Red", "Blue"] if has_titles else ["red", "blue"])
    draft = Draft(blank_of("field", field=SHAPES[shape]))
    assert draft.set("field", "blue") is None
    assert draft.content() == {"field": "blue"}


@pytest.mark.verifies("R58")
@pytest.mark.parametrize("shape", SEVERAL)
def test_several_of_several_are_read_in_every_shape(shape: str):
    entry = entry_of(SEVERAL[shape])
    assert entry.kind == "choices"
    draft = Draft(blank_of("field", field=SEVERAL[shape]))
    assert draft.set("field", ["blue", "red"]) is None
    assert draft.content() == {"field": ["blue", "red"]}


@pytest.mark.verifies("R58")
@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["Red"], ["Red", "blue"]),
        ([], ["red", "blue"]),
        (["Red", "Blue", "Green"], ["Red", "Blue"]),
        (["Red", 5], ["Red", "blue"]),
        ("Red", ["red", "blue"]),
        ([" ", "Blue"], ["red", "Blue"]),
    ],
)
def test_older_titles_too_few_or_too_many_leave_the_values_in_place(names: Any, shown: list[str]):
    entry = entry_of({"type": "string", "enum": ["red", "blue"], "enumNames": names})
    assert [option.shown for option in entry.options] == shown


@pytest.mark.verifies("R58")
@pytest.mark.parametrize(
    ("described", "spelled"),
    [
        ({"type": "integer", "enum": [1, 2]}, ["1", "2"]),
        ({"type": "number", "enum": [0.5, 2]}, ["0.5", "2"]),
        ({"type": "boolean", "enum": [True, False]}, ["true", "false"]),
        ({"oneOf": [{"const": 1, "title": "One"}, {"const": "two", "title": "Two"}]}, ["1", "two"]),
    ],
    ids=str,
)
def test_numbers_and_truth_values_to_choose_from_are_sent_as_they_came(described: Any, spelled: list[str]):
    entry = entry_of(described)
    assert [option.value for option in entry.options] == spelled
    values = described.get("enum") or [branch["const"] for branch in described["oneOf"]]
    for value, spelling in zip(values, spelled, strict=True):
        for given in (value, spelling):
            sent = Draft(blank_of(field=described), {"field": given}).content()["field"]
            assert sent == value and type(sent) is type(value)


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["a", "a", "b"], 1),
        (["a", {"b": 1}, "b"], 1),
        (["a", "b", "x" * 3_000], 1),
        (["a", "b", "\ud800"], 1),
        (["a", "b", 2**53], 1),
        (["a", "b", float("nan"), float("inf")], 2),
    ],
    ids=lambda options: str(options)[:40],
)
def test_options_that_cannot_be_shown_or_sent_are_left_out_and_counted(options: Any, left: int):
    entry = entry_of({"enum": options})
    assert [option.value for option in entry.options] == ["a", "b"]
    assert entry.expects == f"one of 2; {left} of its options cannot be shown or repeat others"


@pytest.mark.verifies("T14")
def test_options_that_look_alike_are_told_apart_by_their_values():
    entry = entry_of({"enum": ["keep", "erase"], "enumNames": ["Keep it", "Keep it"]})
    assert [option.shown for option in entry.options] == ["Keep it (keep)", "Keep it (erase)"]


@pytest.mark.verifies("T17")
def test_more_options_than_anybody_scrolls_through_are_left_out():
    texts = [str(number) for number in range(1_001)]
    for described in ({"enum": texts}, {"oneOf": [{"const": text} for text in texts]}):
        assert why_left_out(described) == "it has more than 1,000 options"


@pytest.mark.parametrize(
    ("typed", "value"),
    [("Crimson", "red"), ("crimson ", "red"), ("2", "blue"), ("AZURE", "blue")],
)
def test_a_choice_can_be_typed_by_its_title_or_by_its_place(typed: str, value: str):
    draft = Draft(blank_of(field={"enum": ["red", "blue"], "enumNames": ["Crimson", "Azure"]}))
    assert draft.write("field", typed) is None
    assert draft.value("field") == value


@pytest.mark.parametrize("typed", ["green", "3", "0", "-1", "99999999999999999999", "²"])
def test_a_choice_that_is_not_offered_is_a_problem_that_names_those_that_are(typed: str):
    draft = Draft(blank_of(field={"enum": ["red", "blue"]}))
    assert draft.write("field", typed) == "field should be one of: red, blue."
    assert draft.value("field") is None


@pytest.mark.verifies("T14")
@pytest.mark.parametrize(
    "described",
    [
        {"enum": ["2", "1"], "enumNames": ["Keep", "Delete"]},
        {"oneOf": [{"const": "2", "title": "Keep"}, {"const": "1", "title": "Delete"}]},
        {"type": "integer", "enum": [0, 1, 2], "enumNames": ["Keep", "Delete", "Burn"]},
        {
            "type": "array",
            "items": {"anyOf": [{"const": "2", "title": "Keep"}, {"const": "1", "title": "No"}]},
        },
    ],
    ids=str,
)
def test_a_number_picks_what_is_listed_under_it_whatever_the_values_behind_are(described: Any):
    draft = Draft(blank_of(field=described))
    assert draft.write("field", "1") is None
    assert draft.shown("field") == "Keep"


@pytest.mark.verifies("T14")
@pytest.mark.parametrize("typed", ["keep", "9", "red, 9"])
def test_a_value_that_nobody_sees_cannot_be_typed(typed: str):
    options = [{"const": "keep", "title": "Delete"}, {"const": "9", "title": "Burn"}]
    for described in ({"oneOf": options}, {"type": "array", "items": {"anyOf": options}}):
        draft = Draft(blank_of(field=described))
        assert draft.write("field", typed) == "field should be one of: Delete, Burn."
        assert draft.set("field", "keep" if "oneOf" in described else ["keep"]) is None


def test_a_number_among_numbers_is_an_option_and_no_place():
    draft = Draft(blank_of(field={"type": "integer", "enum": [3, 2, 1]}))
    assert draft.write("field", "1") is None
    assert draft.content() == {"field": 1}


def test_several_choices_can_be_typed_with_commas():
    described = {"type": "array", "items": {"enum": ["a", "b", "c, d"]}, "maxItems": 2}
    draft = Draft(blank_of(field=described))
    assert draft.write("field", "a, 2") is None
    assert draft.value("field") == ["a", "b"]
    assert draft.write("field", "c, d") is None
    assert draft.value("field") == ["c, d"]
    assert draft.write("field", "a, b, 3") == "field: please choose 2 at most."
    assert draft.write("field", "a, a") == "field: each choice counts only once."
