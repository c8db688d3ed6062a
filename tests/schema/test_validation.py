"""Which replies fit, and what is found wrong with those that do not."""

import math
from datetime import date, datetime
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, field_validator, model_validator
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
from askback.model.texts import Problem, Words
from askback.schema.dialect import Dialect
from askback.schema.forms import fieldset_of, fill_in
from askback.schema.validation import MAX_REPLY_BYTES, Fits, Misfit, read_content
from tests.support.corpus import corpus


def read(what: Any, content: Any, dialect: Dialect = Dialect.TITLED) -> Fits[Any] | Misfit:
    return read_content(fieldset_of(what), content, dialect)


def codes(got: Fits[Any] | Misfit) -> list[tuple[str, str | None]]:
    assert isinstance(got, Misfit), got
    return [(problem.code, problem.field) for problem in got.problems]


def value(got: Fits[Any] | Misfit) -> Any:
    assert isinstance(got, Fits), got
    return got.value


LONE = "\ud800"


@pytest.mark.verifies("R14")
@corpus(
    ("field", "given_", "code"),
    [
        (Text(), 5, "not_text"),
        (Text(), True, "not_text"),
        (Text(), ["a"], "not_text"),
        (Text(), {"a": 1}, "not_text"),
        (Text(), LONE, "broken_text"),
        (Text(min_length=3), "äö", "too_short"),
        (Text(max_length=1), "ab", "too_long"),
        (Text(pattern="^a"), "ba", "wrong_pattern"),
        (Integer(), True, "not_a_number"),
        (Integer(), "3", "not_a_number"),
        (Integer(), 3.5, "not_whole"),
        (Integer(), math.nan, "not_whole"),
        (Integer(), math.inf, "not_whole"),
        (Integer(), 2.0**60, "not_whole"),
        (Integer(), 10**4000, "not_a_number"),
        (Integer(minimum=3), 2, "too_low"),
        (Integer(maximum=3), 4, "too_high"),
        (Integer(multiple_of=3), 4, "not_a_multiple"),
        (Number(), "3", "not_a_number"),
        (Number(), False, "not_a_number"),
        (Number(), math.nan, "not_a_number"),
        (Number(), -math.inf, "not_a_number"),
        (Number(), 10**400, "not_a_number"),
        (Number(minimum=0.5), 0.4, "too_low"),
        (Number(maximum=0.5), 0.6, "too_high"),
        (Number(above=0), 0, "not_above"),
        (Number(below=1), 1, "not_below"),
        (Number(multiple_of=0.1), 0.25, "not_a_multiple"),
        (Boolean(), 1, "not_yes_or_no"),
        (Boolean(), "true", "not_yes_or_no"),
        (Date(), "2024-02-30", "not_a_date"),
        (Date(), "20240229", "not_a_date"),
        (Date(), "2024-W01-1", "not_a_date"),
        (Date(), "0000-01-01", "not_a_date"),
        (Date(), "٢٠٢٤-٠١-٠١", "not_a_date"),
        (Date(), 5, "not_a_date"),
        (DateTime(), "2024-02-29T12:00:00", "not_a_date_time"),
        (DateTime(), "2024-02-29 12:00:00Z", "not_a_date_time"),
        (DateTime(), "2024-02-29T12:00Z", "not_a_date_time"),
        (DateTime(), "2024-02-29T25:00:00Z", "not_a_date_time"),
        (DateTime(), "2024-02-29T12:00:60Z", "not_a_date_time"),
        (DateTime(), "2024-02-29T12:00:00+24:00", "not_a_date_time"),
        (Email(), "ada", "not_an_email"),
        (Email(), "ada@localhost", "not_an_email"),
        (Email(), "ada@@example.org", "not_an_email"),
        (Email(), "a da@example.org", "not_an_email"),
        (Email(), ".ada@example.org", "not_an_email"),
        (Email(), "ada@-example.org", "not_an_email"),
        (Email(), "ada@example..org", "not_an_email"),
        (Email(), "ada@example.org\n", "not_an_email"),
        (Email(), "a" * 250 + "@example.org", "not_an_email"),
        (Email(), "ada\u202e@example.org", "not_an_email"),
        (Url(), "example.org", "not_a_url"),
        (Url(), "//example.org", "not_a_url"),
        (Url(), "https://exa mple.org", "not_a_url"),
        (Url(), "https://example.org/\n", "not_a_url"),
        (Url(), "https://example.org/\u202e", "not_a_url"),
        (Url(), "https://", "not_a_url"),
        (Choice(["a", "b"]), "c", "not_an_option"),
        (Choice(["a", "b"]), ["a"], "not_an_option"),
        (Choice(["1"]), 1, "not_an_option"),
        (Choices(["a", "b"]), "a", "not_a_list"),
        (Choices(["a", "b"]), {"a": True}, "not_a_list"),
        (Choices(["a", "b"]), ["a", "c"], "not_an_option"),
        (Choices(["a", "b"]), [["a"]], "not_an_option"),
        (Choices(["a", "b"]), ["a", "a"], "chosen_twice"),
        (Choices(["a", "b"], least=1), [], "too_few"),
        (Choices(["a", "b"], most=1), ["a", "b"], "too_many"),
    ],
)
def test_a_value_that_does_not_fit_is_named(field: Field[Any], given_: Any, code: str):
    assert codes(read({"wish": field}, {"wish": given_})) == [(code, "wish")]


