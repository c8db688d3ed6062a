"""The tables of the page on questions: what is written in them works, or is refused, as they say."""

import datetime
import typing
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypedDict

import pydantic
import pytest
from mcp.server import MCPServer
from pydantic import BaseModel

import askback
from askback import Accepted, Askback, ask
from askback.errors import QuestionRefused
from askback.schema.forms import form_of
from askback.testing import accept
from askback.testing.plugin import RunTool
from tests.support.corpus import corpus
from tests.support.docs_pages import DOCS, code_of, table

pytestmark = pytest.mark.anyio

PAGE = DOCS / "how-to" / "questions.md"
KINDS = table(PAGE, "you write", "the person sees", "you get, for example")
REFUSALS = table(PAGE, "you write", "Askback says")


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Person(BaseModel):
    name: str


@dataclass
class Point:
    x: int
    y: int


class Movie(TypedDict):
    title: str


class Address(BaseModel):
    street: str


class Order(BaseModel):
    address: Address


NAMES: dict[str, Any] = {
    **vars(typing),
    **vars(datetime),
    **vars(askback),
    **{name: getattr(pydantic, name) for name in ("AnyUrl", "EmailStr", "Field")},
    **{kind.__name__: kind for kind in (Size, Person, Point, Movie, Order)},
}
"""What the code in the tables may name."""

REPLIES: dict[str, Any] = {
    "str": "Ada",
    "int": 3,
    "float": 1.5,
    "bool": True,
    "date": "2026-07-28",
    "datetime": "2026-07-28T10:00:00+02:00",
    "EmailStr": "ada@example.org",
    "AnyUrl": "https://example.org",
    'Literal["small", "large"]': "small",
    "Literal[1, 2]": "2",
    "Size": "small",
    'list[Literal["mo", "tu"]]': ["tu"],
    "list[Size]": ["small"],
    "Optional[str]": {},
    "Annotated[str, Field(max_length=3)]": "Ada",
    "Text(min_length=1)": "Ada",
    "Email()": "ada@example.org",
    "Url()": "https://example.org",
    "Date()": "2026-07-28",
    "DateTime()": "2026-07-28T10:00:00Z",
    "Number(above=0)": 1.5,
    "Integer(minimum=1)": 3,
    "Boolean()": True,
    'Choice({"dev": "Developer"})': "dev",
    'Choices(["mo", "tu"], least=1)': ["tu"],
    "Person": {"name": "Ada"},
    "Point": {"x": 1, "y": 2},
    "Movie": {"title": "Metropolis"},
    '{"name": Text(), "bio": Text(optional=True)}': {"name": "Ada"},
    '{"type": "object", "properties": {"n": {"type": "integer"}}}': {"n": 3},
}
"""What the person answers to each row."""


def evaluated(cell: str) -> Any:
    return eval(code_of(cell), NAMES)


@corpus("row", KINDS)
async def test_a_kind_of_question_gives_what_the_table_says(row: list[str], askback_run_tool: RunTool):
    written, _, got = row
    server: MCPServer[Any] = MCPServer("kinds")
    Askback(server)

    @server.tool()
    async def asking() -> str:
        answer = await ask("Please.", evaluated(written))
        assert isinstance(answer, Accepted)
        return repr(answer.value)

    run = await askback_run_tool(server, "asking", None, [accept(REPLIES[code_of(written)])])
    assert run.text == code_of(got)


def test_every_reply_here_has_its_row_on_the_page():
    assert REPLIES.keys() == {code_of(row[0]) for row in KINDS}


@corpus("row", REFUSALS)
def test_what_is_refused_is_refused_in_these_words(row: list[str]):
    written, said = row
    with pytest.raises(QuestionRefused) as caught:
        form_of("Please.", evaluated(written))
    assert str(caught.value) == said
