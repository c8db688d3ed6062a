"""What clients of each revision are sent for the same fieldset."""

import json
from datetime import UTC, date, datetime
from importlib import import_module
from typing import Any, Literal

import pytest
from pydantic import BaseModel, TypeAdapter
from pydantic import Field as Constraint

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
from askback.schema.dialect import Dialect, render
from askback.schema.forms import fieldset_of, fill_in
from tests.support.corpus import corpus

EVERYTHING: dict[str, Field[Any]] = {
    "text": Text(title="Text", description="Words", min_length=1, max_length=9, pattern="^a", default="abc"),
    "email": Email(max_length=90, default="ada@example.org"),
    "url": Url(default="https://example.org/"),
    "day": Date(default=date(2030, 1, 2)),
    "at": DateTime(default=datetime(2030, 1, 2, tzinfo=UTC)),
    "number": Number(minimum=0.5, maximum=2, multiple_of=0.5, default=1.5),
    "over": Number(above=0, below=10, minimum=-3),
    "count": Integer(minimum=1, maximum=9, multiple_of=3, default=3),
    "sure": Boolean(title="Sure?", default=False),
    "plain": Choice(["a", "b"], default="a"),
    "titled": Choice({"a": "Apple", "b": "Banana"}, title="Fruit", description="Fresh", default="b"),
    "several": Choices(["a", "b"], default=["a"]),
    "several_titled": Choices({"a": "Apple", "b": "Banana"}, title="Fruits", least=1, most=2),
    "word": Text(not_a_secret="a nickname"),
    "bio": Text(optional=True),
}

UNTITLED_KEYWORDS = {
    "string": {"type", "title", "description", "minLength", "maxLength", "format", "enum", "enumNames"},
    "number": {"type", "title", "description", "minimum", "maximum"},
    "integer": {"type", "title", "description", "minimum", "maximum"},
    "boolean": {"type", "title", "description", "default"},
}
"""All that 2025-06-18 lets a property say."""


@pytest.mark.verifies("R06")
@corpus("name", EVERYTHING)
@pytest.mark.parametrize("revision", ["2025_11_25", "2026_07_28"])
def test_every_keyword_is_one_that_the_revision_has(name: str, revision: str):
    surface = import_module(f"mcp_types._v{revision}")
    sent = render(fieldset_of(EVERYTHING), Dialect.TITLED)["properties"][name]
    known = TypeAdapter[Any](surface.PrimitiveSchemaDefinition).validate_python(sent)
    assert known.model_dump(by_alias=True, exclude_unset=True) == sent


@pytest.mark.verifies("R06")
def test_the_older_revision_gets_only_words_it_has():
    schema = render(fieldset_of(EVERYTHING), Dialect.UNTITLED)
    for sent in schema["properties"].values():
        assert sent.keys() <= UNTITLED_KEYWORDS[sent["type"]]


def test_titled_choices_defaults_and_bounds_are_sent_where_they_can_be():
    sent = render(fieldset_of(EVERYTHING), Dialect.TITLED)
    assert sent["type"] == "object"
    assert sent["required"] == ["over", "several_titled", "word"]
    assert sent["properties"] == {
        "text": {
            "type": "string",
            "title": "Text",
            "description": "Words",
            "minLength": 1,
            "maxLength": 9,
            "default": "abc",
        },
        "email": {"type": "string", "format": "email", "maxLength": 90, "default": "ada@example.org"},
        "url": {"type": "string", "format": "uri", "default": "https://example.org/"},
        "day": {"type": "string", "format": "date", "default": "2030-01-02"},
        "at": {"type": "string", "format": "date-time", "default": "2030-01-02T00:00:00+00:00"},
        "number": {"type": "number", "minimum": 0.5, "maximum": 2, "default": 1.5},
        "over": {"type": "number", "minimum": 0, "maximum": 10},
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
        "sure": {"type": "boolean", "title": "Sure?", "default": False},
        "plain": {"type": "string", "enum": ["a", "b"], "default": "a"},
        "titled": {
            "type": "string",
            "title": "Fruit",
            "description": "Fresh",
            "oneOf": [{"const": "a", "title": "Apple"}, {"const": "b", "title": "Banana"}],
            "default": "b",
        },
        "several": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a"]},
        "several_titled": {
            "type": "array",
            "title": "Fruits",
            "items": {"anyOf": [{"const": "a", "title": "Apple"}, {"const": "b", "title": "Banana"}]},
            "minItems": 1,
            "maxItems": 2,
        },
        "word": {"type": "string"},
        "bio": {"type": "string"},
    }


def test_what_the_older_revision_cannot_say_is_told_in_words():
    sent = render(fieldset_of(EVERYTHING), Dialect.UNTITLED)
    properties = sent["properties"]
    assert sent["required"] == ["over", "word"]
    assert properties["text"]["description"] == "Words (default: abc)"
    assert properties["titled"] == {
        "type": "string",
        "title": "Fruit",
        "description": "Fresh (default: Banana)",
        "enum": ["a", "b"],
        "enumNames": ["Apple", "Banana"],
    }
    assert properties["day"]["description"] == "(default: 2030-01-02)"
    assert properties["sure"] == {"type": "boolean", "title": "Sure?", "default": False}
    assert properties["several.a"] == {"type": "boolean", "title": "several: a", "default": True}
    assert properties["several.b"] == {"type": "boolean", "title": "several: b", "default": False}
    assert properties["several_titled.a"] == {
        "type": "boolean",
        "title": "Fruits: Apple",
        "description": "(choose 1 to 2)",
        "default": False,
    }


@corpus(
    ("field", "told"),
    [
        (Choices(["a", "b"], least=1), "(choose 1 or more)"),
        (Choices(["a", "b"], most=1), "(choose 1 at most)"),
        (Choices(["a", "b"], least=2, most=2), "(choose 2)"),
        (Choices(["a", "b"], description="Toppings", least=1), "Toppings (choose 1 or more)"),
        (Choices(["a", "b"], least=0), None),
    ],
)
def test_how_many_to_choose_is_told_on_each_box(field: Choices, told: str | None):
    properties = render(fieldset_of({"top": field}), Dialect.UNTITLED)["properties"]
    assert [one.get("description") for one in properties.values()] == [told, told]


def test_nothing_is_required_of_a_form_that_can_be_left_empty():
    assert "required" not in render(fieldset_of({"a": Text(optional=True)}), Dialect.TITLED)


def test_a_required_field_with_an_initial_value_stays_required_but_can_be_left_where_the_default_is_only_told():
    fieldset = fill_in(fieldset_of({"name": Text()}), {"name": "Ada"})
    titled, untitled = render(fieldset, Dialect.TITLED), render(fieldset, Dialect.UNTITLED)
    assert titled == {
        "type": "object",
        "properties": {"name": {"type": "string", "default": "Ada"}},
        "required": ["name"],
    }
    assert untitled == {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "(default: Ada)"}},
    }


@pytest.mark.verifies("T18")
def test_a_pattern_is_never_sent():
    class Order(BaseModel):
        code: str = Constraint(pattern="^[a-z]+$")

    for dialect in Dialect:
        for what in (Order, {"code": Text(pattern="^[a-z]+$")}):
            assert "a-z" not in json.dumps(render(fieldset_of(what), dialect))


def test_a_schema_is_rendered_once_for_each_dialect():
    fieldset = fieldset_of(Literal["a", "b"])
    for dialect in Dialect:
        assert render(fieldset, dialect) is render(fieldset, dialect)
    assert render(fieldset, Dialect.TITLED) == render(fieldset, Dialect.UNTITLED)
