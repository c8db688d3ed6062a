"""What is refused when it is made, and the advice that comes with it."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from datetime import time as clock_time
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import AliasPath, BaseModel, ConfigDict, NaiveDatetime, SecretStr
from pydantic import Field as Constraint
from typing_extensions import TypedDict

from askback.errors import QuestionRefused, SecretInForm
from askback.model.question import (
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Field,
    Integer,
    Number,
    Text,
)
from askback.schema.forms import fieldset_of
from askback.schema.rules import MAX_FIELDS, MAX_OPTIONS
from tests.support.corpus import corpus


class Inner(BaseModel):
    street: str


class Nested(BaseModel):
    home: Inner


class Node(BaseModel):
    name: str
    parent: "Node | None" = None


class Empty(BaseModel):
    pass


class SameAlias(BaseModel):
    one: str = Constraint(alias="name")
    two: str = Constraint(alias="name")


class PathAlias(BaseModel):
    one: str = Constraint(validation_alias=AliasPath("a", 0))


class Stranger:
    pass


class Strange(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    thing: Stranger


class Unfit(BaseModel):
    tip: int = Constraint(30, le=20)


class Tags(TypedDict):
    tags: list[str]


@dataclass
class Homes:
    homes: list[Inner]


KINDLESS: Field[Any] = Field()


def of_type(kind: Any) -> Any:
    return TypedDict("Asked", {"thing": kind})  # pyright: ignore[reportInvalidTypeForm] - made at run time


def of_schema(**thing: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"thing": thing}}


def refusal(what: Any) -> QuestionRefused:
    with pytest.raises(QuestionRefused) as refused:
        fieldset_of(what)
    assert refused.value.instead
    assert "askback-" not in str(refused.value)
    return refused.value


@pytest.mark.verifies("R06")
@corpus(
    ("what", "name", "says"),
    [
        (Nested, "home", "flat"),
        (Node, "parent", "flat"),
        (Homes, "homes", "list of choices"),
        (Tags, "tags", "list of choices"),
        (list[str], "value", "list of choices"),
        (of_type(int | str), "thing", "union"),
        (of_type(dict[str, int]), "thing", "flat"),
        (dict[str, int], None, "fixed list of fields"),
        (of_type(UUID), "thing", "'uuid'"),
        (of_type(clock_time), "thing", "'time'"),
        (of_type(timedelta), "thing", "'duration'"),
        (of_type(bytes), "thing", "'binary'"),
        (of_type(Path), "thing", "'path'"),
        (of_type(Decimal), "thing", "union"),
        (of_type(NaiveDatetime), "thing", "offset"),
        (of_type(Any), "thing", "left open"),
        (of_type(tuple[Literal["a"], Literal["b"]]), "thing", "'prefixItems'"),
        (of_type(Callable[[], None]), "thing", "no field for"),
        (Strange, "thing", "no field for"),
        (Empty, None, "empty"),
        ({}, None, "empty"),
        (SameAlias, "name", "share this name"),
        (PathAlias, "one", "path"),
        (Unfit, "tip", "default"),
        (of_type(Literal[1, "1"]), "thing", "spelled '1'"),
        (Annotated[int, Text()], None, "'integer'"),
        (Annotated[str, Text(optional=True)], None, "optional"),
        (Annotated[Literal[1], Choice(["1", "z"])], "value", "'z'"),
        (Annotated[Literal["a"], Choice(["a", "z"])], "value", "'z'"),
        (Annotated[list[Literal["a"]], Choices(["a", "z"])], "value", "'z'"),
    ],
)
def test_types_that_no_form_can_show(what: Any, name: str | None, says: str):
    refused = refusal(what)
    assert refused.field == name
    assert says in str(refused)


@corpus(
    "what",
    [None, 5, "str", lambda: None, print, partial(print), sys, ..., Stranger(), Stranger, [Text()], Any],
)
def test_things_that_are_no_question_at_all(what: Any):
    assert "Instead: " in str(refusal(what))


@corpus(
    ("field", "says"),
    [
        (Text(min_length=3, max_length=2), "above"),
        (Text(min_length=-1), "count"),
        (Text(max_length=True), "count"),
        (Text(min_length="3"), "count"),  # pyright: ignore[reportArgumentType] - authors without a type checker
        (Text(pattern="(?=a)b"), "look-around"),
        (Text(pattern=r"(a)\1"), "linear time"),
        (Text(pattern="("), "linear time"),
        (Text(pattern=5), "linear time"),  # pyright: ignore[reportArgumentType] - authors without a type checker
        (Text(default="abc", max_length=2), "default"),
        (Text(default="abc", pattern="^x"), "default"),
        (Text(default=5), "default"),  # pyright: ignore[reportArgumentType] - authors without a type checker
        (Text(default=["x"]), "default"),  # pyright: ignore[reportArgumentType] - authors without a type checker
        (Text(title=5), "not text"),  # pyright: ignore[reportArgumentType] - authors without a type checker
        (Text(title="\ud800"), "not text"),
        (Text(title="x" * 501), "500"),
        (Text(description="x" * 5001), "5000"),
        (Text(not_a_secret=" "), "not_a_secret is empty"),
        (Integer(minimum=3, maximum=2), "no number fits"),
        (Integer(minimum=1, maximum=4, multiple_of=5), "no number fits"),
        (Integer(multiple_of=0), "not above 0"),
        (Integer(minimum=1.5), "not a bound"),  # pyright: ignore[reportArgumentType] - authors without a type checker
        (Integer(default=3, maximum=2), "default"),
        (Integer(default=True), "default"),
        (Number(minimum=1, below=1), "no number fits"),
        (Number(above=1, maximum=1), "no number fits"),
        (Number(above=0, below=0.5, multiple_of=0.5), "no number fits"),
        (Number(minimum=float("nan")), "not a bound"),
        (Number(maximum=float("inf")), "not a bound"),
        (Number(default=float("inf")), "default"),
        (Boolean(default=1), "default"),  # pyright: ignore[reportArgumentType] - authors without a type checker
        (Date(default="soon"), "default"),  # pyright: ignore[reportArgumentType] - authors without a type checker
        (DateTime(default=datetime(2030, 1, 1)), "offset"),  # noqa: DTZ001 - the missing offset is the point
        (Choice([]), "nothing to choose"),
        (Choice(["a", "a"]), "'a'"),
        (Choice([1, 2]), "'1'"),  # pyright: ignore[reportArgumentType] - authors without a type checker
        (Choice(["a"], default="b"), "default"),
        (Choice([str(one) for one in range(MAX_OPTIONS + 1)]), "too many"),
        (Choices([]), "nothing to choose"),
        (Choices(["a", "b"], least=3), "at least 3"),
        (Choices(["a", "b"], least=2, most=1), "at least 2"),
        (Choices(["a", "b"], default=["c"]), "default"),
        (Choices(["a", "b"], default=["a", "a"]), "default"),
        (Choices(["a", "b"], default=["a"], least=2), "default"),
        (KINDLESS, "not a kind of field"),
    ],
)
def test_fields_that_contradict_themselves_are_named(field: Field[Any], says: str):
    refused = refusal({"wish": field})
    assert refused.field == "wish"
    assert says in str(refused)


@corpus("options", ["abc", ""])
def test_one_text_is_no_list_of_options(options: str):
    with pytest.raises(QuestionRefused, match="list"):
        Choice(options)
    with pytest.raises(QuestionRefused, match="list"):
        Choices(["a"], default=options)


@corpus(
    ("what", "name", "says"),
    [
        (of_schema(type="object", properties={}), "thing", "flat"),
        (of_schema(type="array", items={"type": "object"}), "thing", "list of choices"),
        (of_schema(type="array"), "thing", "list of choices"),
        (of_schema(type="array", items={"enum": ["a", None]}), "thing", "list of choices"),
        (of_schema(type="null"), "thing", "no field for"),
        (of_schema(type=["string", "integer"]), "thing", "one type"),
        (of_schema(type="string", format="hostname"), "thing", "'hostname'"),
        (of_schema(type="string", format=["date"]), "thing", "format"),
        (of_schema(type="integer", format="int32"), "thing", "no field for"),
        (of_schema(type="integer", minLength=2), "thing", "'minLength'"),
        (of_schema(type="integer", exclusiveMinimum="2"), "thing", "not a bound"),
        (of_schema(type="integer", minimum="2"), "thing", "not a bound"),
        (of_schema(type="string", allOf=[]), "thing", "'allOf'"),
        (of_schema(type="string", **{"if": {}}), "thing", "'if'"),
        (of_schema(type="string", enum=["a"], minLength=2), "thing", "'minLength'"),
        (of_schema(type="string", format="date", pattern="x"), "thing", "'pattern'"),
        (of_schema(enum=[]), "thing", "nothing to choose"),
        (of_schema(enum="ab"), "thing", "not a list"),
        (of_schema(enum=[["a"]]), "thing", "list or object"),
        (of_schema(enum=["a", "b"], enumNames=["A"]), "thing", "length"),
        (of_schema(enum=["a"], enumNames=[5]), "thing", "not text"),
        (of_schema(enum=["a"], default="b"), "thing", "default"),
        (of_schema(anyOf=[{"type": "string"}, {"type": "integer"}]), "thing", "union"),
        (of_schema(anyOf="x"), "thing", "not a list"),
        (of_schema(**{"$ref": "https://example.org/x"}), "thing", "definitions"),
        (of_schema(**{"$ref": "#/$defs/none"}), "thing", "definitions"),
        ({"properties": {"thing": 5}}, "thing", "not an object"),
        ({"properties": {"": {"type": "string"}}}, "", "name"),
        ({"properties": {" ": {"type": "string"}}}, " ", "name"),
        ({"type": "object"}, None, "empty"),
        ({"type": "object", "properties": []}, None, "'properties'"),
        ({"type": "object", "properties": {}, "required": "a"}, None, "'required'"),
        ({**of_schema(type="string"), "required": ["other"]}, "other", "required"),
        ({**of_schema(type="string"), "required": [["thing"]]}, "['thing']", "required"),
        ({**of_schema(type="string"), "minProperties": 1}, None, "'minProperties'"),
        ({**of_schema(type="string"), "additionalProperties": {"type": "string"}}, None, "fixed list"),
        ({"type": "string"}, "type", "not a field"),
        ({"name": str}, "name", "not a field"),
        ({"name": Text(), "age": 3}, "age", "not a field"),
        (of_schema(type="string", title=b"bytes"), None, "not JSON"),
    ],
)
def test_json_schemas_that_no_form_can_show(what: Any, name: str | None, says: str):
    refused = refusal(what)
    assert refused.field == name
    assert says in str(refused)


def test_a_schema_that_refers_to_itself_is_refused():
    loop = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    union = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}}
    for definitions in (loop, union):
        assert refusal({**of_schema(**{"$ref": "#/$defs/a"}), **definitions}).field == "thing"


def test_notes_and_harmless_keywords_pass():
    what = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "For others",
        "additionalProperties": False,
        "definitions": {"word": {"type": "string", "title": "Word", "examples": ["a"], "x-note": 1}},
        "properties": {"thing": {"$ref": "#/definitions/word", "deprecated": True}},
    }
    assert fieldset_of(what).fields["thing"] == Text(title="Word", optional=True)


def test_every_way_to_list_choices_is_understood():
    titled = Choice({"a": "Apple", "b": "Banana"}, optional=True)
    several = Choices({"a": "Apple", "b": "Banana"}, optional=True)
    pairs = [{"const": "a", "title": "Apple"}, {"const": "b", "title": "Banana"}]
    for thing, field in (
        ({"enum": ["a", "b"]}, Choice(["a", "b"], optional=True)),
        ({"const": "a"}, Choice(["a"], optional=True)),
        (
            {"enum": ["a", "b"], "enumNames": ["Apple", "Banana"]},
            Choice({"a": "Apple", "b": "Banana"}, optional=True, enum_names=True),
        ),
        ({"oneOf": pairs}, titled),
        ({"anyOf": pairs}, titled),
        ({"anyOf": [*pairs, {"type": "null"}]}, titled),
        ({"oneOf": pairs[:1]}, Choice({"a": "Apple"}, optional=True)),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, Choices(["a", "b"], optional=True)),
        ({"type": "array", "items": {"anyOf": pairs}, "uniqueItems": True}, several),
        ({"type": "array", "items": {"oneOf": pairs}}, several),
        ({"type": ["string", "null"], "enum": ["a", None]}, Choice(["a"], optional=True)),
    ):
        assert fieldset_of(of_schema(**thing)).fields["thing"] == field


@corpus(
    ("schema", "field"),
    [
        ({"exclusiveMinimum": 2, "exclusiveMaximum": 5}, Integer(minimum=3, maximum=4, optional=True)),
        ({"exclusiveMinimum": 2.5, "maximum": 4.5}, Integer(minimum=3, maximum=4, optional=True)),
        ({"minimum": 4, "exclusiveMinimum": 2}, Integer(minimum=4, optional=True)),
    ],
)
def test_exclusive_bounds_of_whole_numbers_become_plain_ones(schema: dict[str, Any], field: Integer):
    assert fieldset_of(of_schema(type="integer", **schema)).fields["thing"] == field


def test_two_fields_under_one_name_for_older_clients_are_refused():
    refused = refusal({"top": Choices(["ham", "egg"]), "top.ham": Boolean()})
    assert refused.field == "top.ham"
    refused = refusal({"a": Choices(["b.c"]), "a.b": Choices(["c"])})
    assert refused.field == "a.b.c"


@pytest.mark.verifies("R13")
@corpus(
    "field",
    [
        Text(title="See https://example.org"),
        Text(description="See HTTP://example.org"),
        Choice({"a": "https://example.org"}),
        Choice(["https://example.org"]),
        Choices({"a": "http://example.org"}),
    ],
)
def test_no_link_stands_in_a_form(field: Field[Any]):
    assert "no place for links" in str(refusal({"site": field}))


@pytest.mark.verifies("R13")
def test_a_link_may_be_sent_as_long_as_it_is_not_shown():
    fieldset_of(Choice({"https://example.org": "Our site"}))


@pytest.mark.verifies("R11", "R12", "T13")
@corpus(
    ("what", "name"),
    [
        ({"password": Text()}, "password"),
        ({"x": Text(title="API key")}, "x"),
        ({"x": Text(description="Enter your password")}, "x"),
        ({"pin": Integer()}, "pin"),
        (of_type(SecretStr), "thing"),
        (of_schema(type="string", format="password"), "thing"),
        ({"type": "object", "properties": {"api_key": {"type": "string"}}}, "api_key"),
        (Annotated[str, Text(title="Your password")], "value"),
    ],
)
def test_a_form_that_fishes_for_secrets_is_refused_with_the_way_to_a_page(what: Any, name: str):
    with pytest.raises(SecretInForm) as refused:
        fieldset_of(what)
    assert refused.value.field == name
    assert "page" in str(refused.value)


@pytest.mark.verifies("R11")
def test_a_written_excuse_is_heard_and_nothing_to_type_needs_none():
    class Game(BaseModel):
        password: Annotated[str, Text(not_a_secret="the word that all players know")]

    fieldset_of(Game)
    fieldset_of({"password": Text(not_a_secret="the word that all players know")})
    fieldset_of({"properties": {"password": {"type": "string", "notASecret": "a word of a game"}}})
    fieldset_of({"password": Boolean(title="Change the password?")})
    fieldset_of({"api_key": Choice(["first key", "second key"])})
    assert "not_a_secret is empty" in str(refusal({"password": Text(not_a_secret="")}))


@pytest.mark.verifies("T17")
@corpus(
    "what",
    [
        {f"f{one}": Text() for one in range(MAX_FIELDS + 1)},
        of_schema(type="string", description="x" * 10_000_000),
        {"type": "object", "properties": {f"f{one}": {"type": "string"} for one in range(100_000)}},
        of_schema(enum=[str(one) for one in range(100_000)]),
    ],
)
def test_a_giant_form_is_refused(what: Any):
    refusal(what)


@pytest.mark.verifies("T17")
def test_a_schema_that_contains_itself_is_refused():
    what: dict[str, Any] = of_schema(type="string")
    what["properties"]["thing"]["loop"] = what
    refusal(what)
    deep: Any = {}
    for _ in range(50_000):
        deep = {"a": deep}
    refusal(of_schema(type="string", note=deep))


def test_every_refusal_can_be_told_to_a_client():
    refused = refusal({"day": Date(default=date(1, 1, 1)), "wish": Choice([])})
    assert json.loads(json.dumps(str(refused))).startswith(
        "Field 'wish': there is nothing to choose. Instead: "
    )
