"""From a target to a connection: a command, a URL, a server in this process, or a transport of the SDK."""

import json
import os
import shutil
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import dropwhile
from pathlib import PurePath
from secrets import token_hex
from threading import Thread
from typing import Any, TextIO, cast

import anyio
import anyio.to_thread
import httpx2
from mcp.client._memory import InMemoryTransport
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.lowlevel import Server

from askback.client.consent import judge
from askback.client.http import HTTPRefusal, read_headers
from askback.errors import AuthorError
from askback.model.safe import safe_block

RUNNERS = frozenset(
    {"bun", "bunx", "deno", "node", "npx", "pipx", "pnpm", "py", "python", "ruby", "uv", "uvx", "yarn"}
)
"""Programs whose first word is another program: that one names the server."""

PLAIN_OPTIONS = frozenset({"-B", "-I", "-m", "-q", "-u", "-y", "--quiet", "--yes", "dlx", "exec", "run"})
"""Words before it that take no value; after any other option, the next word may be a secret."""

UNNAMED = "unnamed server"
"""A transport says nothing of where it leads, and the name of its type is no word for a person."""


def name_of_address(url: str) -> str:
    """Host and port: the user, the query and even the path of an address may be somebody's key."""
    try:
        return httpx2.URL(url).netloc.decode() or "this address"
    except httpx2.InvalidURL:
        return "this address"


def name_of_command(program: str, arguments: Sequence[str]) -> str:
    """The program, and the script that it runs; what follows may be a key."""
    name = PurePath(program).name
    script = next(dropwhile(PLAIN_OPTIONS.__contains__, arguments), "")
    is_named = name.rstrip("0123456789.") in RUNNERS and not script.startswith("-") and "://" not in script
    return f"{name} {script}" if script and is_named else name


DIGEST_BYTES = 16
"""Bytes of a digest: nobody finds a second command line with the same one."""


def identity_of_command(program: str, arguments: Sequence[str], folder: str | os.PathLike[str] | None) -> str:
    """The program by its whole path, all its words, and where it runs: elsewhere they may start something else."""
    here = os.path.abspath(folder or os.curdir)
    return _digest("command", os.path.join(here, shutil.which(program) or program), *arguments, here)


def identity_of_address(url: str) -> str:
    """Scheme, host, port and path. Keys are renewed, so neither the user nor the query counts."""
    try:
        whole = httpx2.URL(url)
    except httpx2.InvalidURL:
        return _digest("address", url)
    return _digest("address", str(whole.copy_with(userinfo=b"", query=None, fragment=None)))


def identity_of_one() -> str:
    """Like no other: for what has nothing by which it could be known again."""
    return token_hex(DIGEST_BYTES)


def _digest(*words: str) -> str:
    """Not the words themselves, which may hold a key."""
    return blake2b(json.dumps(words).encode(), digest_size=DIGEST_BYTES).hexdigest()


Target = object
"""A list of words, a URL, `StdioServerParameters`, a server object or a transport; FastMCP's need not be installed."""
Streams = tuple[Any, Any]

TAIL = 4096
"""Bytes of what a server wrote to its standard error that an error of ours repeats."""

KEPT = 65_536
"""Bytes of it that are kept for whoever asks to see them: some hundreds of lines."""

MOST_LINES = 20
"""Lines of it: a traceback, and not a screenful."""

LAST_WORDS_SECONDS = 0.5
"""For the last of it to be read after the program has ended."""

CONNECT_SECONDS = 30.0
"""For the connection and for each write over HTTP. There is none for reading: a person may be thinking."""