@corpus(
    ("field", "given_"),
    [
        (Text(), ""),
        (Text(min_length=1, max_length=1), "👍"),
        (Text(pattern="b"), "abc"),
        (Integer(), 2**80),
        (Integer(), -(2**53)),
        (Number(multiple_of=0.1), 0.3),
        (Number(), 5e-324),
        (Date(), "2024-02-29"),
        (DateTime(), "2024-02-29T12:00:00.123456789Z"),
        (DateTime(), "2024-02-29t23:59:59-23:59"),
        (Email(), "ada.lovelace+notes@mail.example.org"),
        (Email(), "ada@bücher.example"),
        (Url(), "mailto:ada@example.org"),
        (Url(), "https://example.org/?q=a%20b#c"),
        (Choice(["", "a"]), ""),
        (Choices(["a", "b"]), []),
    ],
)
def test_a_value_that_fits_is_kept_as_it_came(field: Field[Any], given_: Any):
    got = read({"wish": field}, {"wish": given_})
    assert isinstance(got, Fits), got
    assert got.content == {"wish": given_}


def test_a_whole_number_written_with_a_point_is_whole():
    got = read(int, {"value": 3.0})
    assert isinstance(got, Fits)
    assert (got.value, type(got.value), type(got.content["value"])) == (3, int, int)


@pytest.mark.verifies("R14")
@corpus("content", [None, 5, "x", [], [{"value": "a"}], True, math.nan])
def test_a_reply_that_is_no_form_is_told_so(content: Any):
    assert codes(read(str, content)) == [("not_an_object", None)]


def test_all_problems_are_named_at_once_but_not_without_end():
    fieldset = {f"f{one}": Integer() for one in range(30)}
    assert len(codes(read(fieldset, {}))) == 10
    assert codes(read({"a": Text(), "b": Integer(), "c": Text()}, {"a": "x", "b": "y"})) == [
        ("not_a_number", "b"),
        ("missing", "c"),
    ]


@pytest.mark.verifies("R16")
def test_fields_that_nobody_asked_for_never_reach_the_body():
    got = read({"a": Text()}, {"a": "x", "admin": True, "__class__": "y"})
    assert isinstance(got, Fits)
    assert got.content == got.value == {"a": "x"}

    class Open(BaseModel, extra="allow"):
        a: str

    assert value(read(Open, {"a": "x", "admin": True})).model_dump() == {"a": "x"}


