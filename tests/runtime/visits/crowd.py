"""A thousand people on pages at once, all sent there by one server, each through a request that is held.

`python -m tests.runtime.visits.crowd` measures what one of them costs, beside a tool that waits on a server without
Askback, and prints it as JSON. A process of its own, so that nobody else's memory is measured.
"""

import gc
import json
import logging
import os
import tracemalloc
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse

from askback import Askback, visit
from askback.server.hosts import lowlevel_of
from askback.testing import Script
from askback.testing.run import Wire
from tests.support.visit_shops import JULY, LINK, LINKS, Counting, CountingMemory, id_in

MANY = 1_000

BEFORE = 100
"""So many beforehand, until every cache is filled."""

HOLD = 1_800
"""Seconds: nobody is to be sent home while a slow machine counts the others."""

META = Wire(version=JULY, capabilities=LINKS, script=Script()).envelope()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Bytes of each of so many, as the allocator's own trace has them."""

    visits: int
    plain: float
    """A request that is held by a tool which waits by itself, on a server of the SDK without Askback."""
    waiting: float
    """A request that is held for a visit."""
    left: float
    """Still there when all are over: how each ended, and that its round was used."""


class Line:
    """A client that is nothing but a line: it costs next to nothing beside the server."""

    def __init__(self, read: Any, write: Any) -> None:
        self._read, self._write = read, write
        self._number = 0
        self._results: dict[int | str, dict[str, Any]] = {}
        self._news = anyio.Event()

    async def run(self) -> None:
        async for arrived in self._read:
            if isinstance(arrived, SessionMessage) and isinstance(arrived.message, JSONRPCResponse):
                self._results[arrived.message.id] = arrived.message.result
                self._news.set()
                self._news = anyio.Event()

    async def post(self, **params: Any) -> int:
        """Make a call, and give the number under which its result will come."""
        self._number += 1
        request = JSONRPCRequest(
            jsonrpc="2.0", id=self._number, method="tools/call", params={"name": "t", "_meta": META, **params}
        )
        await self._write.send(SessionMessage(request))
        return self._number

    async def result(self, number: int) -> dict[str, Any]:
        while number not in self._results:
            await self._news.wait()
        return self._results.pop(number)

    @property
    def unread(self) -> int:
        """Results that came and that nobody has asked for."""
        return len(self._results)


@asynccontextmanager
async def line_to(server: Server[Any]) -> AsyncGenerator[Line]:
    async with create_client_server_memory_streams() as (client, served), anyio.create_task_group() as group:
        group.start_soon(server.run, *served, server.create_initialization_options())
        line = Line(*client)
        group.start_soon(line.run)
        yield line
        group.cancel_scope.cancel()


class Crowd:
    """One client of 2026-07-28 with a call for each person."""

    def __init__(self, store: Any) -> None:
        self._server: MCPServer[Any] = MCPServer("crowd")
        self._server.add_tool(go, name="t")
        self._asked = Askback(self._server, store=store, hold=HOLD, max_visits_per_caller=MANY + BEFORE)
        self._counting: Counting = store.counting
        self.ids: dict[int, str] = {}
        self._calls: dict[int, int] = {}

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[Line]:
        async with line_to(lowlevel_of(self._server)) as self._line:
            yield self._line

    async def set_out(self, numbers: range) -> None:
        """Everybody agrees to go, and their calls are held."""
        for number in numbers:
            arguments = {"number": number}
            first = await self._line.result(await self._line.post(arguments=arguments))
            self.ids[number] = id_in(first["inputRequests"]["link-1"]["params"]["url"])
            self._calls[number] = await self._line.post(
                arguments=arguments,
                requestState=first["requestState"],
                inputResponses={"link-1": {"action": "accept"}},
            )
        await self._counting.until_waiting(len(numbers))

    async def arrive(self, number: int) -> str:
        """One is done: what their call says."""
        assert await self._asked.settle(self.ids.pop(number), number)
        result = await self._line.result(self._calls.pop(number))
        return result["content"][0]["text"]


async def go(number: int) -> str:
    """The body: whom it sent is whom it hears of."""
    return f"{number}: {await visit('Please pay.', LINK)}"


async def measure() -> Report:
    crowd = Crowd(CountingMemory())
    async with crowd.connected():
        await crowd.set_out(range(BEFORE))
        for number in range(BEFORE):
            await crowd.arrive(number)
        numbers = range(BEFORE, BEFORE + MANY)
        tracemalloc.start()
        empty = _traced_bytes()
        waiting = await _grown(lambda: crowd.set_out(numbers))
        for number in numbers:
            await crowd.arrive(number)
        left = _traced_bytes() - empty
        tracemalloc.stop()
    plain = await _plain()
    return Report(visits=MANY, plain=plain / MANY, waiting=waiting / MANY, left=left / MANY)


async def _plain() -> int:
    """The same without Askback: what the SDK itself needs for requests whose tools are waiting."""
    counting, gate = Counting(), anyio.Event()

    async def wait(number: int) -> str:
        async with counting.one_more():
            await gate.wait()
        return str(number)

    async def begin(numbers: range) -> None:
        for number in numbers:
            await line.post(arguments={"number": number})
        await counting.until_waiting(numbers.stop)

    server: MCPServer[Any] = MCPServer("plain")
    server.add_tool(wait, name="t")
    async with line_to(lowlevel_of(server)) as line:
        await begin(range(BEFORE))
        tracemalloc.start()
        grown = await _grown(lambda: begin(range(BEFORE, BEFORE + MANY)))
        tracemalloc.stop()
    return grown


async def _grown(work: Callable[[], Awaitable[None]]) -> int:
    before = _traced_bytes()
    await work()
    return _traced_bytes() - before


def _traced_bytes() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


if __name__ == "__main__":
    logging.disable()
    os.write(1, json.dumps(asdict(anyio.run(measure))).encode())
