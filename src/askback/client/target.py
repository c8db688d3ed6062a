"""From a target to a connection: a command, a URL, a server in this process, or a transport of the SDK."""

import json
import os
import re
import shutil
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import dropwhile
from pathlib import PurePath
from secrets import token_hex
from threading import Thread
from typing import Any, TextIO, cast

import anyio.to_thread
import httpx2
from mcp.client._memory import InMemoryTransport
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client
from mcp.server import MCPServer
from mcp.server.lowlevel import Server

from askback.client.consent import judge
from askback.errors import AuthorError
from askback.model.safe import safe_block, safe_line

RUNNERS = frozenset(
    {"bun", "bunx", "deno", "node", "npx", "pipx", "pnpm", "py", "python", "ruby", "uv", "uvx", "yarn"}
)
"""Programs that run another one: the word behind them names the server."""

PLAIN_OPTIONS = frozenset({"-B", "-I", "-m", "-q", "-u", "-y", "--quiet", "--yes", "dlx", "exec", "run"})
"""Words before it that take no value; after any other option, the next word may be a secret."""

UNNAMED = "unnamed server"
"""The label of a transport: it does not say where it leads, and the name of its type means nothing to a person."""


def name_of_command(program: str, arguments: Sequence[str]) -> str:
    """The program, and the script that it runs; what follows may be a key."""
    name = PurePath(program).name
    script = next(dropwhile(PLAIN_OPTIONS.__contains__, arguments), "")
    is_named = name.rstrip("0123456789.") in RUNNERS and not script.startswith("-") and "://" not in script
    return f"{name} {script}" if script and is_named else name


DIGEST_BYTES = 16
"""Bytes of a digest: enough that no second command line with the same digest can be found."""


def identity_of_command(program: str, arguments: Sequence[str], folder: str | os.PathLike[str] | None) -> str:
    """The program by its whole path, all its words, and where it runs: elsewhere they may start something else."""
    here = os.path.abspath(folder or os.curdir)
    return _digest("command", os.path.join(here, shutil.which(program) or program), *arguments, here)


def _digest(*words: str) -> str:
    """Not the words themselves, which may hold a key."""
    return blake2b(json.dumps(words).encode(), digest_size=DIGEST_BYTES).hexdigest()


Target = object
"""A list of words, a URL, `StdioServerParameters`, a server object or a transport; FastMCP's need not be installed."""
Streams = tuple[Any, Any]

MAX_TAIL_BYTES = 4096
"""Bytes of what a server wrote to its standard error that an error of ours repeats."""

MAX_LOG_BYTES = 65_536
"""Bytes of it that are kept for `Driver.log`: some hundreds of lines."""

MAX_TAIL_LINES = 20
"""Lines of it: a traceback, and not a screenful."""

LAST_READ_SECONDS = 0.5
"""For the last of it to be read after the program has ended."""

CONNECT_SECONDS = 30.0
"""For the connection and for each write over HTTP. Reading has no limit: a person may be thinking."""


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
        # In a thread: the rest of this loop does not wait for it.
        await anyio.to_thread.run_sync(reader.join, LAST_READ_SECONDS)

    def _read(self, reading: int) -> None:
        while some := os.read(reading, MAX_TAIL_BYTES):
            self._kept = (self._kept + some)[-MAX_LOG_BYTES:]
        os.close(reading)

    @property
    def whole(self) -> str:
        """The log as it was written: callers make it safe before they show it."""
        return self._kept.decode("utf-8", "replace")

    @property
    def tail(self) -> str:
        """Its last lines, safe to print."""
        lines = self._kept[-MAX_TAIL_BYTES:].decode("utf-8", "replace").strip().splitlines()
        return "\n".join(safe_block("\n".join(lines[-MAX_TAIL_LINES:])))


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"(?:[!-~\xa0-\xff]+(?:[ \t]+[!-~\xa0-\xff]+)*)?")

MIN_SECRET_LENGTH = 8
"""Characters; below that, taking a value out of a sentence would spoil more than it hides."""


def read_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """The headers as they are sent; an error names a header that HTTP cannot carry, and never its value."""
    sent: list[tuple[bytes, bytes]] = []
    given: list[tuple[object, object]] = list(headers.items())
    for name, value in given:
        if not isinstance(name, str) or _HEADER_NAME.fullmatch(name) is None:
            raise AuthorError(
                "The name of a header is made of letters, digits and hyphens, as in Authorization."
            )
        if not isinstance(value, str):
            raise AuthorError(f"The header {name} has a value that is no text. Is a variable of it not set?")
        if _HEADER_VALUE.fullmatch(value) is None:
            raise AuthorError(
                f"The header {name} has a value that HTTP cannot carry: a line break, another control character, a "
                "letter beyond Latin-1, or a blank at an end. What is read from a file often ends with a line break; "
                "strip it."
            )
        sent.append((name.encode("ascii"), value.encode("latin-1")))
    return sent


def redact_headers(text: str, headers: Sequence[tuple[bytes, bytes]]) -> str:
    """A text by others, without the values of these headers and the words in them."""
    values = [value.decode("latin-1") for _, value in headers]
    words = {piece for value in values for piece in (value, *value.split())}
    for word in sorted(words, key=len, reverse=True):
        if len(word) >= MIN_SECRET_LENGTH:
            text = text.replace(word, "[header]")
    return text


