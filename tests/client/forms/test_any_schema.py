"""Whatever JSON arrives as a form: it is read, filled in and sent without an error, and what is sent fits it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from askback.client.forms import Draft, ReceivedForm, read_form

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=20)
)
KEYWORDS = st.sampled_from(
    [
        "type", "title", "description", "default", "enum", "enumNames", "oneOf", "anyOf", "allOf", "const",
        "items", "properties", "required", "format", "pattern", "minLength", "maxLength", "minimum", "maximum",
        "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "$ref", "$defs",
        "askback-options", "askback-meanings",
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    [
        "string",
        "number",
        "integer",
        "boolean",
        "array",
        "object",
        "null",
        "date",
        "email",
        "uri",
        "password",
        "#/$defs/a",
    ]
)
JSON = st.recursive(
    SCALARS | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYWORDS | st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=25,
)
NAMES = st.text(st.characters(codec=None), max_size=8)
SCHEMAS = st.fixed_dictionaries(
    {"properties": st.dictionaries(NAMES, JSON, max_size=5)},
    optional={"type": WORDS, "required": st.lists(NAMES | SCALARS, max_size=3), "$defs": JSON},
)


@pytest.mark.verifies("T17")
@given(JSON | SCHEMAS)
def test_reading_never_fails_and_says_all_in_words_that_are_safe(schema: Any):
    blank: ReceivedForm = read_form(schema)
    for said in (blank.refusal, blank.suspicion, *(one.why for one in blank.left_out)):
        assert said is None or said.isprintable()
    for entry in blank.entries:
        assert entry.expects.isprintable()
        entry.name.encode()


@pytest.mark.verifies("R56", "T17")
@given(SCHEMAS, st.text(max_size=30) | st.integers().map(str) | st.floats().map(str), JSON)
def test_typing_never_fails_and_what_is_sent_can_be_sent(schema: Any, typed: str, given_value: Any):
    blank = read_form(schema)
    draft = Draft(blank)
    for entry in blank.entries:
        draft.set(entry.name, given_value)
        draft.write(entry.name, typed)
        draft.excuse(entry.name)
        if draft.problem(entry.name):
            draft.set(entry.name, None)
    draft.differences()
    if blank.refusal is None and not draft.problems():
        json.dumps(draft.content(), allow_nan=False).encode()


LISTED = st.fixed_dictionaries({"enum": st.lists(st.text("abc", max_size=2), min_size=1, max_size=4)})
BOUND = st.integers(-5, 9)
Described = st.SearchStrategy[dict[str, Any]]


def described(fixed: dict[str, Any], optional: dict[str, Any] | None = None) -> Described:
    return st.fixed_dictionaries(fixed, optional=optional or {})


CHECKED: Described = st.one_of(
    described({"type": st.just("string")}, {"minLength": st.integers(0, 5), "maxLength": st.integers(0, 9)}),
    described(
        {"type": st.sampled_from(["integer", "number"])},
        {"minimum": BOUND, "maximum": BOUND, "exclusiveMinimum": BOUND, "multipleOf": st.integers(1, 4)},
    ),
    described({"type": st.just("boolean")}),
    described({"enum": st.lists(st.text("abc", max_size=2) | st.integers(0, 3), min_size=1, max_size=4)}),
    described(
        {"type": st.just("array"), "items": LISTED},
        {"minItems": st.integers(0, 3), "maxItems": st.integers(0, 3)},
    ),
)


@pytest.mark.verifies("R56")
@given(
    st.dictionaries(st.text("fgh", min_size=1, max_size=3), CHECKED, min_size=1, max_size=4),
    st.data(),
)
def test_what_is_sent_fits_the_schema_by_the_judgement_of_another(
    properties: dict[str, Any], data: st.DataObject
):
    names = data.draw(st.lists(st.sampled_from(sorted(properties)), unique=True))
    schema = {"type": "object", "properties": properties, "required": names}
    blank = read_form(schema)
    draft = Draft(blank)
    for entry in blank.entries:
        draft.write(
            entry.name,
            data.draw(st.text("abc123", max_size=6) | st.sampled_from(["1", "2", "yes", "a,b", ""])),
        )
        draft.excuse(entry.name)
    if blank.refusal is None and not draft.problems():
        judge: Any = Draft202012Validator(schema)
        assert judge.is_valid(draft.content())
