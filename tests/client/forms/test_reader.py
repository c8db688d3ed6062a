"""What becomes of a form that a stranger sent, before anybody types."""

from typing import Any

import pytest

from askback.client.forms import Draft, read_form
from tests.client.forms.schemas import blank_of, entry_of, form, why_left_out
from tests.support.corpus import corpus


@pytest.mark.verifies("R58")
@corpus(
    ("described", "kind", "expects"),
    [
        ({"type": "string"}, "text", "text"),
        ({"type": "string", "minLength": 2, "maxLength": 9}, "text", "text, 2 to 9 characters"),
        ({"type": "string", "maxLength": 9}, "text", "text, at most 9 characters"),
        ({"type": "string", "minLength": 1}, "text", "text, at least 1 character"),
        ({"type": "string", "maxLength": 1}, "text", "text, at most 1 character"),
        ({"type": "string", "minLength": 1, "maxLength": 1}, "text", "text, exactly 1 character"),
        ({"type": "string", "minLength": 1, "maxLength": 9}, "text", "text, 1 to 9 characters"),
        ({"type": "string", "format": "email"}, "email", "email address, like name@example.org"),
        ({"type": "string", "format": "uri"}, "uri", "complete web address, like https://example.org/"),
        ({"type": "string", "format": "date"}, "date", "date, like 2026-11-15"),
        (
            {"type": "string", "format": "date-time"},
            "date-time",
            "date and time with its offset, like 2026-11-15T18:30:00+01:00",
        ),
        ({"type": "integer", "minimum": 0, "maximum": 20}, "integer", "whole number, 0 to 20"),
        ({"type": "integer", "exclusiveMinimum": 0}, "integer", "whole number, at least 1"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1.5}, "number", "number, at most 1.5, more than 0"),
        ({"type": "integer", "multipleOf": 5}, "integer", "whole number, a multiple of 5"),
        ({"type": "boolean"}, "boolean", "yes or no"),
        ({"type": "string", "enum": ["a", "b"]}, "choice", "one of 2"),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 2}, "choices", "at most 2 of 3"),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1}, "choices", "at least 1 of 3"),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}}, "choices", "any of 3"),
    ])  # fmt: skip
def test_every_kind_of_field_says_in_our_words_what_fits(described: Any, kind: str, expects: str):
    entry = entry_of(described)
    assert (entry.kind, entry.expects) == (kind, expects)


@pytest.mark.verifies("R55")
def test_fields_stand_in_the_order_in_which_the_server_wrote_them():
    names = ["zeta", "alpha", "mu", "1", "beta"]
    blank = blank_of(**{name: {"type": "string"} for name in names})
    assert [entry.name for entry in blank.entries] == names


def test_a_field_is_called_by_its_title_and_else_by_its_name():
    blank = blank_of(
        a={"type": "string", "title": "First"}, b={"type": "string"}, c={"type": "string", "title": " "}
    )
    assert [entry.label for entry in blank.entries] == ["First", "b", "c"]


def test_the_only_field_that_nobody_named_is_called_your_answer():
    blank = blank_of("value", value={"type": "integer"})
    assert blank.entries[0].label == "Your answer"
    assert Draft(blank).problems() == {"value": "Your answer is needed."}


@pytest.mark.verifies("T14")
@corpus(
    "titles",
    [
        ("Amount", "Amount"),
        ("Amount", "amount "),
        ("Amount", "Αmount"),
        ("Amount", "Amo\u200bunt"),
        ("Amount", "amount (b)"),
    ],
)
def test_titles_that_look_alike_are_told_apart_by_their_names(titles: tuple[str, str]):
    blank = blank_of(a={"type": "string", "title": titles[0]}, b={"type": "string", "title": titles[1]})
    one, other = (entry.label for entry in blank.entries)
    assert one != other
    draft = Draft(
        blank_of(
            "a", "b", **{entry.name: {"type": "string", "title": entry.label} for entry in blank.entries}
        )
    )
    assert len(set(draft.problems().values())) == 2


