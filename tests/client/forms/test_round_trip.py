"""What our own servers send is read by our own clients, and what those send back is taken."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askback.client.forms import Draft, read_form
from askback.model.question import (
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Email,
    Field,
    Integer,
    Number,
    Text,
    Url,
)
from askback.protocol.revisions import revision_of
from askback.schema.dialect import Dialect, folded_name, render
from askback.schema.forms import fieldset_of
from askback.schema.validation import Fits, read_content
from askback.testing import REVISIONS
from tests.support.corpus import corpus

FRUIT = {"a": "Apple", "b": "Banana", "c": "Cherry"}

FIELDS: dict[str, tuple[Field[Any], Any]] = {
    "text": (Text(title="Text", description="Words", min_length=1, max_length=9, default="abc"), "two\nrows"),
    "email": (Email(max_length=90), "ada@example.org"),
    "url": (Url(default="https://example.org/"), "mailto:ada@example.org"),
    "day": (Date(default=date(2030, 1, 2)), "2031-05-24"),
    "at": (DateTime(default=datetime(2030, 1, 2, tzinfo=UTC)), "2031-05-24T09:30:00+02:00"),
    "number": (Number(minimum=0.5, maximum=2, multiple_of=0.5, default=1.5), 2),
    "over": (Number(above=0, below=10, minimum=-3), 0.5),
    "count": (Integer(minimum=1, maximum=9, multiple_of=3, default=3), 9),
    "sure": (Boolean(title="Sure?"), False),
    "plain": (Choice(["a", "b"], default="a"), "b"),
    "titled": (Choice(FRUIT, title="Fruit", description="Fresh", default="b"), "c"),
    "older": (Choice(FRUIT, enum_names=True), "a"),
    "several": (Choices(["a", "b"], default=["a"]), ["b"]),
    "several titled": (Choices(FRUIT, title="Fruits", least=1, most=2), ["a", "c"]),
    "bio": (Text(optional=True), "x"),
}


def dialect_of(revision: str) -> Dialect:
    return revision_of(revision).dialect


def filled_in(draft: Draft, name: str, field: Field[Any], value: Any) -> None:
    """As the dialect shows it: several choices may be one yes-or-no field each."""
    if isinstance(field, Choices) and name not in {entry.name for entry in draft.blank.entries}:
        for option in field.options:
            draft.set(folded_name(name, option.value), option.value in value)
    else:
        draft.set(name, value)


@pytest.mark.verifies("R56", "R58")
@corpus("name", FIELDS)
def test_what_a_person_fills_in_is_taken_by_the_server_that_asked(revision: str, name: str):
    field, value = FIELDS[name]
    fieldset, dialect = fieldset_of({name: field}), dialect_of(revision)
    blank = read_form(render(fieldset, dialect))
    assert blank.left_out == () and blank.refusal is None and blank.suspicion is None
    draft = Draft(blank)
    filled_in(draft, name, field, value)
    assert draft.problems() == {} and draft.stops() == {}
    read = read_content(fieldset, draft.content(), dialect)
    assert isinstance(read, Fits) and read.content == {name: value}


@pytest.mark.verifies("R57")
def test_a_form_with_defaults_is_taken_as_it_came(revision: str):
    fields = {name: field for name, (field, _) in FIELDS.items() if field.default is not None}
    fieldset, dialect = fieldset_of(fields), dialect_of(revision)
    draft = Draft(read_form(render(fieldset, dialect)))
    assert draft.problems() == {} and draft.differences() == []
    read = read_content(fieldset, draft.content(), dialect)
    assert isinstance(read, Fits)
    untouched = read_content(fieldset, {}, dialect)
    assert isinstance(untouched, Fits) and read.value == untouched.value


WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "Zs"]), min_size=1, max_size=12).filter(
    str.strip
)
OPTIONS = st.lists(WORDS, min_size=1, max_size=5, unique=True)


@st.composite
def fields(draw: st.DrawFn) -> tuple[Field[Any], Any]:
    """A field, and an answer that fits it."""
    kind = draw(st.sampled_from(["text", "integer", "number", "boolean", "choice", "titled", "choices"]))
    notes: dict[str, Any] = {
        "title": draw(st.none() | WORDS),
        "not_a_secret": "made up",
        "optional": draw(st.booleans()),
    }
    match kind:
        case "text":
            text = draw(WORDS)
            return Text(min_length=draw(st.integers(0, len(text))), max_length=len(text), **notes), text
        case "integer":
            number = draw(st.integers(-(2**53) + 1, 2**53 - 1))
            return Integer(minimum=number, maximum=draw(st.none() | st.just(number)), **notes), number
        case "number":
            number = draw(st.floats(allow_nan=False, allow_infinity=False))
            return Number(maximum=number, **notes), number
        case "boolean":
            return Boolean(**notes), draw(st.booleans())
        case "choices":
            options = draw(OPTIONS)
            return Choices(options, **notes), draw(
                st.lists(st.sampled_from(options), min_size=1, unique=True)
            )
        case _:
            options = draw(OPTIONS)
            titles = dict(zip(options, draw(st.lists(WORDS, min_size=5, max_size=5)), strict=False))
            return Choice(titles if kind == "titled" else options, **notes), draw(st.sampled_from(options))


@pytest.mark.verifies("R56", "R58")
@given(st.lists(fields(), min_size=1, max_size=6), st.sampled_from(REVISIONS))
def test_any_form_our_servers_can_ask_goes_there_and_back(made: list[tuple[Field[Any], Any]], revision: str):
    asked = {f"f{place}": field for place, (field, _) in enumerate(made)}
    fieldset, dialect = fieldset_of(asked), dialect_of(revision)
    blank = read_form(render(fieldset, dialect))
    assert blank.left_out == () and blank.refusal is None
    draft = Draft(blank)
    for place, (field, value) in enumerate(made):
        filled_in(draft, f"f{place}", field, value)
    for name in draft.stops():
        draft.excuse(name)
    assert draft.problems() == {}
    read = read_content(fieldset, draft.content(), dialect)
    assert isinstance(read, Fits)
    for place, (_, value) in enumerate(made):
        given_back = read.content[f"f{place}"]
        assert given_back == value or set(given_back) == set(value)
