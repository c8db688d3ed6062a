"""Every kind of `what` an author can ask with, and the value that comes of it."""

import typing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal, NotRequired

import pytest
from pydantic import AliasChoices, AnyUrl, BaseModel, ConfigDict, EmailStr, HttpUrl, StrictInt
from pydantic import Field as Constraint
from typing_extensions import TypedDict

from askback.errors import AskbackWarning, QuestionRefused, SecretInForm
from askback.model.question import (
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Email,
    FieldSet,
    Integer,
    Number,
    Text,
    Url,
)
from askback.schema.dialect import Dialect, render
from askback.schema.forms import fieldset_of, fill_in, form_of
from askback.schema.validation import Fits, Misfit, read_content
from tests.support.corpus import corpus


class Colour(Enum):
    """For those who read the code."""

    RED = "red"
    BLUE = "blue"


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


class Shape(Enum):
    ROUND = (1, 0)
    SQUARE = "square"


class Mood(StrEnum):
    GLAD = "glad"


class Extras(BaseModel):
    drink: Literal["none", "cola", "water"] = Constraint("none", title="Drink")
    tip: int = Constraint(0, ge=0, le=20, title="Tip in euro")


@dataclass
class Address:
    street: str
    floor: int = 0
    tags: list[Literal["home", "work"]] = field(default_factory=list[Literal["home", "work"]])
    label: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if self.street == "nowhere":
            raise ValueError("nobody delivers there")


class Guest(TypedDict):
    name: str
    seats: NotRequired[int]


def answer(what: Any, content: dict[str, Any], dialect: Dialect = Dialect.TITLED) -> Any:
    read = read_content(fieldset_of(what), content, dialect)
    assert isinstance(read, Fits), read
    return read.value


def shown(what: Any, name: str = "value") -> dict[str, Any]:
    return render(fieldset_of(what), Dialect.TITLED)["properties"][name]


@corpus(
    ("what", "content", "value"),
    [
        (Extras, {"drink": "cola", "tip": 3}, Extras(drink="cola", tip=3)),
        (Extras, {}, Extras(drink="none", tip=0)),
        (Address, {"street": "Elm", "tags": ["work"]}, Address("Elm", tags=["work"])),
        (Guest, {"name": "Ada"}, {"name": "Ada"}),
        (Guest, {"name": "Ada", "seats": 2}, {"name": "Ada", "seats": 2}),
        (str, {"value": "x"}, "x"),
        (int, {"value": 3}, 3),
        (float, {"value": 3}, 3.0),
        (bool, {"value": False}, False),
        (date, {"value": "2024-02-29"}, date(2024, 2, 29)),
        (datetime, {"value": "2024-02-29T12:00:00Z"}, datetime(2024, 2, 29, 12, tzinfo=UTC)),
        (EmailStr, {"value": "ada@example.org"}, "ada@example.org"),
        (AnyUrl, {"value": "https://example.org/a"}, AnyUrl("https://example.org/a")),
        (HttpUrl, {"value": "https://example.org/a"}, HttpUrl("https://example.org/a")),
        (Literal["a", "b"], {"value": "b"}, "b"),
        (Literal[1, 2], {"value": "2"}, 2),
        (Literal[1, "a"], {"value": "1"}, 1),
        (Literal["only"], {"value": "only"}, "only"),
        (Literal["a"] | Literal[1], {"value": "a"}, "a"),
        (Literal[Colour.RED, "other"], {"value": "red"}, Colour.RED),
        (Colour, {"value": "blue"}, Colour.BLUE),
        (Size, {"value": "LARGE"}, Size.LARGE),
        (Shape, {"value": "ROUND"}, Shape.ROUND),
        (Shape, {"value": "square"}, Shape.SQUARE),
        (Mood, {"value": "glad"}, Mood.GLAD),
        (list[Literal["a", "b"]], {"value": ["b", "a"]}, ["b", "a"]),
        (list[Size], {"value": ["LARGE"]}, [Size.LARGE]),
        (set[Colour], {"value": ["red"]}, {Colour.RED}),
        (int | None, {}, None),
        (Annotated[int, Constraint(ge=1)], {"value": 1}, 1),
        (Annotated[int, Constraint(default=7)], {}, 7),
        (Text(min_length=1), {"value": "x"}, "x"),
        (Text(optional=True), {}, None),
        (Email(), {"value": "ada@example.org"}, "ada@example.org"),
        (Url(), {"value": "https://example.org"}, "https://example.org"),
        (Date(), {"value": "2024-02-29"}, date(2024, 2, 29)),
        (DateTime(), {"value": "2024-02-29T12:00:00z"}, datetime(2024, 2, 29, 12, tzinfo=UTC)),
        (Number(), {"value": 3}, 3),
        (Integer(), {"value": 3.0}, 3),
        (Boolean(), {"value": True}, True),
        (Choice(["a", "b"]), {"value": "a"}, "a"),
        (Choices({"a": "Apple", "b": "Banana"}), {"value": ["b"]}, ["b"]),
        (
            {"name": Text(), "day": Date(optional=True), "role": Choice(["dev"], default="dev")},
            {"name": "Ada"},
            {"name": "Ada", "day": None, "role": "dev"},
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                "required": ["a"],
            },
            {"a": "x"},
            {"a": "x"},
        ),
        ({"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"]}, {"n": "2"}, {"n": 2}),
    ],
)
def test_every_kind_of_what_gives_its_own_value(what: Any, content: dict[str, Any], value: object):
    got = answer(what, content)
    assert got == value
    assert type(got) is type(value)


