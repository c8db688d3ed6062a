"""Any reply against any form: no wrong value gets through, and no right one is turned away."""

import json
import math
from datetime import date, datetime
from enum import Enum
from random import Random
from typing import Any, Literal

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as some
from jsonschema import Draft202012Validator, FormatChecker
from pydantic import BaseModel
from pydantic import Field as Constraint

from askback.errors import QuestionRefused
from askback.model.question import (
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Email,
    Field,
    FieldSet,
    Integer,
    Number,
    Text,
    Url,
)
from askback.model.texts import Words
from askback.schema.dialect import Dialect, folded_name, render
from askback.schema.forms import fieldset_of
from askback.schema.validation import Fits, Misfit, read_content

MANY = 25
"""Replies to each form that is made up."""

ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    7,
    3.0,
    2.5,
    -0.0,
    1e300,
    2**70,
    math.nan,
    math.inf,
    "",
    "a",
    "b",
    "1",
    "abc",
    "ABC",
    "zz zz",
    "äß👍",
    "\ud800",
    "\x00",
    "\u202e",
    "2024-02-29",
    "2023-02-29",
    "2024-02-29T12:00:00Z",
    "2024-02-29T12:00:00",
    "ada@example.org",
    "ada@",
    "https://a.example",
    "a.example",
    [],
    {},
]
"""What clients send that mean well, and others."""

TEXTS = [one for one in ODD if isinstance(one, str)]
WRITTEN: dict[type[Field[Any]], list[str]] = {
    Text: ["a", "ab", "abz", "zab", "b" * 9],
    Email: ["ada@example.org", "a@b.example"],
    Url: ["https://a.example", "urn:a:b"],
    Date: ["2024-02-29", "1999-12-31"],
    DateTime: ["2024-02-29T12:00:00Z", "1999-12-31t23:59:59.5-11:30"],
}

LABELS = some.text("abcdefg -?!äß", min_size=1, max_size=8).filter(str.strip)
OPTIONS = some.lists(some.sampled_from(["a", "b", "c", "d", "", "1"]), min_size=1, max_size=5, unique=True)


def ordered(numbers: some.SearchStrategy[Any]) -> some.SearchStrategy[tuple[Any, Any]]:
    pairs = some.tuples(numbers, numbers).map(lambda pair: (min(pair), max(pair)))
    return (
        pairs
        | some.tuples(some.none(), numbers)
        | some.tuples(numbers, some.none())
        | some.just((None, None))
    )


@some.composite
def text_fields(draw: some.DrawFn) -> Field[Any]:
    kind = draw(some.sampled_from([Text, Text, Email, Url]))
    least, most = draw(ordered(some.integers(0, 8)))
    pattern = draw(some.sampled_from([None, None, "^[a-z]*$", "b"]))
    return kind(min_length=least, max_length=most, pattern=pattern)


@some.composite
def number_fields(draw: some.DrawFn) -> Field[Any]:
    least, most = draw(ordered(some.integers(-5, 20)))
    step = draw(some.sampled_from([None, None, 1, 2]))
    if draw(some.booleans()):
        return Integer(minimum=least, maximum=most, multiple_of=step)
    above = draw(some.none() | some.floats(-3, 3))
    return Number(minimum=least, maximum=most, above=above, multiple_of=step)


@some.composite
def choice_fields(draw: some.DrawFn) -> Field[Any]:
    values = draw(OPTIONS)
    options: Any = values if draw(some.booleans()) else {one: f"Title of {one}" for one in values}
    if draw(some.booleans()):
        return Choice(options)
    least, most = draw(ordered(some.integers(0, len(values))))
    return Choices(options, least=least, most=most)


KINDS = some.one_of(
    text_fields(),
    number_fields(),
    choice_fields(),
    some.sampled_from([Boolean(), Date(), DateTime()]),
)


@some.composite
def fieldsets(draw: some.DrawFn) -> FieldSet[dict[str, Any]]:
    fields: dict[str, Field[Any]] = {}
    chance = draw(some.randoms(use_true_random=True))
    for name in draw(some.lists(some.sampled_from("pqrst"), min_size=1, max_size=4, unique=True)):
        field = draw(KINDS).altered(optional=draw(some.booleans()), title=draw(some.none() | LABELS))
        fields[name] = filled_in(chance, name, field)
    try:
        return fieldset_of(fields)
    except QuestionRefused:
        return fieldset_of({"p": Text(optional=True)})


def filled_in(chance: Random, name: str, field: Field[Any]) -> Field[Any]:
    """The field, sometimes with a default: any reply that fits it will do."""
    if chance.randrange(3):
        return field
    try:
        got = read_content(fieldset_of({name: field}), {name: value_near(chance, field)}, Dialect.TITLED)
    except QuestionRefused:
        return field
    filled: Any = got.value[name] if isinstance(got, Fits) else None
    return field.altered(default=tuple(filled) if isinstance(field, Choices) and filled else filled)


def any_json(chance: Random, depth: int = 2) -> Any:
    kind = chance.randrange(8) if depth else 2
    if kind == 0:
        return [any_json(chance, depth - 1) for _ in range(chance.randrange(4))]
    if kind == 1:
        return {chance.choice("abpq"): any_json(chance, depth - 1) for _ in range(chance.randrange(4))}
    return chance.choice(ODD)


def value_near(chance: Random, field: Field[Any]) -> Any:
    """A reply as a client could send it, or another."""
    if not chance.randrange(12):
        return any_json(chance)
    match field:
        case Choice():
            return chance.choice(field.options).value
        case Choices():
            values = [option.value for option in field.options]
            return chance.sample(values, chance.randint(0, len(values)))
        case Boolean():
            return chance.choice([True, False])
        case Integer() | Number():
            return chance.choice([chance.randint(-6, 21), round(chance.uniform(-6, 21), chance.randrange(3))])
        case _:
            return chance.choice(WRITTEN[type(field)] if chance.randrange(4) else TEXTS)