def test_left_empty_is_left_empty_however_a_client_writes_it():
    fieldset: dict[str, Field[Any]] = {
        "name": Text(optional=True),
        "short": Text(optional=True, min_length=1),
        "age": Integer(optional=True),
        "tip": Integer(default=2),
        "fruit": Choice(["a"], optional=True),
        "fruits": Choices(["a", "b"], optional=True, least=1),
    }
    nothing = {"name": None, "short": None, "age": None, "tip": 2, "fruit": None, "fruits": None}
    assert value(read(fieldset, {})) == nothing
    assert value(read(fieldset, dict.fromkeys(fieldset))) == nothing
    assert value(read(fieldset, {**dict.fromkeys(fieldset, ""), "fruits": []})) == {**nothing, "name": ""}


def test_emptiness_is_no_answer_to_a_required_field():
    fieldset = {"name": Text(min_length=1), "age": Integer(), "fruits": Choices(["a"], least=1)}
    assert codes(read(fieldset, {"name": "", "age": "", "fruits": []})) == [
        ("too_short", "name"),
        ("not_a_number", "age"),
        ("too_few", "fruits"),
    ]


def test_whoever_unticks_every_box_does_not_get_the_default_back():
    fieldset = {"fruits": Choices(["a", "b"], least=1, default=["a"])}
    assert codes(read(fieldset, {"fruits": []})) == [("too_few", "fruits")]
    assert codes(read(fieldset, {"fruits.a": False}, Dialect.UNTITLED)) == [("too_few", "fruits")]
    assert value(read(fieldset, {}, Dialect.UNTITLED)) == {"fruits": ["a"]}


def test_a_default_is_never_shared_between_answers():
    fieldset = {"fruits": Choices(["a", "b"], default=["a"])}
    first = read(fieldset, {})
    assert isinstance(first, Fits)
    first.value["fruits"].append("b")
    first.content["fruits"].append("c")
    assert value(read(fieldset, {})) == {"fruits": ["a"]}
    schema = {"properties": {"fruits": {"type": "array", "items": {"enum": ["a", "b"]}}}}
    second = read(schema, {"fruits": ["a"]})
    assert isinstance(second, Fits)
    second.value["fruits"].append("b")
    assert second.content == {"fruits": ["a"]}


def test_an_initial_value_fills_in_for_a_required_field():
    fieldset = fill_in(fieldset_of({"name": Text()}), {"name": "Ada"})
    assert value(read(fieldset, {})) == {"name": "Ada"}
    assert value(read(fieldset, {"name": "Bob"})) == {"name": "Bob"}


class Colour(Enum):
    RED = 1
    BLUE = 2


class Order(BaseModel):
    size: Literal[1, 2]
    colours: list[Colour] = Constraint(title="Colours", max_length=1)
    note: str = ""


def test_several_choices_come_back_from_yes_and_no():
    ticked = {"size": "2", "colours.RED": False, "colours.BLUE": True}
    assert value(read(Order, ticked, Dialect.UNTITLED)) == Order(size=2, colours=[Colour.BLUE])
    assert value(read(Order, {"size": "2"}, Dialect.UNTITLED)) == Order(size=2, colours=[])
    assert value(read(Order, {"size": "2", "colours": ["BLUE"]}, Dialect.UNTITLED)) == Order(
        size=2, colours=[]
    )
    both = {"size": "2", "colours.RED": True, "colours.BLUE": True}
    assert codes(read(Order, both, Dialect.UNTITLED)) == [("too_many", "colours")]
    odd = {"size": "2", "colours.RED": "yes"}
    assert codes(read(Order, odd, Dialect.UNTITLED)) == [("not_a_list", "colours")]


