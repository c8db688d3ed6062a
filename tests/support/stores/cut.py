"""A wire to a server that can be cut after the server has done what it was asked, and before it is heard."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.abc


class Wire:
    """Passes everything on, until it is told what to cut at."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.port = 0
        self.cuts = 0
        self._mark = b""

    def cut_at(self, mark: bytes) -> None:
        """The next connection on which a client says this ends when the server has answered."""
        self._mark = mark

    def lead_to(self, port: int) -> None:
        """New connections; those that stand are left alone."""
        self._port = port

    async def serve(self, client: anyio.abc.SocketStream) -> None:
        async with client, await anyio.connect_tcp("127.0.0.1", self._port) as server:
            cut = anyio.Event()
            async with anyio.create_task_group() as group:
                group.start_soon(self._ask, client, server, cut, group)
                group.start_soon(self._answer, server, client, cut, group)

    async def _ask(
        self,
        client: anyio.abc.SocketStream,
        server: anyio.abc.SocketStream,
        cut: anyio.Event,
        group: anyio.abc.TaskGroup,
    ) -> None:
        with _ends(group):
            async for chunk in client:
                if self._mark and self._mark in chunk:
                    self._mark = b""
                    cut.set()
                await server.send(chunk)

    async def _answer(
        self,
        server: anyio.abc.SocketStream,
        client: anyio.abc.SocketStream,
        cut: anyio.Event,
        group: anyio.abc.TaskGroup,
    ) -> None:
        with _ends(group):
            async for chunk in server:
                if cut.is_set():
                    self.cuts += 1
                    return
                await client.send(chunk)


class _ends:  # noqa: N801 - read as a phrase
    """When one side is gone, so is the other."""

    def __init__(self, group: anyio.abc.TaskGroup) -> None:
        self._group = group

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self._group.cancel_scope.cancel()
        return kind is not None and issubclass(kind, anyio.BrokenResourceError | anyio.ClosedResourceError)


@asynccontextmanager
async def wire_to(port: int) -> AsyncGenerator[Wire]:
    wire = Wire(port)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        wire.port = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with anyio.create_task_group() as group:
            group.start_soon(listener.serve, wire.serve)
            yield wire
            group.cancel_scope.cancel()
