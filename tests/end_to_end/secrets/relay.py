"""A wire that keeps every byte: a TCP port before a server's, and pipes around a program's."""

import shlex
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import anyio.abc

from tests.support.secret_shop.shop import Plan


@dataclass(slots=True)
class Relayed:
    """What went through, each way."""

    url: str
    out: bytearray = field(default_factory=bytearray)
    """To the server."""
    back: bytearray = field(default_factory=bytearray)
    _more: anyio.Event = field(default_factory=anyio.Event)

    async def passed(self, sign: bytes) -> None:
        """This was said to the server, with all that its client had to say in the same breath."""
        while sign not in self.out:
            await self._more.wait()

    def keep(self, kept: bytearray, some: bytes) -> None:
        kept += some
        self._more.set()
        self._more = anyio.Event()


@asynccontextmanager
async def relayed(port: int) -> AsyncGenerator[Relayed]:
    """An address that leads to this port of ours, with every byte kept."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    own_port = listener.extra(anyio.abc.SocketAttribute.local_port)
    relay = Relayed(f"http://127.0.0.1:{own_port}/mcp")

    async def join(client: anyio.abc.SocketStream) -> None:
        try:
            server = await anyio.connect_tcp("127.0.0.1", port)
        except OSError:
            await client.aclose()  # nobody is there just now, and so the client is told
            return
        async with client, server, anyio.create_task_group() as tasks:
            tasks.start_soon(_pass_on, client, server, partial(relay.keep, relay.out), tasks.cancel_scope)
            tasks.start_soon(_pass_on, server, client, partial(relay.keep, relay.back), tasks.cancel_scope)

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, join)
        yield relay
        tasks.cancel_scope.cancel()


async def _pass_on(
    source: anyio.abc.SocketStream,
    target: anyio.abc.SocketStream,
    keep: Callable[[bytes], None],
    both: anyio.CancelScope,
) -> None:
    try:
        async for some in source:
            await target.send(some)
            keep(some)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    both.cancel()


def teed(plan: Plan, folder: Path) -> list[str]:
    """The same program, with what goes in, what comes out and what it logs kept in files."""
    out, back, log = (shlex.quote(str(folder / name)) for name in ("out", "back", "log"))
    return ["sh", "-c", f"tee {out} | {shlex.join(plan.command)} 2>{log} | tee {back}"]