def test_the_sheet_of_a_type_is_made_once():
    assert fieldset_of(Extras) is fieldset_of(Extras)
    assert fieldset_of(Literal["a", "b"]) is fieldset_of(Literal["a", "b"])
    assert fieldset_of({"a": Text()}) is fieldset_of({"a": Text()})
    assert fieldset_of(Text()) is fieldset_of(Text())
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert fieldset_of(schema) is fieldset_of(dict(schema))
    assert fieldset_of(fieldset_of(Extras)) is fieldset_of(Extras)


def test_choices_are_shown_in_the_order_the_author_wrote():
    assert shown(Literal["p", "q"])["enum"] == ["p", "q"]
    assert shown(Literal["q", "p"])["enum"] == ["q", "p"]
    assert shown(list[Literal["p", "q"]])["items"]["enum"] == ["p", "q"]
    assert shown(list[Literal["q", "p"]])["items"]["enum"] == ["q", "p"]


def test_a_schema_changed_after_it_was_asked_with_is_another_question():
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    first = fieldset_of(schema)
    schema["properties"]["b"] = {"type": "string"}
    assert list(first.fields) == ["a"]
    assert list(fieldset_of(schema).fields) == ["a", "b"]


def test_titles_come_from_names_and_never_from_a_class():
    class Car(BaseModel):
        colour: Colour
        paint_mood: Mood
        size: Size | None = None
        body: Annotated[Shape, Choice({"ROUND": "Round", "square": "Square"})]

    fieldset = fieldset_of(Car)
    assert [one.title for one in fieldset.fields.values()] == ["Colour", "Paint Mood", "Size", "Body"]
    assert {one.description for one in fieldset.fields.values()} == {None}
    assert shown(Colour) == {"type": "string", "enum": ["red", "blue"]}


def test_fields_annotate_a_model():
    class Order(BaseModel):
        size: Annotated[Size, Choice({"SMALL": "A small one", "LARGE": "A large one"})] = Size.SMALL
        extras: Annotated[list[Colour], Choices({"red": "Red"}, most=1)]
        note: Annotated[str | None, Text(max_length=3, title="A note")] = None
        word: Annotated[str, Text(title="A word")] | None = None
        code: Annotated[str, Text(pattern="^[a-z]+$")]

    assert shown(Order, "size")["oneOf"][0] == {"const": "SMALL", "title": "A small one"}
    assert shown(Order, "note") == {"type": "string", "title": "A note", "maxLength": 3}
    assert shown(Order, "word") == {"type": "string", "title": "A word"}
    got = answer(Order, {"size": "LARGE", "extras": ["red"], "code": "abc"})
    assert got == Order(size=Size.LARGE, extras=[Colour.RED], code="abc")
    read = read_content(
        fieldset_of(Order), {"extras": ["blue"], "note": "long", "code": "A1"}, Dialect.TITLED
    )
    assert isinstance(read, Misfit)
    assert {one.field: one.code for one in read.problems} == {
        "extras": "not_an_option",
        "note": "too_long",
        "code": "wrong_pattern",
    }


