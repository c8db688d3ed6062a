"""A request as no browser and no library would make it."""

from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import unquote

import anyio
from anyio.abc import SocketAttribute
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message

from tests.support.visitor import PATIENCE


class Answer(NamedTuple):
    """What an application said."""

    status: int
    headers: Headers
    body: bytes


async def asked(
    app: ASGIApp,
    path: str,
    *,
    method: str = "GET",
    headers: Iterable[tuple[str, str]] = (),
    body: AsyncIterator[bytes] | None = None,
    leaves: bool = False,
) -> Answer:
    """Whatever the path, the headers (also twice the same) and the body are, the application gets it like this; or half
    of it, from somebody who leaves."""
    before, _, query = path.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "https",
        "path": unquote(before),
        "raw_path": before.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    said: list[Message] = []

    async def receive() -> Message:
        chunk = None if body is None else await anext(body, None)
        if chunk is None and leaves:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

    async def send(message: Message) -> None:
        said.append(message)

    with anyio.fail_after(PATIENCE), suppress(RuntimeError):  # an answer is sent before it is raised again
        await app(scope, receive, send)
    start = said[0]
    whole = b"".join(message.get("body", b"") for message in said[1:])
    return Answer(start["status"], Headers(raw=start["headers"]), whole)


async def told(port: int, request: bytes) -> bytes:
    """What a listener on this machine says to these very bytes."""
    with anyio.fail_after(PATIENCE):
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            assert stream.extra(SocketAttribute.remote_port) == port
            await stream.send(request)
            await stream.send_eof()
            said = b""
            try:
                while True:
                    said += await stream.receive()
            except anyio.EndOfStream:
                return said


async def is_listening(port: int, address: str = "127.0.0.1") -> bool:
    try:
        async with await anyio.connect_tcp(address, port):
            return True
    except OSError:
        return False
