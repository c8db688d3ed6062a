"""A first request of a call that a proxy delivers to a second worker, since the first one closed the connection."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.server import MCPServer

from askback import Askback
from askback.stores import SQLiteStore
from tests.workers.crew import LATEST, serving
from tests.workers.travel import KEYS

pytestmark = pytest.mark.anyio

CALL: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "send",
        "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": LATEST,
            "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}
HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": LATEST,
    "mcp-method": "tools/call",
    "mcp-name": "send",
}


@asynccontextmanager
async def two_workers(folder: Path, sent: list[str]) -> AsyncGenerator[list[str]]:
    """A tool that acts without asking, on two workers with one store."""

    async def send() -> str:
        sent.append("a letter")
        return "sent"

    apps: list[Any] = []
    for _ in range(2):
        server: MCPServer[Any] = MCPServer("post")
        server.add_tool(send)
        Askback(server, keys=KEYS, store=SQLiteStore(folder / "shared.db"))
        apps.append(server.streamable_http_app())
    async with serving(apps[0]) as first, serving(apps[1]) as second:
        yield [first, second]


async def deliver(http: httpx2.AsyncClient, urls: list[str], **headers: str) -> list[dict[str, Any]]:
    answers = [await http.post(url, json=CALL, headers={**HEADERS, **headers}) for url in urls]
    return [answer.json() for answer in answers]


async def test_a_request_with_the_id_of_one_before_is_not_run_again(tmp_path: Path, http: httpx2.AsyncClient):
    sent: list[str] = []
    async with two_workers(tmp_path, sent) as urls:
        first, second = await deliver(http, urls, **{"askback-delivery": "a1"})
        (third,) = await deliver(http, urls[1:], **{"askback-delivery": "b2"})
    assert first["result"]["content"][0]["text"] == third["result"]["content"][0]["text"] == "sent"
    assert second["error"]["data"] == {"reason": "delivered_twice"}
    assert "Find out what it did" in second["error"]["message"]
    assert len(sent) == 2


async def test_without_an_id_from_the_proxy_it_is_run_as_often_as_it_comes(
    tmp_path: Path, http: httpx2.AsyncClient
):
    """What the id is for: nothing else tells a copy of a first request from a second call."""
    sent: list[str] = []
    async with two_workers(tmp_path, sent) as urls:
        await deliver(http, urls)
    assert len(sent) == 2