def test_fields_annotate_dataclasses_and_typed_dicts():
    @dataclass
    class Trip:
        way: Annotated[str, Choice({"air": "By air", "sea": "By sea"})]

    class Stay(TypedDict):
        beds: Annotated[int, Integer(maximum=2, default=1)]

    assert answer(Trip, {"way": "sea"}) == Trip("sea")
    assert answer(Stay, {}) == {"beds": 1}


def test_an_annotated_model_still_writes_its_own_json_schema():
    class Order(BaseModel):
        size: Annotated[Size, Choice({"SMALL": "Small"})] = Size.SMALL

    assert Order.model_json_schema()["properties"]["size"]["oneOf"] == [{"const": "SMALL", "title": "Small"}]


def test_a_field_that_may_be_null_is_optional_and_built_as_none():
    class Contact(BaseModel):
        name: str
        phone: str | None

    assert render(fieldset_of(Contact), Dialect.TITLED)["required"] == ["name"]
    assert answer(Contact, {"name": "Ada"}) == Contact(name="Ada", phone=None)
    assert answer(Contact, {"name": "Ada", "phone": None}) == Contact(name="Ada", phone=None)


def test_a_strict_model_takes_what_json_can_write():
    class Strict(BaseModel):
        model_config = ConfigDict(strict=True)
        day: date
        colour: Colour
        count: StrictInt

    got = answer(Strict, {"day": "2024-02-29", "colour": "red", "count": 2.0})
    assert got == Strict(day=date(2024, 2, 29), colour=Colour.RED, count=2)


