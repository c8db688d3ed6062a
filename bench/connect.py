"""A client of the SDK, joined to one of the two servers in memory, over stdio or over HTTP."""

import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client, StdioServerParameters
from mcp.client.session import ElicitationFnT
from mcp.server.lowlevel import Server

from askback.server.hosts import lowlevel_of
from bench.order import answer_at_once
from bench.server import Side, made

ROOT = Path(__file__).resolve().parent.parent

Transport = Literal["in-memory", "stdio", "http"]
Revision = Literal["2025-11-25", "2026-07-28"]

LONGEST_URL = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server process over HTTP."""

    url: str
    pid: int


@asynccontextmanager
async def connected(side: Side, transport: Transport, revision: Revision) -> AsyncGenerator[Client]:
    """A client that answers every question at once."""
    async with AsyncExitStack() as stack:
        target: Server[Any] | StdioServerParameters | str
        match transport:
            case "in-memory":
                target = lowlevel_of(stack.enter_context(made(side)))
            case "stdio":
                target = StdioServerParameters(
                    command=sys.executable, args=["-m", "bench.server", side, "stdio"], cwd=ROOT
                )
            case "http":
                target = (await stack.enter_async_context(served(side))).url
        yield await stack.enter_async_context(client_of(target, revision))


def client_of(
    target: Server[Any] | StdioServerParameters | str,
    revision: Revision,
    *,
    answer: ElicitationFnT = answer_at_once,
) -> Client:
    mode = "legacy" if revision == "2025-11-25" else revision
    return Client(target, mode=mode, elicitation_callback=answer)


def served(side: Side) -> AbstractAsyncContextManager[Served]:
    return started("bench.server", side, "http")


@asynccontextmanager
async def started(module: str, *arguments: str) -> AsyncGenerator[Served]:
    """A server process on a free loopback port, for the length of the block."""
    command = [sys.executable, "-m", module, *arguments]
    async with await anyio.open_process(command, cwd=ROOT, stderr=None) as process:
        assert process.stdin is not None and process.stdout is not None
        lines = BufferedByteReceiveStream(process.stdout)
        with anyio.fail_after(30):
            url = await lines.receive_until(b"\n", LONGEST_URL)
        yield Served(url=url.decode().strip(), pid=process.pid)
        await process.stdin.aclose()
        await process.wait()
