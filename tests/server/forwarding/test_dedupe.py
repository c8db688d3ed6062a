"""A proxy that tries again delivers a request twice: it is run once, and whoever still waits gets its answer."""

import json
import time
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from askback.server.forwarding import dedupe
from askback.server.forwarding.directory import SessionDirectory
from askback.stores import SQLiteStore
from tests.server.forwarding.crew import PATIENCE, Posting, crew, messages, text_of
from tests.support.stores.cut import wire_to

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ACCEPT = {"action": "accept", "content": {"value": 3}}


def call(tool: str, number: int, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.fixture
def client(http: httpx2.AsyncClient) -> Posting:
    # A proxy has one name for all workers.
    return Posting(http, host="127.0.0.1:80")


async def test_a_copy_takes_over_where_the_worker_in_between_is_gone(tmp_path: Path, client: Posting):
    async with crew("MCPServer", tmp_path) as (first, second, third):
        await client.begin(first)
        asking = call("book", 70, city="Rome")
        with anyio.fail_after(PATIENCE):
            async with client.stream("POST", second, json=asking) as response:
                question = await anext(messages(response))
            for url in (third, first):
                async with client.stream("POST", url, json=asking) as response:
                    said = messages(response)
                    assert await anext(said) == question
            async with client.stream("POST", third, json=asking) as response:
                said = messages(response)
                assert await anext(said) == question
                await client.tell(second, id=question["id"], result=ACCEPT)
                assert "3 to Rome" in str(await anext(said))
                assert [message async for message in said] == []


@pytest.mark.parametrize("method", [["x"], {"x": 1}, 7], ids=["list", "object", "number"])
async def test_a_method_that_is_no_text_is_the_clients_mistake(method: Any, tmp_path: Path, client: Posting):
    async with crew("MCPServer", tmp_path, count=2) as urls:
        await client.begin(urls[0])
        assert [(await client.tell(url, id=1, method=method)).status_code for url in urls] == [400, 400]


async def test_a_call_whose_connection_between_workers_breaks_is_made_again_and_run_once(
    tmp_path: Path, client: Posting
):
    register = SessionDirectory(SQLiteStore(tmp_path / "shared.db"), clock=time.time)
    async with crew("MCPServer", tmp_path, count=2) as (first, second):
        await client.begin(first)
        id = client.headers["mcp-session-id"]
        owner = await register.find(id)
        assert owner is not None
        async with wire_to(httpx2.URL(owner.address).port or 0) as wire:
            await register.enter(id, owner._replace(address=f"http://127.0.0.1:{wire.port}"))
            assert text_of(await client.call(second, "bell")) == "rung"
            wire.cut_at(b"POST")
            assert text_of(await client.call(second, "bell")) == "rung"
            assert wire.cuts == 1
        assert text_of(await client.call(first, "rung")) == "2"


async def test_a_copy_of_what_was_just_answered_gets_the_same(tmp_path: Path, client: Posting):
    async with crew("MCPServer", tmp_path) as urls:
        await client.begin(urls[0])
        answers = [await client.tell(url, **call("bell", 71)) for url in (urls[1], *urls)]
        assert [text_of(answer) for answer in answers] == ["rung"] * 4
        assert len({answer.content for answer in answers}) == 1
        assert text_of(await client.call(urls[2], "rung")) == "1"


@pytest.mark.parametrize("changed", [{"number": 73}, {"header": "another"}], ids=["id", "headers"])
async def test_what_differs_at_all_is_another_request(
    changed: dict[str, Any], tmp_path: Path, client: Posting
):
    async with crew("MCPServer", tmp_path) as urls:
        await client.begin(urls[0])
        await client.tell(urls[1], **call("bell", 72))
        client.headers["x-header"] = changed.get("header", "")
        await client.tell(urls[2], **call("bell", changed.get("number", 72)))
        assert text_of(await client.call(urls[0], "rung")) == "2"


async def test_what_is_too_long_to_be_kept_is_not_run_again_either(
    tmp_path: Path, client: Posting, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(dedupe, "MAX_RESPONSE_BYTES", 10)
    async with crew("MCPServer", tmp_path) as urls:
        await client.begin(urls[0])
        first, copy = [await client.tell(url, **call("bell", 74)) for url in urls[1:]]
        assert text_of(first) == "rung"
        assert copy.status_code == 409 and "delivered before" in copy.json()["error"]["message"]
        assert text_of(await client.call(urls[0], "rung")) == "1"


async def test_answers_are_kept_for_a_moment_only(
    tmp_path: Path, client: Posting, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(dedupe, "MAX_FINISHED_BYTES", 0)
    async with crew("MCPServer", tmp_path) as urls:
        await client.begin(urls[0])
        for url in urls:
            await client.tell(url, **call("bell", 75))
        assert text_of(await client.call(urls[0], "rung")) == "3"


async def test_a_stream_that_broke_is_taken_up_again_through_another_worker(tmp_path: Path, client: Posting):
    async with crew("MCPServer", tmp_path) as (first, second, third):
        await client.begin(first)
        with anyio.fail_after(PATIENCE):
            async with client.stream("POST", second, json=call("book", 76, city="Rome")) as response:
                seen, question = "", None
                async for line in response.aiter_lines():
                    seen = line.removeprefix("id: ") if line.startswith("id: ") else seen
                    if "elicitation/create" in line:
                        question = json.loads(line.removeprefix("data: "))
                    if question is not None and not line:
                        break
            assert question is not None
            await client.tell(second, id=question["id"], result=ACCEPT)
            async with client.stream("GET", third, headers={"last-event-id": seen}) as response:
                assert "3 to Rome" in str(await anext(messages(response)))