def test_aliases_are_the_names_on_the_wire():
    class Swap(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        one: str = Constraint(alias="two")
        two: str = Constraint(alias="three")
        four: int = Constraint(0, validation_alias=AliasChoices("fourth", "4th"))

    assert list(fieldset_of(Swap).fields) == ["two", "three", "fourth"]
    got = answer(Swap, {"two": "a", "three": "b"})
    assert (got.one, got.two) == ("a", "b")


def test_an_authors_validator_has_the_last_word():
    read = read_content(fieldset_of(Address), {"street": "nowhere"}, Dialect.TITLED)
    assert isinstance(read, Misfit)
    assert [(one.code, one.field, one.facts["reason"]) for one in read.problems] == [
        ("refused", None, "nobody delivers there")
    ]


def test_defaults_are_of_the_fields_own_type_and_spelled_for_the_wire():
    class Booking(BaseModel):
        day: date = date(2030, 1, 2)
        at: datetime = datetime(2030, 1, 2, 3, tzinfo=UTC)
        size: Size = Size.LARGE
        colours: set[Colour] = {Colour.BLUE, Colour.RED}
        site: AnyUrl = AnyUrl("https://example.org/")

    properties = render(fieldset_of(Booking), Dialect.TITLED)["properties"]
    assert [one["default"] for one in properties.values()] == [
        "2030-01-02",
        "2030-01-02T03:00:00+00:00",
        "LARGE",
        ["red", "blue"],
        "https://example.org/",
    ]
    assert answer(Booking, {}) == Booking()
    assert fieldset_of(Booking).fields["day"].default == date(2030, 1, 2)


class Booking(BaseModel):
    day: date
    size: Size = Size.SMALL
    colours: list[Colour] = []
    guests: int = Constraint(1, ge=1, le=4)


def test_initial_values_fill_in_one_call():
    fieldset = fill_in(
        fieldset_of(Booking), {"day": date(2030, 1, 2), "size": Size.LARGE, "colours": [Colour.BLUE]}
    )
    schema = render(fieldset, Dialect.TITLED)
    assert {name: one["default"] for name, one in schema["properties"].items()} == {
        "day": "2030-01-02",
        "size": "LARGE",
        "colours": ["blue"],
        "guests": 1,
    }
    assert schema["required"] == ["day"]
    assert fieldset.digest != fieldset_of(Booking).digest
    assert "default" not in render(fieldset_of(Booking), Dialect.TITLED)["properties"]["day"]


def test_an_instance_or_a_bare_value_can_be_the_initial_value():
    chosen = Booking(day=date(2030, 1, 2), guests=3)
    assert fill_in(fieldset_of(Booking), chosen).fields["guests"].default == 3
    assert fill_in(fieldset_of(Size), Size.LARGE).fields["value"].default == "LARGE"
    assert fill_in(fieldset_of(Literal[1, 2]), 2).fields["value"].default == "2"
    assert fill_in(fieldset_of(Text()), "Ada").fields["value"].default == "Ada"
    assert fill_in(fieldset_of(list[Size]), [Size.SMALL]).fields["value"].default == ("SMALL",)


def test_the_same_initial_values_make_the_same_sheet():
    fieldset = fieldset_of(Booking)
    assert fill_in(fieldset, {"guests": 2}).digest == fill_in(fieldset, {"guests": 2}).digest
    assert fill_in(fieldset, {"guests": None}).digest == fieldset.digest


def test_initial_values_go_by_alias_or_by_attribute():
    class Swap(BaseModel):
        one: str = Constraint(alias="uno")

    assert fill_in(fieldset_of(Swap), {"uno": "a"}).digest == fill_in(fieldset_of(Swap), {"one": "a"}).digest


@corpus(
    ("what", "initial", "name"),
    [
        (Booking, {"guests": 9}, "guests"),
        (Booking, {"guests": True}, "guests"),
        (Booking, {"size": "HUGE"}, "size"),
        (Booking, {"colour": Colour.RED}, "colour"),
        (Booking, {"day": datetime(2030, 1, 2, tzinfo=UTC)}, "day"),
        (Booking, 5, None),
        (int, "5", "value"),
        (DateTime(), datetime(2030, 1, 2), "value"),  # noqa: DTZ001 - a time without its offset is what is refused
    ],
)
def test_initial_values_that_do_not_fit_are_refused(what: Any, initial: Any, name: str | None):
    with pytest.raises(QuestionRefused) as refused:
        fill_in(fieldset_of(what), initial)
    assert refused.value.field == name


def test_a_digest_names_the_exact_question():
    def digest(what: Any, message: str = "Which?") -> str:
        return form_of(message, what).digest

    assert digest({"a": Text()}) == digest({"a": Text()})
    others = [
        digest({"a": Text()}, "Who?"),
        digest({"b": Text()}),
        digest({"a": Text(title="A")}),
        digest({"a": Text(optional=True)}),
        digest({"a": Text(pattern="x")}),
        digest({"a": Text(), "b": Text()}),
        digest({"b": Text(), "a": Text()}),
        digest({"a": Text(default="x")}),
    ]
    assert len({digest({"a": Text()}), *others}) == len(others) + 1
    assert digest({"a": Text(not_a_secret="a nickname")}) == digest({"a": Text()})
    assert form_of("Which?", Text(), meta={"a": 1}).digest == form_of("Which?", Text()).digest


@corpus("message", ["", "  \n", "x" * 10_001, "\ud800", None, 5])
def test_a_message_that_cannot_be_shown_is_refused(message: Any):
    with pytest.raises(QuestionRefused):
        form_of(message, Extras)


@pytest.mark.verifies("R13")
def test_a_link_in_a_message_is_warned_of():
    with pytest.warns(AskbackWarning, match="no place for links"):
        form_of("See HTTPS://example.org for more. Which?", Extras)


@pytest.mark.verifies("R11", "R12")
def test_a_message_that_fishes_is_refused_where_people_can_type():
    message = "Please enter your password."
    with pytest.raises(SecretInForm, match="page"):
        form_of(message, str)
    form_of(message, Annotated[str, Text(not_a_secret="the word of a game, known to all")])
    form_of(message, Choice(["now", "later"]))


@corpus("meta", [{"a": b"bytes"}, {"a": float("nan")}, {"a": {1, 2}}])
def test_meta_that_cannot_travel_is_refused(meta: dict[str, Any]):
    with pytest.raises(QuestionRefused, match="JSON"):
        form_of("Which?", Extras, meta=meta)


def test_what_cannot_be_hashed_is_asked_all_the_same():
    what = Annotated[int, Constraint(json_schema_extra={"x": 1}), {"not": "hashable"}]
    assert isinstance(fieldset_of(what), FieldSet)
    assert answer(what, {"value": 3}) == 3


class FromTyping(typing.TypedDict):
    name: str
    age: typing.NotRequired[int]


class Inherited(FromTyping, total=False):
    colour: Literal["red", "blue"]
    agreed: typing.Required[bool]


def test_a_typed_dict_of_either_module_is_read_with_what_it_requires():
    fieldset = fieldset_of(Inherited)
    assert list(fieldset.fields) == ["name", "age", "colour", "agreed"]
    assert fieldset.required == {"name", "agreed"}
    assert fieldset.build({"name": "Ada", "agreed": True}) == {"name": "Ada", "agreed": True}