def any_reply(chance: Random, fieldset: FieldSet[Any], dialect: Dialect) -> Any:
    if not chance.randrange(20):
        return any_json(chance)
    reply: dict[str, Any] = {}
    for name, field in fieldset.fields.items():
        if isinstance(field, Choices) and dialect is Dialect.UNTITLED:
            boxes = [folded_name(name, option.value) for option in field.options]
            reply |= {box: value_near(chance, Boolean()) for box in boxes if chance.randrange(10)}
        elif chance.randrange(10):
            reply[name] = value_near(chance, field)
    return reply | ({"surplus": any_json(chance)} if not chance.randrange(5) else {})


def oracle(fieldset: FieldSet[Any]) -> Any:
    """Somebody else's reading of the schema that was sent, with the constraints that stay on the server put back."""
    schema = json.loads(json.dumps(render(fieldset, Dialect.TITLED)))
    for name, field in fieldset.fields.items():
        own = field.keywords()
        kept = {"pattern", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"} & own.keys()
        schema["properties"][name] |= {keyword: own[keyword] for keyword in kept}
        if isinstance(field, Choices):
            schema["properties"][name]["uniqueItems"] = True
    return Draft202012Validator(schema, format_checker=FormatChecker())


PYTHON_TYPES: dict[type[Field[Any]], type | tuple[type, ...]] = {
    Text: str,
    Email: str,
    Url: str,
    Date: date,
    DateTime: datetime,
    Number: (int, float),
    Integer: int,
    Boolean: bool,
    Choice: str,
    Choices: list,
}


def assert_sound(fieldset: FieldSet[Any], got: Fits[Any]) -> None:
    assert json.loads(json.dumps(got.content, allow_nan=False)) == got.content
    assert got.content.keys() <= fieldset.fields.keys()
    oracle(fieldset).validate(got.content)
    for name, field in fieldset.fields.items():
        if got.value[name] is None:
            assert name not in got.content
            assert field.optional
            continue
        assert isinstance(got.value[name], PYTHON_TYPES[type(field)])
        assert isinstance(field, Boolean) == isinstance(got.value[name], bool)
        if isinstance(got.value[name], datetime):
            assert got.value[name].tzinfo is not None


CHANCES = some.randoms(use_true_random=True)


@pytest.mark.verifies("R14", "R16")
@settings(max_examples=200)
@given(fieldset=fieldsets(), dialect=some.sampled_from(Dialect), chance=CHANCES)
def test_whatever_comes_the_body_gets_a_value_of_its_type_or_none_at_all(
    fieldset: FieldSet[dict[str, Any]], dialect: Dialect, chance: Random
):
    for _ in range(MANY):
        got = read_content(fieldset, any_reply(chance, fieldset, dialect), dialect)
        event(type(got).__name__)
        if isinstance(got, Fits):
            assert_sound(fieldset, got)
            assert fieldset.build(got.content) == got.value
            assert read_content(fieldset, got.content, Dialect.TITLED) == got
        else:
            assert 1 <= len(got.problems) <= 10
            assert Words().describe(got.problems)


@pytest.mark.verifies("R14")
@settings(max_examples=100)
@given(fieldset=fieldsets(), chance=CHANCES)
def test_what_the_schema_allows_is_not_turned_away(fieldset: FieldSet[dict[str, Any]], chance: Random):
    # Ours is the stricter reading of formats, and of texts and numbers that others could not write down.
    stricter = {"not_an_email", "not_a_url", "not_a_date_time", "broken_text", "not_whole", "not_a_number"}
    for _ in range(MANY):
        reply = any_reply(chance, fieldset, Dialect.TITLED)
        got = read_content(fieldset, reply, Dialect.TITLED)
        if isinstance(got, Misfit) and oracle(fieldset).is_valid(reply):
            assert {problem.code for problem in got.problems} <= stricter, reply


class Colour(Enum):
    RED = 1
    BLUE = 2


class Trip(BaseModel):
    way: Literal["air", "sea"]
    legs: list[Colour] = Constraint(min_length=1)
    day: date
    at: datetime | None = None
    price: float = Constraint(gt=0, lt=1_000)
    seats: int = Constraint(1, ge=1, le=9, multiple_of=1)
    note: str | None
    code: str = Constraint("ab", pattern="^[a-z]+$", max_length=5)


@pytest.mark.verifies("R14", "R16")
@settings(max_examples=100)
@given(dialect=some.sampled_from(Dialect), chance=CHANCES)
def test_a_model_never_holds_what_its_own_types_forbid(dialect: Dialect, chance: Random):
    fieldset = fieldset_of(Trip)
    for _ in range(10 * MANY):
        got = read_content(fieldset, any_reply(chance, fieldset, dialect), dialect)
        if isinstance(got, Fits):
            assert Trip.model_validate(got.value.model_dump()) == got.value
            assert all(isinstance(leg, Colour) for leg in got.value.legs)
            assert 0 < got.value.price < 1_000
            oracle(fieldset).validate(got.content)


@pytest.mark.parametrize("dialect", Dialect)
def test_the_replies_made_up_here_are_neither_all_right_nor_all_wrong(dialect: Dialect):
    fieldset, chance = fieldset_of(Trip), Random(1)
    got = [read_content(fieldset, any_reply(chance, fieldset, dialect), dialect) for _ in range(3_000)]
    fitting = sum(isinstance(one, Fits) for one in got)
    assert 30 < fitting < 2_970
