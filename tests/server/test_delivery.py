"""A first request of a call that a proxy delivers to a second worker, since the first one closed the connection."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.abc import SocketAttribute, SocketStream
from fastmcp import Context, FastMCP
from fastmcp.server import create_proxy
from mcp.server import MCPServer

from askback import Askback
from askback.server.delivery import DELIVERY_LIFE
from askback.stores import MemoryStore, SQLiteStore
from scripts.services import nginx
from tests.server.forwarding.crew import LATEST, crew, serving, text_of
from tests.server.forwarding.travel import KEYS, app_of, travel
from tests.support.paths import ROOT
from tests.support.services import found

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


RECIPE = ROOT / "examples" / "cluster" / "nginx.conf"


def named(tool: Any) -> Any:
    server: MCPServer[Any] = MCPServer("post")
    server.add_tool(tool)
    return server


def unnamed(tool: Any) -> Any:
    """FastMCP makes a name up, another one in each worker."""
    server: FastMCP[Any] = FastMCP()
    server.tool(tool)
    return server


@asynccontextmanager
async def two_workers(
    folder: Path, sent: list[str], make: Callable[[Any], Any] = named
) -> AsyncGenerator[list[str]]:
    """A tool that acts without asking, on two workers with one store."""

    async def send(text: str = "a letter") -> str:
        sent.append(text)
        return "sent"

    async with AsyncExitStack() as stack:
        urls: list[str] = []
        for _ in range(2):
            server = make(send)
            store = SQLiteStore(folder / "shared.db")
            stack.push_async_callback(store.close)
            Askback(server, keys=KEYS, store=store)
            app = app_of("FastMCP" if isinstance(server, FastMCP) else "MCPServer", server)
            urls.append(await stack.enter_async_context(serving(app)))
        yield urls


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


async def test_an_empty_header_is_no_id(tmp_path: Path, http: httpx2.AsyncClient):
    sent: list[str] = []
    async with two_workers(tmp_path, sent) as urls:
        await deliver(http, urls, **{"askback-delivery": ""})
    assert len(sent) == 2


async def test_workers_of_a_server_without_a_name_know_each_others_deliveries(
    tmp_path: Path, http: httpx2.AsyncClient
):
    sent: list[str] = []
    async with two_workers(tmp_path, sent, make=unnamed) as urls:
        for url in urls:
            await http.post(url, json=CALL, headers={**HEADERS, "askback-delivery": "a1"})
    assert len(sent) == 1


async def test_one_id_on_different_requests_runs_each_of_them(tmp_path: Path, http: httpx2.AsyncClient):
    sent: list[str] = []
    letter, card = ({**CALL["params"], "arguments": {"text": text}} for text in ("letter", "card"))
    headers = {**HEADERS, "askback-delivery": "a1"}
    async with two_workers(tmp_path, sent) as urls:
        for told in ({"params": letter}, {"params": card}, {"params": letter, "id": 2}):
            for url in urls:
                await http.post(url, json={**CALL, **told}, headers=headers)
    assert sent == ["letter", "card", "letter"]


async def test_one_id_of_two_callers_is_two_deliveries(tmp_path: Path, http: httpx2.AsyncClient):
    """Nobody has somebody else's call refused by sending it first."""
    call = {**CALL, "params": {**CALL["params"], "name": "rung"}}
    async with crew("MCPServer", tmp_path, count=2, is_protected=True) as urls:
        answers = [
            await http.post(
                url,
                json=call,
                headers={
                    **HEADERS,
                    "mcp-name": "rung",
                    "askback-delivery": "a1",
                    "authorization": f"Bearer {bearer}",
                },
            )
            for bearer, url in (("bob", urls[0]), ("ada", urls[1]))
        ]
    assert [text_of(answer) for answer in answers] == ["0", "0"]


async def test_a_server_that_forwards_its_headers_may_call_twice(tmp_path: Path, http: httpx2.AsyncClient):
    """FastMCP's proxies send what they got, so both calls come with the id of one delivery."""
    sent: list[str] = []
    async with two_workers(tmp_path, sent) as (backend, _):
        front: FastMCP[Any] = FastMCP("front")
        front.mount(create_proxy(backend))

        @front.tool
        async def both(ctx: Context) -> str:
            for text in ("letter", "card"):
                await ctx.fastmcp.call_tool("send", {"text": text})
            return "both"

        call = {**CALL, "params": {**CALL["params"], "name": "both"}}
        async with serving(front.http_app()) as url:
            headers = {**HEADERS, "mcp-name": "both", "askback-delivery": "a1"}
            answer = await http.post(url, json=call, headers=headers)
    assert text_of(answer) == "both" and sent == ["letter", "card"]


class Spending(SQLiteStore):
    """Notes for how long each key is to be known."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.seconds: list[float] = []

    async def spend(self, key: str, *, until: float) -> bool:
        self.seconds.append(until - time.time())
        return await super().spend(key, until=until)


class SpendingMemory(MemoryStore):
    """The same in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    async def spend(self, key: str, *, until: float) -> bool:
        self.seconds.append(until - time.time())
        return await super().spend(key, until=until)


async def spent_by(store: Spending | SpendingMemory, http: httpx2.AsyncClient) -> list[float]:
    async with serving(app_of("MCPServer", travel("MCPServer", store=store))) as url:
        call = {**CALL, "params": {**CALL["params"], "name": "rung"}}
        headers = {**HEADERS, "mcp-name": "rung", "askback-delivery": "a1"}
        assert text_of(await http.post(url, json=call, headers=headers)) == "0"
    await store.close()
    return store.seconds


async def test_a_store_of_one_process_gets_no_rows_of_deliveries(http: httpx2.AsyncClient):
    """Else any client could fill the memory, and no second worker could use them."""
    assert await spent_by(SpendingMemory(), http) == []


async def test_a_row_is_kept_for_as_long_as_the_proxy_may_send_again(
    tmp_path: Path, http: httpx2.AsyncClient
):
    assert f"proxy_next_upstream_timeout {DELIVERY_LIFE - 120:.0f}s;" in RECIPE.read_text()
    (seconds,) = await spent_by(Spending(tmp_path / "shared.db"), http)
    assert DELIVERY_LIFE - 10 < seconds <= DELIVERY_LIFE


@pytest.mark.services
@pytest.mark.parametrize(
    ("seconds", "limit", "times"), [(0.0, "60s", 3), (0.5, "200ms", 1)], ids=["in time", "too late"]
)
async def test_nginx_sends_nothing_again_after_its_time(
    seconds: float, limit: str, times: int, tmp_path: Path, http: httpx2.AsyncClient
):
    """What the life of a row stands on: workers that hang up, and a limit that they overstep or not."""
    came: list[bytes] = []

    async def hang_up(stream: SocketStream) -> None:
        async with stream:
            came.append(await stream.receive())
            await anyio.sleep(seconds)

    recipe = tmp_path / "nginx.conf"
    recipe.write_text(RECIPE.read_text().replace("upstream_timeout 60s", f"upstream_timeout {limit}"))
    async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
        ports: list[int] = []
        for _ in range(3):
            listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
            await stack.enter_async_context(listener)
            tasks.start_soon(listener.serve, hang_up)
            ports.append(listener.extra(SocketAttribute.local_port))
        with found(), nginx([f"127.0.0.1:{port}" for port in ports], recipe=recipe) as proxy:
            answer = await http.post(f"{proxy.url}/mcp", json=CALL, headers=HEADERS)
            assert answer.status_code == 502
        tasks.cancel_scope.cancel()
    assert len(came) == times
