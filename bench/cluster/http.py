"""As little HTTP as the load needs: connections that stay open, and bodies as they come, whole or in chunks."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

Message = dict[str, Any]


class Cut(Exception):
    """The connection ended before the answer did."""


class Event(NamedTuple):
    """Of a stream; one line of data is all that the SDK sends."""

    id: str
    data: str


@dataclass(slots=True, kw_only=True)
class Response:
    """Its head, and the connection that its body comes from."""

    status: int
    headers: Mapping[str, str]
    reader: asyncio.StreamReader
    is_read: bool = False
    """To its end."""

    @property
    def served_by(self) -> int | None:
        """The port of the worker that the proxy had it from."""
        port = self.headers.get("x-served-by", "").rpartition(":")[2]
        return int(port) if port.isdigit() else None

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/event-stream")

    async def messages(self) -> AsyncGenerator[Message]:
        """What JSON-RPC says in it, as it comes."""
        if self.is_stream:
            async for event in self.events():
                if event.data:
                    yield json.loads(event.data)
        else:
            body = await self.body()
            if self.headers.get("content-type", "").startswith("application/json") and body:
                yield json.loads(body)

    async def body(self) -> bytes:
        return b"".join([chunk async for chunk in self._chunks()])

    async def events(self) -> AsyncGenerator[Event]:
        """Of a stream, as they come."""
        rest = ""
        async for chunk in self._chunks():
            *events, rest = (rest + chunk.decode()).replace("\r\n", "\n").split("\n\n")
            for event in events:
                fields = {
                    name: value for name, _, value in (line.partition(": ") for line in event.split("\n"))
                }
                yield Event(fields.get("id", ""), fields.get("data", ""))

    async def _chunks(self) -> AsyncGenerator[bytes]:
        if self.headers.get("transfer-encoding") != "chunked":
            if length := int(self.headers.get("content-length", 0)):
                yield await self.reader.readexactly(length)
            self.is_read = True
            return
        while size := int(await self._line(), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        await self._line()
        self.is_read = True

    async def _line(self) -> bytes:
        line = await self.reader.readline()
        if not line.endswith(b"\n"):
            raise Cut
        return line


class Web:
    """One server's address, and the connections to it that nobody uses at the moment."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    @asynccontextmanager
    async def send(
        self, body: bytes, headers: Mapping[str, str], *, method: str = "POST"
    ) -> AsyncGenerator[Response]:
        """Sent once. `Cut` if the connection goes, before the answer or within it."""
        try:
            reader, writer = self._idle.pop() if self._idle else await self._connection()
        except OSError as error:
            raise Cut from error
        response: Response | None = None
        try:
            writer.write(_head(method, self.port, body, headers) + body)
            response = await _response(reader)
            yield response
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Cut from error
        finally:
            if response and response.is_read and response.headers.get("connection") != "close":
                self._idle.append((reader, writer))
            else:
                writer.transport.abort()

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    def close(self) -> None:
        for _reader, writer in self._idle:
            writer.transport.abort()
        self._idle.clear()


def _head(method: str, port: int, body: bytes, headers: Mapping[str, str]) -> bytes:
    lines = [
        f"{method} /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _response(reader: asyncio.StreamReader) -> Response:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Response(status=int(first.split()[1]), headers=headers, reader=reader)