class StderrLog:
    """The end of what a program writes to its standard error; it is read all along, so that it never blocks."""

    def __init__(self) -> None:
        self._kept = b""

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[TextIO]:
        """The end of a pipe for the program to write to."""
        reading, writing = os.pipe()
        reader = Thread(target=self._read, args=(reading,), daemon=True)
        reader.start()
        with os.fdopen(writing, "w") as errlog:
            yield errlog
        # The program is gone, and what it wrote is in the pipe; a child of its own may hold the other end longer.
        # In a thread: whatever else runs in this loop does not wait for that.
        await anyio.to_thread.run_sync(reader.join, LAST_WORDS_SECONDS)

    def _read(self, reading: int) -> None:
        while some := os.read(reading, TAIL):
            self._kept = (self._kept + some)[-KEPT:]
        os.close(reading)

    @property
    def whole(self) -> str:
        """As it was written: whoever shows it makes it safe."""
        return self._kept.decode("utf-8", "replace")

    @property
    def tail(self) -> str:
        """Its last lines, safe to print."""
        lines = self._kept[-TAIL:].decode("utf-8", "replace").strip().splitlines()
        return "\n".join(safe_block("\n".join(lines[-MOST_LINES:])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where a target leads: how it is called, and how it is opened."""

    label: str
    host: str | None = None
    identity: str | None = None
    """Tells it from others of the same label; objects of this process have none."""
    is_known: bool = True
    """Whether it can be known again another time, so that something may be remembered of it."""
    said: StderrLog
    refusal: HTTPRefusal = field(default_factory=HTTPRefusal)
    headers: Sequence[tuple[bytes, bytes]] = field(default=(), repr=False)
    transport: AbstractAsyncContextManager[Streams]


def resolve_target(
    target: Target, *, label: str | None = None, headers: Mapping[str, str] | None = None
) -> Destination:
    """What `target` means; nothing is started or connected yet."""
    if isinstance(target, str):
        place = _at(target, read_headers(headers or {}))
    elif headers:
        raise AuthorError(
            "headers= go with requests to a URL, and this target is none. Give a command its secrets in its "
            "environment (StdioServerParameters), and make a transport with headers of its own."
        )
    else:
        place = _off_http(target, is_labelled=bool(label))
    return replace(place, label=label or place.label)


def _off_http(target: Target, *, is_labelled: bool) -> Destination:
    match target:
        case StdioServerParameters():
            return _started(target)
        case list() | tuple():
            return _started(_command(cast("Sequence[object]", target)))
        case MCPServer() | Server():
            return _of_this_process(cast("MCPServer | Server[Any]", target))
        case _ if isinstance(inner := getattr(target, "_mcp_server", None), Server):  # a FastMCP
            return _of_this_process(cast("Server[Any]", inner))
        case _ if hasattr(target, "__aenter__"):
            return _through(cast("AbstractAsyncContextManager[Streams]", target), is_labelled=is_labelled)
        case _:
            raise AuthorError(
                "Driver connects to a command (a list of words), a URL, an MCPServer, Server or FastMCP object, or a "
                f"transport of the SDK, and not to an object of type {type(target).__name__}."
            )


def _command(words: Sequence[object]) -> StdioServerParameters:
    match [word for word in words if isinstance(word, str)]:
        case [program, *arguments] if len(words) == 1 + len(arguments):
            return StdioServerParameters(command=program, args=arguments)
        case _:
            raise AuthorError(
                'A command is a list of words, each of them a str, as in ["python", "server.py"]; this list is empty '
                "or has something else in it. Put the program first, and write paths as str(path)."
            )


def _started(parameters: StdioServerParameters) -> Destination:
    said = StderrLog()
    return Destination(
        label=name_of_command(parameters.command, parameters.args),
        identity=identity_of_command(parameters.command, parameters.args, parameters.cwd),
        said=said,
        transport=_program(parameters, said),
    )


def _through(transport: AbstractAsyncContextManager[Streams], *, is_labelled: bool) -> Destination:
    """The author's label is what it is known by; without one, two transports are never taken for the same server."""
    identity = None if is_labelled else identity_of_one()
    return Destination(
        label=UNNAMED, identity=identity, is_known=is_labelled, said=StderrLog(), transport=transport
    )


def _of_this_process(server: MCPServer | Server[Any]) -> Destination:
    return Destination(label=server.name, said=StderrLog(), transport=InMemoryTransport(server))


def _at(url: str, headers: Sequence[tuple[bytes, bytes]]) -> Destination:
    if not url.lower().startswith(("http://", "https://")):
        raise AuthorError(
            "This text is no address of a server: one begins with http:// or https://. Give a command as a list of "
            'words, as in ["python", "server.py"].'
        )
    refusal = HTTPRefusal()
    return Destination(
        label=name_of_address(url),
        host=judge(url).host or None,
        identity=identity_of_address(url),
        said=StderrLog(),
        refusal=refusal,
        headers=headers,
        transport=_http(url, headers, refusal),
    )


@asynccontextmanager
async def _program(parameters: StdioServerParameters, said: StderrLog) -> AsyncGenerator[Streams]:
    async with said.listening() as errlog, stdio_client(parameters, errlog=errlog) as streams:
        yield streams


@asynccontextmanager
async def _http(
    url: str, headers: Sequence[tuple[bytes, bytes]], refusal: HTTPRefusal
) -> AsyncGenerator[Streams]:
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
    hooks = {"response": [refusal.note]}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks=hooks) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams
