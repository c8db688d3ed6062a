"""Several workers of one server in this process, each on a port of its own, and whoever talks to them."""

import itertools
import json
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import uvicorn

from askback.stores import SQLiteStore
from tests.server.forwarding.travel import Host, app_of, travel

JUNE, NOVEMBER, LATEST = "2025-06-18", "2025-11-25", "2026-07-28"
PATIENCE = 10.0
"""Seconds for anything that happens between processes of one machine."""


@asynccontextmanager
async def serving(app: Any) -> AsyncGenerator[str]:
    """An application on a free port of loopback."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        runner = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_to_the_end, runner, listener)
            with anyio.fail_after(PATIENCE):
                while not runner.started:
                    await anyio.lowlevel.checkpoint()
            try:
                yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
            finally:
                runner.should_exit = True


async def _to_the_end(runner: uvicorn.Server, listener: socket.socket) -> None:
    with anyio.CancelScope(shield=True):
        await runner.serve([listener])


@asynccontextmanager
async def crew(
    host: Host,
    folder: Path,
    *,
    count: int = 3,
    served: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncGenerator[list[str]]:
    """The addresses of workers that share keys and a file; each has a server and a store of its own."""
    async with AsyncExitStack() as stack:
        urls: list[str] = []
        for _ in range(count):
            store = SQLiteStore(folder / "shared.db")
            stack.push_async_callback(store.close)
            given: dict[str, Any] = {"store": store, **options}
            server = travel(host, **given)
            urls.append(await stack.enter_async_context(serving(app_of(host, server, **served or {}))))
        yield urls


class InTurn(httpx2.AsyncBaseTransport):
    """A plain load balancer: each request goes to the next worker."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._ports = itertools.cycle([httpx2.URL(url).port for url in urls])
        self._inner = httpx2.AsyncHTTPTransport()
        self.statuses: list[int] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.url = request.url.copy_with(port=next(self._ports))
        response = await self._inner.handle_async_request(request)
        self.statuses.append(response.status_code)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class Posting:
    """A client of 2025-11-25 by hand: each message goes where the test says."""

    def __init__(self, http: httpx2.AsyncClient, **headers: str) -> None:
        self._http = http
        self.headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": NOVEMBER,
            **headers,
        }
        self._numbers = itertools.count(1)

    async def begin(self, url: str) -> httpx2.Response:
        """The handshake, both halves of it at one worker."""
        hello: dict[str, Any] = {
            "protocolVersion": NOVEMBER,
            "capabilities": {"elicitation": {"form": {}}},
            "clientInfo": {"name": "by hand", "version": "1"},
        }
        response = await self.post(url, "initialize", **hello)
        if "mcp-session-id" in response.headers:
            self.headers["mcp-session-id"] = response.headers["mcp-session-id"]
            await self.tell(url, method="notifications/initialized")
        return response

    async def tell(self, url: str, **fields: Any) -> httpx2.Response:
        message = {"jsonrpc": "2.0", **fields}
        return await self._http.post(url, json=message, headers=self.headers)

    async def post(self, url: str, method: str, **params: Any) -> httpx2.Response:
        return await self.tell(url, method=method, id=next(self._numbers), params=params)

    async def call(self, url: str, tool: str, **arguments: Any) -> httpx2.Response:
        return await self.post(url, "tools/call", name=tool, arguments=arguments)

    @asynccontextmanager
    async def stream(self, method: str, url: str, **options: Any) -> AsyncGenerator[httpx2.Response]:
        headers = {**self.headers, **options.pop("headers", {})}
        async with self._http.stream(method, url, headers=headers, **options) as response:
            yield response

    def asking(self, url: str, city: str) -> Any:
        """The stream of a call that asks."""
        params = {"name": "book", "arguments": {"city": city}}
        message = {"jsonrpc": "2.0", "id": next(self._numbers), "method": "tools/call", "params": params}
        return self.stream("POST", url, json=message)

    async def end(self, url: str) -> httpx2.Response:
        return await self._http.delete(url, headers=self.headers)


async def messages(response: httpx2.Response) -> AsyncGenerator[dict[str, Any]]:
    """What comes on a stream of events."""
    async for line in response.aiter_lines():
        if line.startswith("data: ") and line != "data: ":
            yield json.loads(line.removeprefix("data: "))


def text_of(response: httpx2.Response) -> str:
    """Of a tool's result, however it was sent."""
    lines = [line.removeprefix("data: ") for line in response.text.splitlines()]
    found = [json.loads(line) for line in lines if line.startswith("{")]
    return found[-1]["result"]["content"][0]["text"]
