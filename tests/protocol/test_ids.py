"""Ids of questions: a call that is delivered twice asks under the same ones, and nothing else does."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    TextContent,
    jsonrpc_message_adapter,
)

from askback import Askback, ask, ask_all, visit
from askback.server.hosts import lowlevel_of
from askback.testing import REVISIONS, accept, raw, run_tool
from tests.support.tool_servers import HOSTS, mcpserver

JULY, NOVEMBER = "2026-07-28", "2025-11-25"
CAPABILITIES: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
GUEST = {"name": "guest", "version": "1"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": JULY,
    "io.modelcontextprotocol/clientInfo": GUEST,
    "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}}


class Guest:
    """A client that chooses the ids of its requests, and hears every message in order."""

    def __init__(self, revision: str, streams: Any) -> None:
        self.revision = revision
        self._read, self._write = streams

    async def send(self, **message: Any) -> None:
        said = jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message}, by_name=False)
        await self._write.send(SessionMessage(said))

    async def hear(self) -> dict[str, Any]:
        with anyio.fail_after(10):
            heard = await self._read.receive()
        return heard.message.model_dump(by_alias=True, exclude_none=True)

    async def call(self, request: int | str = 7, **fields: Any) -> None:
        extra = {"_meta": ENVELOPE} if self.revision == JULY else {}
        params = {"name": "t", "arguments": {}, **extra, **fields}
        await self.send(id=request, method="tools/call", params=params)

    async def ids(self) -> dict[str, str]:
        """Of the questions in the next message, by their keys; on the push era there is one, and no key."""
        heard = await self.hear()
        if "params" in heard:
            return {"": heard["params"]["_meta"]["askback/question"]}
        notes = heard["result"]["_meta"]["askback/questions"]
        assert notes.keys() == heard["result"]["inputRequests"].keys()
        return {key: note["id"] for key, note in notes.items()}


@asynccontextmanager
async def guest_of(server: object, revision: str) -> AsyncGenerator[Guest]:
    lowlevel = lowlevel_of(server)
    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as tasks:
        tasks.start_soon(lowlevel.run, *theirs, lowlevel.create_initialization_options())
        guest = Guest(revision, ours)
        if revision != JULY:
            hello = {"protocolVersion": revision, "capabilities": CAPABILITIES, "clientInfo": GUEST}
            await guest.send(id=0, method="initialize", params=hello)
            await guest.hear()
            await guest.send(method="notifications/initialized")
        yield guest
        for stream in ours:  # else the server waits for somebody to hear that its question is withdrawn
            await stream.aclose()
        tasks.cancel_scope.cancel()


async def name() -> str:
    return str(await ask("Name?", str))


async def ids_of(server: object, revision: str, request: int | str = 7, **fields: Any) -> dict[str, str]:
    async with guest_of(server, revision) as guest:
        await guest.call(request, **fields)
        return await guest.ids()


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return HOSTS[request.param]


async def test_a_call_that_reaches_two_workers_asks_under_one_id(host: Callable[..., Any], revision: str):
    first, second = await ids_of(host(name), revision), await ids_of(host(name), revision)
    assert first == second
    assert all(len(id) == 24 for id in first.values())


async def test_a_call_that_comes_twice_at_once_asks_under_one_id(revision: str):
    async with guest_of(mcpserver(name), revision) as guest:
        await guest.call()
        await guest.call()
        assert await guest.ids() == await guest.ids()


@pytest.mark.parametrize(
    "fields", [{"request": 8}, {"request": "7"}, {"arguments": {"who": "you"}}], ids=["id", "text", "words"]
)
async def test_another_call_asks_under_another(revision: str, fields: Mapping[str, Any]):
    server = mcpserver(name)
    assert await ids_of(server, revision) != await ids_of(server, revision, **fields)


async def test_another_caller_and_another_server_ask_under_others():
    def server(caller: str, **options: Any) -> Any:
        def told(ctx: object) -> str:
            return caller

        return mcpserver(name, caller=told, **options)

    ids = [await ids_of(one, JULY) for one in (server("a"), server("a"), server("b"), HOSTS["mounted"](name))]
    assert ids[0] == ids[1]
    assert len({id["ask-1"] for id in ids}) == 3


async def test_each_question_of_a_round_has_its_own():
    async def both() -> str:
        return str(await ask_all({"soup": ("Soup?", str), "main": ("Main?", str)}))

    ids = await ids_of(mcpserver(both), JULY)
    assert ids.keys() == {"soup", "main"}
    assert len(set(ids.values())) == 2


def sent_ids(run: Any) -> list[str]:
    found: list[str] = []
    for line in run.transcript:
        if line.what == "elicitation/create":
            found.append(line.body["_meta"]["askback/question"])
        if line.what == "result" and "inputRequests" in line.body:
            found += [note["id"] for note in line.body["_meta"]["askback/questions"].values()]
    return found


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("always_replay", [True, False])
async def test_what_is_asked_again_has_another(revision: str, always_replay: bool):
    answers = [raw({"action": "accept", "content": {"value": 5}}), accept("Ada")]
    run = await run_tool(mcpserver(name), "t", None, answers, revision=revision, always_replay=always_replay)
    assert len(set(sent_ids(run))) == 2


@pytest.mark.parametrize("revision", [NOVEMBER, JULY])
async def test_a_visit_has_one_too(revision: str):
    async def sign() -> str:
        return str(await visit("Please sign.", "https://sign.example/{id}"))

    assert await ids_of(mcpserver(sign), revision) == await ids_of(mcpserver(sign), revision)


def stubborn() -> Server[Any]:
    """Returns a round of its own until the name is to its taste, always in the same words."""

    async def call(ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> Any:
        given = (params.input_responses or {}).get("name")
        if getattr(given, "content", None) == {"name": "Ada"}:
            return CallToolResult(content=[TextContent(type="text", text="hello")])
        form = ElicitRequestFormParams(message="Name?", requested_schema=NAME)
        return InputRequiredResult(input_requests={"name": ElicitRequest(params=form)}, request_state="s")

    server: Server[Any] = Server("stubborn", on_call_tool=call)
    Askback(server)
    return server


@pytest.mark.parametrize("revision", REVISIONS)
async def test_rounds_that_a_body_returns_have_ids_and_are_no_copies_of_each_other(revision: str):
    answers = [accept(name="Bob"), accept(name="Ada")]
    run = await run_tool(stubborn(), "t", None, answers, revision=revision)
    assert run.text == "hello"
    assert len(set(sent_ids(run))) == 2
    assert await ids_of(stubborn(), revision) == await ids_of(stubborn(), revision)


async def test_an_authors_own_note_called_id_gives_way_in_a_round():
    async def noted() -> str:
        return str(await ask("Name?", str, meta={"id": "mine", "icon": "person"}))

    async with guest_of(mcpserver(noted), JULY) as guest:
        await guest.call()
        (note,) = (await guest.hear())["result"]["_meta"]["askback/questions"].values()
    assert note["icon"] == "person"
    assert note["id"] != "mine"