def test_boxes_that_are_left_out_keep_their_default():
    fieldset = {"fruits": Choices(["a", "b", "c"], default=["a", "c"])}
    assert value(read(fieldset, {"fruits.a": False, "fruits.b": True}, Dialect.UNTITLED)) == {
        "fruits": ["b", "c"]
    }
    optional = {"fruits": Choices(["a"], optional=True)}
    assert value(read(optional, {}, Dialect.UNTITLED)) == {"fruits": None}
    assert value(read(optional, {"fruits.a": False}, Dialect.UNTITLED)) == {"fruits": []}


class Picky(BaseModel):
    name: str = Constraint(title="Your name")
    age: int = 0

    @field_validator("name")
    @classmethod
    def _refuse_bob(cls, name: str) -> str:
        if name == "Bob":
            raise ValueError("this one is taken")
        assert name != "Eve", "not this one either"
        return name

    @model_validator(mode="after")
    def _refuse_young_ada(self) -> "Picky":
        if self.name == "Ada" and self.age < 3:
            raise ValueError("x" * 9_999)
        return self


def test_an_authors_objection_is_told_under_its_field():
    got = read(Picky, {"name": "Bob"})
    assert isinstance(got, Misfit)
    assert got.problems == (
        Problem(code="refused", field="name", title="Your name", facts={"reason": "this one is taken"}),
    )
    assert Words().describe(got.problems) == "Your name: this one is taken"
    assert codes(read(Picky, {"name": "Eve"})) == [("refused", "name")]
    whole = read(Picky, {"name": "Ada"})
    assert isinstance(whole, Misfit)
    assert whole.problems[0].field is None
    assert len(str(whole.problems[0].facts["reason"])) == 500


@pytest.mark.verifies("R16")
def test_what_a_person_wrote_is_never_in_a_problem():
    class Everything(BaseModel):
        day: date
        at: datetime
        name: str = Constraint(pattern="^a$")
        colour: Colour
        age: int = Constraint(gt=3)

    canary = "canary-42"
    for content in (
        dict.fromkeys(Everything.model_fields, canary),
        {name: [canary] for name in Everything.model_fields},
    ):
        got = read(Everything, content)
        assert isinstance(got, Misfit)
        assert canary not in repr(got)


@pytest.mark.verifies("R14", "T05")
@corpus(
    "content",
    [
        {"value": "x" * 1_000_000},
        {"value": "ü" * 40_000},
        {"value": "x", "surplus": ["y"] * 100_000},
        {"value": "x", **{f"f{one}": 1 for one in range(20_000)}},
        {"value": 1 << 1_000_000},
        "x" * 1_000_000,
        ["x"] * 100_000,
    ],
)
def test_a_huge_reply_is_put_away_unread(content: Any):
    assert codes(read(str, content)) == [("too_large", None)]


def test_the_bound_is_the_callers():
    assert isinstance(
        read_content(fieldset_of(str), {"value": "x" * 90}, Dialect.TITLED, max_bytes=120), Fits
    )
    got = read_content(fieldset_of(str), {"value": "x" * 120}, Dialect.TITLED, max_bytes=120)
    assert isinstance(got, Misfit)
    assert got.problems[0].facts == {"most": 120}
    assert isinstance(read(str, {"value": "x" * (MAX_REPLY_BYTES - 100)}), Fits)


def test_depth_is_no_trouble():
    deep: Any = "x"
    for _ in range(10_000):
        deep = [deep]
    assert codes(read(str, {"value": deep})) == [("not_text", "value")]
    loop: dict[str, Any] = {}
    loop["value"] = loop
    assert codes(read(str, loop)) == [("too_large", None)]


@pytest.mark.verifies("T18")
@corpus("pattern", ["^(a+)+$", "^(a|aa)+$", "(.*a){20}$", "^([a-z]+)*!$"])
def test_a_pattern_that_explodes_elsewhere_is_checked_in_linear_time(pattern: str):
    fieldset = fieldset_of({"word": Text(pattern=pattern)})
    content = {"word": "a" * 40_000 + "?"}
    assert codes(read_content(fieldset, content, Dialect.TITLED)) == [("wrong_pattern", "word")]
