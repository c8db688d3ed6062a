"""From a target to a connection: a command, a URL, a server in this process, or a transport of the SDK."""

import os
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import Any, TextIO, cast

import anyio
import httpx2
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_client_server_memory_streams

from askback.client.consent import judge
from askback.client.headers import read_headers
from askback.client.identity import identity_of_address, identity_of_command
from askback.client.naming import name_of_address, name_of_command
from askback.client.refusal import Refusal
from askback.client.safe import block
from askback.errors import AuthorError
from askback.server.adapters import is_fastmcp, lowlevel_of

Target = object
"""A list of words, a URL, `StdioServerParameters`, a server object or a transport; FastMCP's need not be installed."""
Streams = tuple[Any, Any]

TAIL = 4096
"""Bytes of what a server wrote to its standard error that an error of ours repeats."""

MOST_LINES = 20
"""Lines of it: a traceback, and not a screenful."""

LAST_WORDS_SECONDS = 0.5
"""For the last of it to be read after the program has ended."""

CONNECT_SECONDS = 30.0
"""For the connection and for each write over HTTP. There is none for reading: a person may be thinking."""


class Said:
    """The end of what a program writes to its standard error; it is read all along, so that it never blocks."""

    def __init__(self) -> None:
        self._kept = b""

    @contextmanager
    def listening(self) -> Generator[TextIO]:
        """The end of a pipe for the program to write to."""
        reading, writing = os.pipe()
        reader = Thread(target=self._read, args=(reading,), daemon=True)
        reader.start()
        with os.fdopen(writing, "w") as errlog:
            yield errlog
        # The program is gone, and what it wrote is in the pipe; a child of its own may hold the other end longer.
        reader.join(LAST_WORDS_SECONDS)

    def _read(self, reading: int) -> None:
        while some := os.read(reading, TAIL):
            self._kept = (self._kept + some)[-TAIL:]
        os.close(reading)

    @property
    def tail(self) -> str:
        """Its last lines, safe to print."""
        lines = self._kept.decode("utf-8", "replace").strip().splitlines()
        return "\n".join(block("\n".join(lines[-MOST_LINES:])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where a target leads: how it is called, and how it is opened."""

    label: str
    host: str | None = None
    identity: str | None = None
    """Tells it from others of the same label; objects of this process have none."""
    said: Said
    refusal: Refusal = field(default_factory=Refusal)
    headers: Sequence[tuple[bytes, bytes]] = field(default=(), repr=False)
    transport: AbstractAsyncContextManager[Streams]


def destination(target: Target, *, headers: Mapping[str, str] | None = None) -> Destination:
    """What `target` means; nothing is started or connected yet."""
    said = Said()
    match target:
        case str():
            return _at(target, read_headers(headers or {}))
        case StdioServerParameters():
            label = name_of_command(target.command, target.args)
            identity = identity_of_command(target.command, target.args, target.cwd)
            return Destination(label=label, identity=identity, said=said, transport=_program(target, said))
        case list() | tuple():
            command, *arguments = cast("Sequence[str]", target)
            return destination(StdioServerParameters(command=command, args=arguments))
        case MCPServer() | Server():
            return _of_this_process(lowlevel_of(cast("object", target)))
        case _ if is_fastmcp(target):
            return _of_this_process(lowlevel_of(target))
        case _ if hasattr(target, "__aenter__"):
            transport = cast("AbstractAsyncContextManager[Streams]", target)
            return Destination(label=type(target).__name__, said=said, transport=transport)
        case _:
            raise AuthorError(
                "Driver connects to a command (a list of words), a URL, an MCPServer, Server or FastMCP object, or a "
                f"transport of the SDK, and not to an object of type {type(target).__name__}."
            )


def _of_this_process(server: Server[Any]) -> Destination:
    return Destination(label=server.name, said=Said(), transport=_in_memory(server))


def _at(url: str, headers: Sequence[tuple[bytes, bytes]]) -> Destination:
    refusal = Refusal()
    return Destination(
        label=name_of_address(url),
        host=judge(url).host or None,
        identity=identity_of_address(url),
        said=Said(),
        refusal=refusal,
        headers=headers,
        transport=_http(url, headers, refusal),
    )


@asynccontextmanager
async def _program(parameters: StdioServerParameters, said: Said) -> AsyncGenerator[Streams]:
    with said.listening() as errlog:
        async with stdio_client(parameters, errlog=errlog) as streams:
            yield streams


@asynccontextmanager
async def _http(
    url: str, headers: Sequence[tuple[bytes, bytes]], refusal: Refusal
) -> AsyncGenerator[Streams]:
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
    hooks = {"response": [refusal.note]}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks=hooks) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


@asynccontextmanager
async def _in_memory(server: Server[Any]) -> AsyncGenerator[Streams]:
    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as tasks:
        tasks.start_soon(server.run, *theirs, server.create_initialization_options())
        try:
            yield ours
        finally:
            tasks.cancel_scope.cancel()
