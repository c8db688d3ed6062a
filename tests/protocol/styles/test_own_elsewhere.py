"""Prompts and resources that return their own questions."""

from typing import Any

import pytest
from fastmcp import Context as FastMCPContext
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import (
    ElicitResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    InputResponses,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    TextResourceContents,
)

from askback import Askback, ask, once
from askback.testing import Run, accept, decline, get_prompt, read_resource
from askback.testing.script import Answers
from tests.protocol.styles.conftest import Way
from tests.protocol.styles.servers import End, asking, form

pytestmark = pytest.mark.anyio

LowLevelContext = ServerRequestContext[Any, Any]

URI = "seat://ada"

done: list[str] = []


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    done.clear()


async def find_seat(guest: str, state: str | None, replies: InputResponses | None) -> End:
    """Two rounds of its own, a question of ours after each, and an effect."""
    if state is None:
        return asking(seat=form(f"Seat of {guest}?"), state="asked")
    sure = await ask("Sure?", bool)
    await once("find", done.append, guest)
    if state == "asked":
        return asking(seat=form("And another?"), state=f"{_row(replies)}")
    return f"{guest} {state} {_row(replies)} {sure} {await ask('Really?', bool)}"


def _row(replies: InputResponses | None) -> object:
    reply = (replies or {})["seat"]
    assert isinstance(reply, ElicitResult)
    return (reply.content or {}).get("row", reply.action)


def mcpserver() -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("test")
    Askback(server)

    @server.prompt()
    async def seat(guest: str, ctx: Context) -> End:
        return await find_seat(guest, ctx.request_state, ctx.input_responses)

    @server.resource("seat://{guest}")
    async def seat_of(guest: str, ctx: Context) -> End:
        return await find_seat(guest, ctx.request_state, ctx.input_responses)

    @server.resource("static://seat")
    async def any_seat() -> Any:
        return asking(seat=form("Seat?"))

    return server


def lowlevel() -> Server[Any]:
    async def prompt(
        _ctx: LowLevelContext, params: GetPromptRequestParams
    ) -> GetPromptResult | InputRequiredResult:
        guest = (params.arguments or {})["guest"]
        end = await find_seat(guest, params.request_state, params.input_responses)
        if not isinstance(end, str):
            return end
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=end))])

    async def read(
        _ctx: LowLevelContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult | InputRequiredResult:
        guest = str(params.uri).removeprefix("seat://")
        end = await find_seat(guest, params.request_state, params.input_responses)
        if not isinstance(end, str):
            return end
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, text=end)])

    server: Server[Any] = Server("test", on_get_prompt=prompt, on_read_resource=read)
    Askback(server)
    return server


def fastmcp() -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("test")
    Askback(server)

    @server.prompt
    async def seat(guest: str, ctx: FastMCPContext) -> Any:
        return await find_seat(guest, ctx.request_state, ctx.input_responses)

    @server.resource("seat://{guest}")
    async def seat_of(guest: str, ctx: FastMCPContext) -> Any:
        return await find_seat(guest, ctx.request_state, ctx.input_responses)

    return server


HOSTS = {"MCPServer": mcpserver, "Server": lowlevel, "FastMCP": fastmcp}
ANSWERS: Answers = [
    accept(row=1, side="aisle"),
    accept(True),
    accept(row=2, side="aisle"),
    decline(),
]


def check(run: Run) -> None:
    assert run.text == "ada 1 2 Accepted(value=True) Declined()"
    messages = [asked.message for asked in run.asked]
    assert messages == ["Seat of ada?", "Sure?", "And another?", "Really?"]
    assert done == ["ada"]


@pytest.mark.parametrize("host", HOSTS)
async def test_a_prompt_is_served_on_every_revision(host: str, way: Way):
    revision, always_replay = way
    arguments = {"guest": "ada"}
    check(
        await get_prompt(
            HOSTS[host](), "seat", arguments, ANSWERS, revision=revision, always_replay=always_replay
        )
    )


@pytest.mark.parametrize("host", HOSTS)
async def test_a_resource_is_served_on_every_revision(host: str, way: Way):
    revision, always_replay = way
    check(await read_resource(HOSTS[host](), URI, ANSWERS, revision=revision, always_replay=always_replay))


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_where_nobody_can_be_asked_they_end_in_an_error(revision: str):
    for call in (
        get_prompt(mcpserver(), "seat", {"guest": "ada"}, revision=revision, capabilities={}),
        read_resource(mcpserver(), URI, revision=revision, capabilities={}),
    ):
        with pytest.raises(MCPError, match="did not declare that it can show a form"):
            await call


async def test_a_static_resource_of_the_sdk_has_no_such_rounds(revision: str):
    """It takes no context, so it could never read the replies; the SDK says so in its log and fails."""
    with pytest.raises(MCPError, match="Error reading resource static://seat"):
        await read_resource(mcpserver(), "static://seat", revision=revision)