STATUS_REASONS = {
    401: ("it wants to know who calls", "Give it a token, in a header Authorization: Bearer ..."),
    403: ("it does not let this caller in", "Check the token, and what it may be used for."),
    404: ("there is nothing at this path", "Check the path; many servers are at /mcp."),
    405: (
        "it takes no messages at this path",
        "Servers of the old SSE transport answer so; look for its streamable HTTP address.",
    ),
    429: ("it was called too often", "Wait a while, then try again."),
}


class HTTPRefusal:
    """The last HTTP answer to a message: why a server does not connect."""

    def __init__(self) -> None:
        self._status = 0
        self._elsewhere = ""
        self._is_forgotten = False

    async def note(self, response: httpx2.Response) -> None:
        """To be called with every response."""
        if response.request.method == "POST":
            self._status = response.status_code
            self._elsewhere = response.headers.get("location", "")
            self._is_forgotten = response.status_code == 404 and MCP_SESSION_ID in response.request.headers

    def is_forgotten(self) -> bool:
        """Whether the server, perhaps restarted, does not know our session: it answers 404."""
        return self._is_forgotten

    def explain(self) -> tuple[str, str] | None:
        """What was wrong, and what to do; None where the status does not say."""
        if self._status in STATUS_REASONS:
            problem, advice = STATUS_REASONS[self._status]
        elif 300 <= self._status < 400:
            problem, advice = (
                f"it points elsewhere, to {safe_line(self._elsewhere)}",
                "Give that address, if it is right.",
            )
        elif self._status >= 500:
            problem, advice = "it failed", "Look into its own log, or try again later."
        else:
            return None
        return f"{problem} (HTTP {self._status})", advice


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where a target leads: its name, and how it is opened."""

    label: str
    host: str | None = None
    identity: str | None = None
    """Distinguishes it from others of the same label; objects of this process have none."""
    is_known: bool = True
    """Whether it can be recognized later, so that its sites may be remembered."""
    said: StderrLog = field(default_factory=lambda: StderrLog())
    refusal: HTTPRefusal = field(default_factory=HTTPRefusal)
    headers: Sequence[tuple[bytes, bytes]] = field(default=(), repr=False)
    transport: AbstractAsyncContextManager[Streams]


def resolve_target(
    target: Target, *, label: str | None = None, headers: Mapping[str, str] | None = None
) -> Destination:
    """What `target` means; nothing is started or connected yet."""
    if headers and not isinstance(target, str):
        raise AuthorError(
            "headers= go with requests to a URL, and this target is none. Give a command its secrets in its "
            "environment (StdioServerParameters), and make a transport with headers of its own."
        )
    match target:
        case str():
            place = _resolve_address(target, read_headers(headers or {}))
        case StdioServerParameters():
            place = _resolve_command(target)
        case list() | tuple():
            place = _resolve_command(_command(cast("Sequence[object]", target)))
        case MCPServer() | Server():
            place = _resolve_server(cast("MCPServer | Server[Any]", target))
        case _ if isinstance(inner := getattr(target, "_mcp_server", None), Server):  # a FastMCP
            place = _resolve_server(cast("Server[Any]", inner))
        case _ if hasattr(target, "__aenter__"):
            place = Destination(
                label=UNNAMED,
                # The author's label identifies it; without one, two transports are never taken for the same server.
                identity=None if label else token_hex(DIGEST_BYTES),
                is_known=bool(label),
                transport=cast("AbstractAsyncContextManager[Streams]", target),
            )
        case _:
            raise AuthorError(
                "Driver connects to a command (a list of words), a URL, an MCPServer, Server or FastMCP object, or a "
                f"transport of the SDK, and not to an object of type {type(target).__name__}."
            )
    return replace(place, label=label or place.label)


def _command(words: Sequence[object]) -> StdioServerParameters:
    match [word for word in words if isinstance(word, str)]:
        case [program, *arguments] if len(words) == 1 + len(arguments):
            return StdioServerParameters(command=program, args=arguments)
        case _:
            raise AuthorError(
                'A command is a list of words, each of them a str, as in ["python", "server.py"]; this list is empty '
                "or has something else in it. Put the program first, and write paths as str(path)."
            )


def _resolve_command(parameters: StdioServerParameters) -> Destination:
    said = StderrLog()
    return Destination(
        label=name_of_command(parameters.command, parameters.args),
        identity=identity_of_command(parameters.command, parameters.args, parameters.cwd),
        said=said,
        transport=_program(parameters, said),
    )


def _resolve_server(server: MCPServer | Server[Any]) -> Destination:
    return Destination(label=server.name, transport=InMemoryTransport(server))


def _resolve_address(url: str, headers: Sequence[tuple[bytes, bytes]]) -> Destination:
    """The label is host and port, and the identity adds scheme and path: user, query and path may hold somebody's key,
    and keys are renewed."""
    if not url.lower().startswith(("http://", "https://")):
        raise AuthorError(
            "This text is no address of a server: one begins with http:// or https://. Give a command as a list of "
            'words, as in ["python", "server.py"].'
        )
    label, identity = "", url
    with suppress(httpx2.InvalidURL):
        whole = httpx2.URL(url)
        label, identity = whole.netloc.decode(), str(whole.copy_with(userinfo=b"", query=None, fragment=None))
    refusal = HTTPRefusal()
    return Destination(
        label=label or "this address",
        host=judge(url).host or None,
        identity=_digest("address", identity),
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
