"""Tools of another server behind a proxy: what they do is theirs, whether or not the proxy has Askback."""

import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
import pytest
from fastmcp import Context, FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
from fastmcp.server.providers.proxy import FastMCPProxy, StatefulProxyClient
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitResult,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)

from askback import Askback, ask
from tests.server.hosts.fastmcp.cafe import Order, question
from tests.server.hosts.fastmcp.guests import MODES, Guest, say
from tests.support.fastmcp_http import fastmcp_served

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:The sampling capability is deprecated"),
]

SECRET = {"type": "object", "properties": {"password": {"type": "string"}}, "required": ["password"]}
PROMPT = [SamplingMessage(role="user", content=TextContent(type="text", text="A haiku, please."))]


def backend() -> FastMCP[Any]:
    """Every way to ask that the proxy passes on, and one that it knows nothing of."""
    mcp: FastMCP[Any] = FastMCP("backend")

    @mcp.tool
    async def elicit(ctx: Context) -> str:
        runs.append("elicit")
        first = await ctx.elicit("First?", Order)
        second = await ctx.elicit("Second?", Order)
        return f"{first} {second}"

    @mcp.tool
    async def own(ctx: Context) -> str | InputRequiredResult:
        runs.append("own")
        if ctx.input_responses is None:
            return InputRequiredResult(input_requests={"k": question("Own?")}, request_state="asked")
        reply = ctx.input_responses["k"]
        assert isinstance(reply, ElicitResult)
        return f"{ctx.request_state}: {(reply.content or {})['drink']}"

    @mcp.tool
    async def sample(ctx: Context) -> str:
        session, number = ctx.session, ctx.request_id
        drawn = await session.create_message(PROMPT, max_tokens=5, related_request_id=number)  # pyright: ignore[reportDeprecated] # still spoken
        assert isinstance(drawn.content, TextContent)
        return drawn.content.text

    @mcp.tool
    async def own_sample(ctx: Context) -> str | InputRequiredResult:
        if ctx.input_responses is None:
            wanted = CreateMessageRequest(params=CreateMessageRequestParams(messages=PROMPT, max_tokens=5))
            return InputRequiredResult(input_requests={"k": wanted}, request_state="asked")
        drawn = ctx.input_responses["k"]
        assert isinstance(drawn, CreateMessageResult) and isinstance(drawn.content, TextContent)
        return drawn.content.text

    @mcp.tool
    async def secret(ctx: Context) -> str:
        answer = await ctx.session.elicit_form("Password?", SECRET, ctx.request_id)
        return answer.model_dump_json(exclude_none=True)

    @mcp.tool(name="ask")
    async def asks() -> str:
        runs.append("ask")
        return f"{await ask('First?', Order)} {await ask('Second?', Order)}"

    return mcp


runs: list[str] = []
"""The bodies that the backend ran."""

TOOLS = ["elicit", "own", "sample", "own_sample", "secret", "ask"]


@asynccontextmanager
async def reached(server: FastMCP[Any], way: str) -> AsyncGenerator[Any]:
    """What a proxy is made of to reach this server: itself, in its own process, or its URL."""
    if way == "in process":
        yield server
        return
    async with fastmcp_served(server) as url:
        yield url


def person(message: str) -> dict[str, str]:
    return {"password": "hunter2"} if "Password" in message else {"drink": "tea"}


class Heard(NamedTuple):
    """What the caller gets, what the person was asked, and which bodies the backend ran."""

    said: str
    asked: list[str]
    ran: list[str]


async def call_all(server: FastMCP[Any], mode: str, tools: Sequence[str]) -> list[Heard]:
    """One after the other."""
    heard: list[Heard] = []
    guest = Guest(person)
    async with guest.at(server, mode) as client:
        for tool in tools:
            guest.asked, said = [], ""
            runs.clear()
            with anyio.fail_after(3):
                try:
                    said = await say(client, tool)
                except MCPError as error:
                    said = f"{error.code} {error.message}"
            heard.append(Heard(said, guest.asked, list(runs)))
    return heard


async def with_and_without(
    server: FastMCP[Any],
    way: str,
    mode: str,
    tools: Sequence[str],
    *,
    mounted: bool = False,
    backend_mode: str | None = None,
) -> tuple[list[Heard], list[Heard]]:
    """What is heard through a proxy that has Askback, and through one that has not."""
    found: list[list[Heard]] = []
    async with reached(server, way) as target:
        for is_asking in (True, False):
            front = create_proxy(target, mode=backend_mode)
            if mounted:
                parent: FastMCP[Any] = FastMCP("mall")
                parent.mount(front)
                front = parent
            if is_asking:
                Askback(front)
            found.append(await call_all(front, mode, tools))
    with_it, without = found
    return with_it, without


everywhere = pytest.mark.parametrize(
    ("way", "mode"), [("in process", "legacy"), ("in process", "2026-07-28"), ("http", "2026-07-28")]
)


@everywhere
async def test_a_proxied_tool_does_what_it_did_before_the_proxy_had_askback(way: str, mode: str):
    with_it, without = await with_and_without(backend(), way, mode, TOOLS)
    assert with_it == without


@everywhere
async def test_a_backend_with_askback_asks_through_a_proxy_with_askback_as_through_any(way: str, mode: str):
    server = backend()
    Askback(server)
    with_it, without = await with_and_without(server, way, mode, TOOLS)
    assert with_it == without


@pytest.mark.parametrize("mode", MODES)
async def test_a_backend_with_askback_asks_on_both_eras_behind_a_proxy(mode: str):
    server = backend()
    Askback(server)
    async with reached(server, "http") as url:
        elicit, own, sample, ask = await call_all(
            create_proxy(url), mode, ["elicit", "own", "own_sample", "ask"]
        )
    for heard in (elicit, ask):
        assert heard.said.count("tea") == 2
        assert heard.asked == ["First?", "Second?"]
    assert (own.said, own.asked) == ("asked: tea", ["Own?"])
    assert sample.said == "sampled"


@pytest.mark.parametrize(
    ("way", "mode", "tool"), [("in process", "legacy", "elicit"), ("http", "2026-07-28", "own")]
)
async def test_a_mounted_proxy_is_left_alone_too(way: str, mode: str, tool: str):
    with_it, without = await with_and_without(backend(), way, mode, [tool], mounted=True)
    assert with_it == without
    assert "tea" in with_it[0].said


async def test_a_tool_of_a_backend_that_speaks_2025_alone_is_never_run_again_for_a_client_of_2026():
    with_it, without = await with_and_without(
        backend(), "http", "2026-07-28", ["elicit"], backend_mode="legacy"
    )
    assert with_it == without
    assert with_it[0].ran == ["elicit"]


async def test_a_reply_to_a_proxied_question_is_the_backends_to_judge():
    server: FastMCP[Any] = FastMCP("backend")

    @server.tool
    async def number(ctx: Context) -> str:
        schema = {"type": "object", "properties": {"number": {"type": "integer", "minimum": 1}}}
        answer = await ctx.session.elicit_form("Which?", schema, ctx.request_id)
        return answer.model_dump_json(exclude_none=True)

    async with reached(server, "http") as url:
        front = create_proxy(url)
        Askback(front)
        guest = Guest(lambda _: {"number": 0})
        async with guest.at(front, "legacy") as client:
            said = await say(client, "number")
    assert said == '{"action":"accept","content":{"number":0}}'
    assert guest.asked == ["Which?"]


BACKEND = f"from {__name__} import backend; backend().run(show_banner=False)"


async def test_a_proxy_that_keeps_its_connection_asks_in_every_call():
    transport = StdioTransport(sys.executable, ["-c", BACKEND])
    client: StatefulProxyClient[StdioTransport] = StatefulProxyClient(transport)
    parent: FastMCP[Any] = FastMCP("mall")
    parent.mount(FastMCPProxy(client_factory=client.new_stateful))
    Askback(parent)
    guest = Guest(person)
    with anyio.fail_after(20):
        async with guest.at(parent, "legacy") as caller:
            first, second = await say(caller, "elicit"), await say(caller, "elicit")
    assert first == second
    assert guest.asked == ["First?", "Second?"] * 2


@pytest.mark.parametrize("mode", MODES)
async def test_the_proxys_own_tools_ask_beside_the_proxied_ones(mode: str):
    front = create_proxy(backend())
    Askback(front)

    @front.tool
    async def local() -> str:
        return f"{await ask('Here?', Order)}"

    (heard,) = await call_all(front, mode, ["local"])
    assert "tea" in heard.said
    assert heard.asked == ["Here?"]
