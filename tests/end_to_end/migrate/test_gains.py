"""What the guide says of its tables: every response type works as it is, and `ask` takes more."""

import typing
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from fastmcp import Context as FastMCPContext
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel, field_validator
from typing_extensions import TypedDict

import askback
from askback import Accepted, Askback, Text, ask
from askback.testing import accept, decline
from askback.testing.plugin import RunTool
from askback.testing.script import Reply
from tests.end_to_end.migrate.guide import PAGE
from tests.support.docs_pages import code_of, table

pytestmark = pytest.mark.anyio


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Point:
    x: int


class Movie(TypedDict):
    title: str


class Person(BaseModel):
    name: str


class Guest(BaseModel):
    nickname: str | None = None


class Stay(BaseModel):
    nights: int

    @field_validator("nights")
    @classmethod
    def _no_thirteen(cls, nights: int) -> int:
        if nights == 13:
            raise ValueError("the house does not let for thirteen nights")
        return nights


RESPONSE_TYPES: list[tuple[str, Any, Reply, Any]] = [
    ("str", str, accept("Ada"), "Ada"),
    ("int", int, accept(3), 3),
    ("float", float, accept(1.5), 1.5),
    ("bool", bool, accept(True), True),
    ("Literal", Literal["a", "b"], accept("b"), "b"),
    ("Enum", Size, accept("small"), Size.SMALL),
    ("list", ["a", "b"], accept("a"), "a"),
    ("titles", {"a": {"title": "A"}, "b": {"title": "B"}}, accept("b"), "b"),
    ("several", [["a", "b", "c"]], accept(["a", "c"]), ["a", "c"]),
    ("several titles", [{"a": {"title": "A"}, "b": {"title": "B"}}], accept(["b"]), ["b"]),
    ("list of Literal", list[Literal["a", "b"]], accept(["a"]), ["a"]),
    ("list of Enum", list[Size], accept(["large"]), [Size.LARGE]),
    ("dataclass", Point, accept(x=1), Point(x=1)),
    ("TypedDict", Movie, accept(title="Metropolis"), {"title": "Metropolis"}),
    ("model", Person, accept(name="Ada"), Person(name="Ada")),
]


@pytest.mark.parametrize(
    ("response_type", "reply", "value"),
    [one[1:] for one in RESPONSE_TYPES],
    ids=[one[0] for one in RESPONSE_TYPES],
)
async def test_every_response_type_of_fastmcp_works_as_it_is(
    response_type: Any, reply: Reply, value: Any, askback_run_tool: RunTool
):
    server = FastMCP("types")
    Askback(server)
    got: list[Any] = []

    @server.tool
    async def asking(ctx: FastMCPContext) -> str:
        answer = await ctx.elicit("Please.", response_type)
        got.append(answer.data if answer.action == "accept" else answer.action)
        return "done"

    assert (await askback_run_tool(server, "asking", None, [reply])).text == "done"
    assert got[-1] == value


@pytest.mark.parametrize("row", table(PAGE, "FastMCP's `response_type`", "Askback"), ids=lambda row: row[1])
async def test_what_the_table_writes_instead_can_be_asked(row: list[str], askback_run_tool: RunTool):
    names: dict[str, Any] = {**vars(typing), **vars(askback), "message": "Please.", "Model": Person}
    written = code_of(row[1]) if row[1].startswith("`") else "choose(message, ['a', 'b'], multiple=True)"
    server: MCPServer[Any] = MCPServer("types")
    Askback(server)

    @server.tool()
    async def asking() -> str:
        await eval(written.replace("Literal[...]", "Literal['a', 'b']"), names)
        return "done"

    assert (await askback_run_tool(server, "asking", None, [decline()])).text == "done"


async def test_ask_takes_fields_that_the_hosts_refuse(askback_run_tool: RunTool):
    server = FastMCP("types")
    Askback(server)

    @server.tool
    async def elicited(ctx: FastMCPContext) -> str:
        return str(await ctx.elicit("Please.", Guest))

    @server.tool
    async def asked() -> str:
        return str(await ask("Please.", Guest) == Accepted(Guest(nickname=None)))

    refused = await askback_run_tool(server, "elicited")
    assert refused.is_error and "'null' which is not a primitive type" in refused.text
    assert (await askback_run_tool(server, "asked", None, [accept()])).text == "True"


async def test_ask_puts_the_objections_of_a_validator_to_the_person(askback_run_tool: RunTool):
    server: MCPServer[Any] = MCPServer("house")
    Askback(server)

    @server.tool()
    async def elicited(ctx: Context) -> str:
        return str(await ctx.elicit("How long?", Stay))

    @server.tool()
    async def asked() -> str:
        return str((await ask("How long?", Stay)).or_stop("Not at all."))

    assert (await askback_run_tool(server, "elicited", None, [accept(nights=13)])).is_error
    run = await askback_run_tool(server, "asked", None, [accept(nights=13), accept(nights=12)])
    assert run.text == "nights=12"
    assert "does not let for thirteen nights" in run.asked[1].message


class Door(BaseModel):
    password: Annotated[str, Text(not_a_secret="the word of the day, which hangs at the door")]


class Safe(BaseModel):
    password: str


async def test_a_form_that_fishes_is_refused_and_one_that_only_looks_so_can_say_it(askback_run_tool: RunTool):
    sdk: MCPServer[Any] = MCPServer("door")
    fast: FastMCP[Any] = FastMCP("door")

    async def knock(known: bool, ctx: Any) -> str:
        answer = await ctx.elicit("Who is there?", Door if known else Safe)
        return answer.data.password

    @sdk.tool(name="knock")
    async def _knock_sdk(known: bool, ctx: Context) -> str:
        return await knock(known, ctx)

    @fast.tool(name="knock")
    async def _knock_fast(known: bool, ctx: FastMCPContext) -> str:
        return await knock(known, ctx)

    for server in (sdk, fast):
        Askback(server)
        run = await askback_run_tool(server, "knock", {"known": True}, [accept(password="mellon")])
        assert run.text == "mellon"
        run = await askback_run_tool(server, "knock", {"known": False})
        assert run.is_error and "asks for a secret" in run.text


async def test_ask_takes_an_enum_that_the_sdk_refuses(askback_run_tool: RunTool):
    class Shirt(BaseModel):
        size: Size

    server: MCPServer[Any] = MCPServer("shop")
    Askback(server)

    @server.tool()
    async def elicited(ctx: Context) -> str:
        return str(await ctx.elicit("Which?", Shirt))

    @server.tool()
    async def asked() -> str:
        return str((await ask("Which?", Shirt)).or_stop("None.").size)

    assert (await askback_run_tool(server, "elicited")).is_error
    assert (await askback_run_tool(server, "asked", None, [accept(size="small")])).text == "Size.SMALL"