def test_a_title_that_borrows_the_name_of_another_field_is_told_apart_too():
    one = {"type": "string", "title": "Amount"}
    blank = blank_of(b=one, d=one, c={"type": "string", "title": "Amount (b)"})
    assert len({entry.label for entry in blank.entries}) == 3


@pytest.mark.verifies("R57")
@corpus(
    "described",
    [
        {"type": "string", "default": "Ada"},
        {"type": "string", "default": "two\nlines"},
        {"type": "string", "format": "email", "default": "ada@example.org"},
        {"type": "string", "format": "date", "default": "2030-01-02"},
        {"type": "string", "format": "date-time", "default": "2030-01-02T03:04:05Z"},
        {"type": "number", "default": 1.5},
        {"type": "integer", "default": 3},
        {"type": "boolean", "default": False},
        {"type": "string", "enum": ["a", "b"], "default": "b"},
        {"type": "integer", "enum": [1, 2], "default": 2},
        {"type": "array", "items": {"enum": ["a", "b"]}, "default": ["b", "a"]},
    ],
)
def test_a_default_is_filled_in_and_sent_as_the_server_spelled_it(described: Any):
    draft = Draft(blank_of("field", field=described))
    assert draft.problems() == {}
    assert draft.content() == {"field": described["default"]}
    assert draft.differences() == []


@pytest.mark.verifies("R57")
@pytest.mark.parametrize(
    "described",
    [
        {"type": "string", "maxLength": 2, "default": "too long"},
        {"type": "string", "default": 5},
        {"type": "string", "format": "date", "default": "tomorrow"},
        {"type": "string", "default": "x" * 60_000},
        {"type": "integer", "maximum": 2, "default": 3},
        {"type": "integer", "default": 2**53},
        {"type": "number", "default": 2**53},
        {"type": "boolean", "default": "yes"},
        {"type": "string", "enum": ["a"], "default": "b"},
        {"type": "array", "items": {"enum": ["a"]}, "default": ["a", "a"]},
    ],
    ids=lambda described: str(described)[:50],
)
def test_a_default_that_does_not_fit_its_own_field_is_not_filled_in_and_that_is_said(described: Any):
    entry = entry_of(described)
    assert entry.default is None
    assert "does not fit and is not filled in" in entry.expects


@pytest.mark.verifies("R57", "T15")
def test_a_default_with_characters_that_cannot_be_seen_is_not_filled_in():
    entry = entry_of({"type": "string", "default": "yes\U000e0041\U000e0042"})
    assert entry.default is None
    assert "cannot be seen" in entry.expects


ANYTHING = "it is a list of anything, and a form has only lists of choices"
NOT_TEXTS = "its options are not texts, and several choices can be sent only as texts"
ELSEWHERE = "its description refers to something that did not come with the form"
SEVERAL_TYPES = "it may be of several types, and a form asks for one"


UNSHOWABLE: list[tuple[Any, str]] = [
    ({"type": "object", "properties": {}}, "it is a form inside the form"),
    ({"properties": {"a": {}}}, "it is a form inside the form"),
    ({"type": "array", "items": {"type": "string"}}, ANYTHING),
    ({"type": "array"}, ANYTHING),
    ({"type": "array", "items": {"enum": [1, 2]}}, NOT_TEXTS),
    ({"type": "null"}, "it can only be empty"),
    ({"type": "file"}, "it is of a type that forms do not have"),
    ({"type": {"a": 1}}, "it is of a type that forms do not have"),
    ({"type": ["string", "integer"]}, SEVERAL_TYPES),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, SEVERAL_TYPES),
    ({"$ref": "#/$defs/missing"}, ELSEWHERE),
    ({"$ref": "https://evil.example/schema"}, ELSEWHERE),
    ("string", "its description cannot be read"),
    (True, "its description cannot be read"),
    ({"type": "string", "enum": []}, "it offers nothing that can be chosen"),
    ({"type": "string", "enum": [None, {}]}, "it offers nothing that can be chosen"),
    ({"type": "integer", "minimum": 5, "maximum": 4}, "nothing can fit its own limits"),
    ({"type": "integer", "minimum": 2**53}, "nothing can fit its own limits"),
    ({"type": "number", "exclusiveMinimum": 1, "maximum": 1}, "nothing can fit its own limits"),
    ({"type": "string", "minLength": 5, "maxLength": 4}, "nothing can fit its own limits"),
    ({"type": "string", "minLength": 10**9}, "nothing can fit its own limits"),
    ({"type": "array", "items": {"enum": ["a"]}, "minItems": 2}, "nothing can fit its own limits"),
]  # fmt: skip


