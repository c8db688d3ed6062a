"""2025 clients behind a plain load balancer: each request reaches another worker, and nobody notices."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import mcp_types as types
import pytest
from fastmcp import Client as FastClient
from fastmcp.client.transports import StreamableHttpTransport
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.server.forwarding.crew import (
    JUNE,
    LATEST,
    NOVEMBER,
    PATIENCE,
    InTurn,
    Posting,
    crew,
    messages,
    text_of,
)
from tests.server.forwarding.travel import HOSTS, Host

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> Host:
    return request.param


async def five(context: Any, params: Any, *_more: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"value": 5})


def sdk(turns: InTurn, url: str, revision: str) -> AbstractAsyncContextManager[ClientSession]:
    @asynccontextmanager
    async def connected() -> AsyncGenerator[ClientSession]:
        hello = types.InitializeRequestParams(
            protocol_version=revision,
            capabilities=types.ClientCapabilities(elicitation=types.ElicitationCapability()),
            client_info=types.Implementation(name="sdk", version="1"),
        )
        async with (
            httpx2.AsyncClient(transport=turns, timeout=PATIENCE) as http,
            streamable_http_client(url, http_client=http) as (read, write),
            ClientSession(read, write, elicitation_callback=five) as session,
        ):
            request = types.InitializeRequest(params=hello)
            session.adopt(await session.send_request(request, types.InitializeResult))
            await session.send_notification(types.InitializedNotification())
            yield session

    return connected()


@pytest.mark.parametrize("revision", [JUNE, NOVEMBER])
async def test_the_sdks_client_is_asked_and_answers_over_whichever_workers(
    host: Host, revision: str, tmp_path: Path
):
    async with crew(host, tmp_path) as urls:
        turns = InTurn(urls)
        async with sdk(turns, urls[0], revision) as session:
            with anyio.fail_after(PATIENCE):
                for _ in range(3):
                    result = await session.call_tool("book", {"city": "Rome"})
                    assert str(result.content).count("5 to Rome") == 1
    assert len(turns.statuses) > 6 and set(turns.statuses) <= {200, 202}


async def test_fastmcps_client_is_asked_and_answers_over_whichever_workers(host: Host, tmp_path: Path):
    async with crew(host, tmp_path) as urls:
        turns = InTurn(urls)

        def through_turns(headers: Any = None, auth: Any = None, **_more: Any) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(transport=turns, headers=headers, timeout=PATIENCE, auth=auth)

        transport = StreamableHttpTransport(urls[0], httpx_client_factory=cast("Any", through_turns))
        async with FastClient(transport, elicitation_handler=five, mode="legacy") as client:
            with anyio.fail_after(PATIENCE):
                for _ in range(3):
                    result = await client.call_tool("book", {"city": "Rome"})
                    assert str(result.content).count("5 to Rome") == 1
    assert len(turns.statuses) > 6 and set(turns.statuses) <= {200, 202}


async def test_the_answer_reaches_the_call_through_another_worker(
    host: Host, tmp_path: Path, http: httpx2.AsyncClient
):
    async with crew(host, tmp_path) as (first, second, third):
        client = Posting(http)
        await client.begin(first)
        with anyio.fail_after(PATIENCE):
            async with client.asking(second, "Oslo") as response:
                said = messages(response)
                question = await anext(said)
                content = {"action": "accept", "content": {"value": 2}}
                told = await client.tell(third, id=question["id"], result=content)
                assert told.status_code == 202
                assert "2 to Oslo" in str(await anext(said))


async def test_the_sessions_own_stream_comes_through_another_worker_as_it_is_said(
    host: Host, tmp_path: Path, http: httpx2.AsyncClient
):
    async with crew(host, tmp_path) as (first, second, third):
        client = Posting(http)
        await client.begin(first)
        with anyio.fail_after(PATIENCE):
            async with client.stream("GET", second) as response:
                assert response.headers["content-type"].startswith("text/event-stream")
                said = messages(response)
                for _ in range(2):
                    assert text_of(await client.call(third, "bell")) == "rung"
                    heard = await anext(said)
                    assert heard["method"] == "notifications/tools/list_changed"
                # One such stream a session has, and a second is refused as at the worker itself.
                again = await http.get(third, headers=client.headers)
                assert again.status_code == 409


async def test_a_session_that_was_ended_through_another_worker_is_gone_for_all(
    tmp_path: Path, http: httpx2.AsyncClient
):
    async with crew("MCPServer", tmp_path) as urls:
        client = Posting(http)
        await client.begin(urls[0])
        assert (await client.end(urls[1])).status_code == 200
        answers = [await client.call(url, "bell") for url in urls]
    assert [answer.status_code for answer in answers] == [404, 404, 404]


async def test_an_unknown_session_gets_the_sdks_own_answer(tmp_path: Path, http: httpx2.AsyncClient):
    client = Posting(http, **{"mcp-session-id": "0" * 32})
    async with (
        crew("MCPServer", tmp_path, count=1) as (alone,),
        crew("MCPServer", tmp_path, count=1, keys=None) as (bare,),
    ):
        ours, theirs = await client.call(alone, "bell"), await client.call(bare, "bell")
    assert (ours.status_code, ours.content) == (
        theirs.status_code,
        theirs.content,
    ) and ours.status_code == 404


async def test_answers_that_are_no_streams_are_forwarded_too(tmp_path: Path, http: httpx2.AsyncClient):
    async with crew("MCPServer", tmp_path, served={"json_response": True}) as (first, second, third):
        client = Posting(http)
        await client.begin(first)
        for url in (first, second, third):
            answer = await client.call(url, "bell")
            assert answer.headers["content-type"] == "application/json"
            assert text_of(answer) == "rung"


async def test_what_a_worker_refuses_is_refused_alike_through_another(
    tmp_path: Path, http: httpx2.AsyncClient
):
    async with crew("MCPServer", tmp_path) as (first, second, _third):
        client = Posting(http)
        await client.begin(first)
        headers = {**client.headers, "content-type": "application/json"}
        for body in (b"{", b'{"jsonrpc": "1.0"}', b"[]", b"x" * 5_000_000):
            answers = [await http.post(url, content=body, headers=headers) for url in (first, second)]
            assert len({(answer.status_code, answer.content) for answer in answers}) == 1
            assert answers[0].status_code in {400, 413}
        not_acceptable = {**client.headers, "accept": "text/html"}
        answers = [await http.get(url, headers=not_acceptable) for url in (first, second)]
        assert [answer.status_code for answer in answers] == [406, 406]


@pytest.mark.parametrize("options", [{"keys": None}, {"store": "memory:"}], ids=["keys", "store"])
async def test_without_keys_or_a_shared_store_sessions_stay_with_their_worker(
    options: dict[str, Any], tmp_path: Path, http: httpx2.AsyncClient
):
    async with crew("MCPServer", tmp_path, **options) as (first, second, _third):
        client = Posting(http)
        await client.begin(first)
        assert text_of(await client.call(first, "bell")) == "rung"
        assert (await client.call(second, "bell")).status_code == 404


async def test_stateless_servers_and_later_revisions_know_no_sessions(
    tmp_path: Path, http: httpx2.AsyncClient
):
    async with crew("MCPServer", tmp_path, served={"stateless_http": True}) as (first, second, _third):
        client = Posting(http)
        answer = await client.begin(first)
        assert "mcp-session-id" not in answer.headers
        assert (await client.call(second, "bell")).status_code == 200
    async with crew("MCPServer", tmp_path) as (first, _second, _third):
        client = Posting(http, **{"mcp-protocol-version": LATEST, "mcp-session-id": "0" * 32})
        answer = await client.post(first, "server/discover")
        assert answer.status_code != 404
