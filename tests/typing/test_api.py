"""The types that an author's checker knows. Read by pyright and mypy in `make check`; run, it shows the same values."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal, assert_type

from pydantic import AnyUrl, BaseModel, EmailStr
from pydantic import Field as PydanticField
from typing_extensions import TypedDict

from askback import (
    Accepted,
    Answer,
    Ask,
    Boolean,
    Cancelled,
    Choice,
    Choices,
    Date,
    DateTime,
    Declined,
    Email,
    Integer,
    Number,
    Text,
    Url,
    ask,
    ask_all,
    choose,
    confirm,
    once,
)
from askback.testing import accept, run_tool
from tests.support.tool_servers import mcpserver


class Model(BaseModel):
    name: str


@dataclass
class Data:
    name: str


class Dictionary(TypedDict):
    name: str


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


async def kinds_of_what() -> None:
    """Every kind of `what`, and the answer's type for it."""
    assert_type(await ask("?", Model), Accepted[Model] | Declined | Cancelled)
    assert_type(await ask("?", Data), Accepted[Data] | Declined | Cancelled)
    assert_type(await ask("?", Dictionary), Accepted[Dictionary] | Declined | Cancelled)
    assert_type(await ask("?", str), Accepted[str] | Declined | Cancelled)
    assert_type(await ask("?", int), Accepted[int] | Declined | Cancelled)
    assert_type(await ask("?", float), Accepted[float] | Declined | Cancelled)
    assert_type(await ask("?", bool), Accepted[bool] | Declined | Cancelled)
    assert_type(await ask("?", date), Accepted[date] | Declined | Cancelled)
    assert_type(await ask("?", datetime), Accepted[datetime] | Declined | Cancelled)
    assert_type(await ask("?", Literal["a", "b"]), Accepted[Literal["a", "b"]] | Declined | Cancelled)
    assert_type(await ask("?", Colour), Accepted[Colour] | Declined | Cancelled)
    assert_type(await ask("?", EmailStr), Accepted[EmailStr] | Declined | Cancelled)
    assert_type(await ask("?", AnyUrl), Accepted[AnyUrl] | Declined | Cancelled)
    assert_type(await ask("?", list[Literal["a"]]), Accepted[list[Literal["a"]]] | Declined | Cancelled)
    assert_type(await ask("?", list[Colour]), Accepted[list[Colour]] | Declined | Cancelled)
    assert_type(await ask("?", Annotated[int, PydanticField(ge=0)]), Accepted[int] | Declined | Cancelled)
    assert_type(await ask("?", {"name": Text()}), Accepted[dict[str, Any]] | Declined | Cancelled)
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    assert_type(await ask("?", schema), Accepted[dict[str, Any]] | Declined | Cancelled)


async def kinds_of_field() -> None:
    """A single field gives its own type."""
    assert_type(await ask("?", Text()), Accepted[str] | Declined | Cancelled)
    assert_type(await ask("?", Email()), Accepted[str] | Declined | Cancelled)
    assert_type(await ask("?", Url()), Accepted[str] | Declined | Cancelled)
    assert_type(await ask("?", Number()), Accepted[float] | Declined | Cancelled)
    assert_type(await ask("?", Integer()), Accepted[int] | Declined | Cancelled)
    assert_type(await ask("?", Boolean()), Accepted[bool] | Declined | Cancelled)
    assert_type(await ask("?", Date()), Accepted[date] | Declined | Cancelled)
    assert_type(await ask("?", DateTime()), Accepted[datetime] | Declined | Cancelled)
    assert_type(await ask("?", Choice(["a"])), Accepted[str] | Declined | Cancelled)
    assert_type(await ask("?", Choices(["a"])), Accepted[list[str]] | Declined | Cancelled)


async def receipt(number: int, *, paid: bool) -> Model:
    return Model(name=f"{number} {paid}")


def length(text: str) -> int:
    return len(text)


async def the_rest() -> None:
    """The other verbs."""
    assert_type(await confirm("?"), bool)
    assert_type(await choose("?", ["a", "b"]), Accepted[str] | Declined | Cancelled)
    assert_type(await choose("?", {1: "one"}), Accepted[int] | Declined | Cancelled)
    assert_type(await choose("?", ["a", "b"], multiple=True), Accepted[list[str]] | Declined | Cancelled)
    assert_type(await once("k", receipt, 1, paid=True), Model)
    assert_type(await once("l", length, "abc"), int)
    assert_type(await ask_all({"name": ("?", str)}), dict[str, Answer[Any]])
    together = await ask_all(
        Ask("name", "?", str), Ask("colour", "?", Colour), Ask("bio", "?", {"bio": Text()})
    )
    assert_type(together[0], Accepted[str] | Declined | Cancelled)
    assert_type(together[1], Accepted[Colour] | Declined | Cancelled)
    assert_type(together[2], Accepted[dict[str, Any]] | Declined | Cancelled)
    assert_type((await ask("?", Model)).or_stop("Then not."), Model)


async def matching() -> str:
    """An answer is matched by position, to the end."""
    match await ask("?", Model):
        case Accepted(model):
            assert_type(model, Model)
            return model.name
        case Declined():
            return "no"
        case Cancelled():
            return "later"


async def test_matching_gives_the_model() -> None:
    run = await run_tool(mcpserver(matching), "t", None, [accept(name="Ada")])
    assert run.text == "Ada"