@corpus(("described", "why"), UNSHOWABLE)
def test_what_cannot_be_shown_is_left_out_with_its_reason(described: Any, why: str):
    assert why_left_out(described) == why


def test_a_form_can_be_answered_without_an_optional_field_that_cannot_be_shown():
    blank = blank_of("name", name={"type": "string"}, address={"type": "object"})
    assert blank.refusal is None
    assert Draft(blank, {"name": "Ada"}).content() == {"name": "Ada"}


@corpus("described", [{"type": "object"}, {"type": "array"}, 5])
def test_a_needed_field_that_cannot_be_shown_makes_the_form_one_to_decline(described: Any):
    blank = blank_of("address", name={"type": "string"}, address=described)
    assert blank.refusal is not None and blank.refusal.startswith(
        "The field “address” has to be filled in, but it"
    )
    with pytest.raises(ValueError, match="has to be filled in"):
        Draft(blank, {"name": "Ada"}).content()


@pytest.mark.verifies("T17")
def test_a_needed_field_that_is_nowhere_described_makes_the_form_one_to_decline():
    blank = blank_of("name", "ghost", name={"type": "string"})
    assert blank.refusal == "The field “ghost” has to be filled in, but the form does not say what it is."


@corpus(
    "described",
    [
        {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]},
        {"type": ["string", "null"], "maxLength": 3},
        {"$ref": "#/$defs/short"},
        {"allOf": [{"$ref": "#/$defs/short"}], "title": "Short"},
        {"maxLength": 3},
    ],
)
def test_the_detours_of_sloppy_servers_lead_to_the_field_they_mean(described: Any):
    schema = {**form(field=described), "$defs": {"short": {"type": "string", "maxLength": 3}}}
    (entry,) = read_form(schema).entries
    assert (entry.kind, entry.expects) == ("text", "text, at most 3 characters")


def test_a_format_that_nobody_knows_is_text_with_a_hint():
    entry = entry_of({"type": "string", "format": "time\x1b[2J"})
    assert entry.kind == "text"
    assert entry.expects == "text; the server calls it “time␛[2J”, which is not checked here"


@pytest.mark.parametrize(
    "described",
    [
        {"type": "string", "minLength": "3", "maxLength": -1},
        {"type": "string", "minLength": True, "maxLength": 1.5},
        {"type": "integer", "minimum": "0", "maximum": None, "multipleOf": 0},
        {"type": "number", "minimum": float("nan"), "maximum": float("inf"), "multipleOf": -1},
        {"type": "number", "exclusiveMinimum": True, "minimum": 10**400},
        {"type": "array", "items": {"enum": ["a"]}, "minItems": "1", "maxItems": None},
    ],
    ids=lambda described: str(described)[:60],
)
def test_a_limit_that_is_none_is_dropped(described: Any):
    assert entry_of(described).expects in ("text", "whole number", "number", "any of 1")


@corpus("schema", [None, 5, "form", [], {"type": "string"}, {"properties": []}, {"properties": 1}])
def test_what_is_no_form_can_only_be_declined(schema: Any):
    blank = read_form(schema)
    assert blank.refusal is not None
    assert blank.entries == ()


def test_a_form_without_fields_can_be_sent_as_it_is():
    blank = read_form({"type": "object", "properties": {}})
    assert blank.refusal is None
    assert Draft(blank).content() == {}


@pytest.mark.verifies("R53")
def test_a_link_in_a_label_a_hint_or_an_option_stays_text():
    link = "https://evil.example/click"
    entry = entry_of({"type": "string", "title": link, "description": link, "enum": [link]})
    assert (entry.label, entry.hint, entry.options[0].shown) == (link, link, link)
    assert not hasattr(entry, "url")
