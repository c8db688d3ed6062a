"""The types of `askback.sync`: those of `askback`, without the `await`."""

from datetime import date, timedelta
from typing import Annotated, Any, Literal, assert_type

from pydantic import BaseModel
from pydantic import Field as PydanticField

from askback import Accepted, Answer, Ask, Cancelled, Choices, Declined, Integer, Text, sync
from askback.testing import accept, run_tool
from tests.sync.servers import mcpserver


class Model(BaseModel):
    name: str


def kinds_of_what() -> None:
    """The overloads of `ask` survive."""
    assert_type(sync.ask("?", Model), Accepted[Model] | Declined | Cancelled)
    assert_type(sync.ask("?", date, key="day"), Accepted[date] | Declined | Cancelled)
    assert_type(sync.ask("?", Literal["a", "b"]), Accepted[Literal["a", "b"]] | Declined | Cancelled)
    assert_type(sync.ask("?", list[Literal["a"]]), Accepted[list[Literal["a"]]] | Declined | Cancelled)
    assert_type(sync.ask("?", Annotated[int, PydanticField(ge=0)]), Accepted[int] | Declined | Cancelled)
    assert_type(sync.ask("?", {"name": Text()}), Accepted[dict[str, Any]] | Declined | Cancelled)
    assert_type(sync.ask("?", Integer(), timeout=5), Accepted[int] | Declined | Cancelled)
    assert_type(sync.ask("?", Choices(["a"])), Accepted[list[str]] | Declined | Cancelled)


def receipt(number: int, *, paid: bool) -> Model:
    return Model(name=f"{number} {paid}")


async def receipt_later(number: int) -> Model:
    return Model(name=f"{number}")


def the_rest() -> None:
    """The other verbs."""
    assert_type(sync.confirm("?"), bool)
    assert_type(sync.choose("?", ["a", "b"]), Accepted[str] | Declined | Cancelled)
    assert_type(sync.choose("?", {1: "one"}), Accepted[int] | Declined | Cancelled)
    assert_type(sync.choose("?", ["a", "b"], multiple=True), Accepted[list[str]] | Declined | Cancelled)
    assert_type(sync.once("k", receipt, 1, paid=True), Model)
    assert_type(sync.once("l", receipt_later, 1), Model)
    assert_type(sync.once("m", receipt, 1, paid=True, within=timedelta(hours=1)), Model)
    assert_type(sync.once("n", receipt_later, 1, within=60), Model)
    assert_type(sync.ask_all({"name": ("?", str)}), dict[str, Answer[Any]])
    together = sync.ask_all(Ask("name", "?", str), Ask("bio", "?", {"bio": Text()}))
    assert_type(together[0], Accepted[str] | Declined | Cancelled)
    assert_type(together[1], Accepted[dict[str, Any]] | Declined | Cancelled)
    assert_type(sync.ask("?", Model).or_stop("Then not."), Model)


def matching() -> str:
    """An answer is matched by position, to the end."""
    match sync.ask("?", Model):
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
