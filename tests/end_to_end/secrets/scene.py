"""A customer at the shop, and every place where what they typed could have come to lie."""

import os
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.request_state import AESGCMRequestStateCodec
from mcp_types import CallToolResult, ElicitRequestURLParams, ElicitResult, TextContent

from askback.stores import SQLiteStore
from tests.end_to_end.secrets.relay import Relayed, relayed, teed
from tests.support.secret_shop.process import ROOT, environment, free_port, shop_at
from tests.support.secret_shop.shop import KEYS, Plan

MODES = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
"""What the SDK's client calls the two eras."""

Act = Callable[[str], Awaitable[Any]]
"""What a person does with a link."""


def text_of(result: Any) -> str:
    """What a tool said; also where it failed."""
    assert isinstance(result, CallToolResult)
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


class Customer:
    """Says yes to everything; on the pages they do what the test says, one thing at each link."""

    def __init__(self, tasks: anyio.abc.TaskGroup, *acts: Act) -> None:
        self.links: list[str] = []
        self._tasks, self._acts = tasks, list(acts)
        self._left: list[anyio.Event] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        if not isinstance(params, ElicitRequestURLParams):
            return ElicitResult(action="accept", content={"value": True})
        self.links.append(params.url)
        self._left.append(anyio.Event())
        self._tasks.start_soon(self._go, self._acts.pop(0), params.url, self._left[-1])
        return ElicitResult(action="accept")

    async def rests(self, *, links: int = 0) -> None:
        """They have left every page that they went to, and were sent to so many at least."""
        while len(self._left) < links:
            await anyio.lowlevel.checkpoint()
        for left in self._left:
            await left.wait()

    async def _go(self, act: Act, url: str, left: anyio.Event) -> None:
        await act(url)
        left.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One connection, on which every byte is kept."""

    folder: Path
    client: Client
    relay: Relayed | None
    """Over HTTP; over stdio there are files."""

    async def use(self, how: str) -> str:
        return text_of(await self.client.call_tool("use", {"how": how}))

    async def places(self) -> dict[str, bytes]:
        """Everything but what is the visitor's own."""
        out, back = self._wire()
        store = SQLiteStore(self.folder / "shop.db")
        lines = await store.read(limit=10_000)
        await store.close()
        return {
            "to the server": out,
            "to the client": back,
            "states": b"\n".join(_unsealed(out + back)),
            "log": (self.folder / "log").read_bytes(),
            "ledger": b"\n".join(line for _, line in lines),
            "database": b"\n".join(file.read_bytes() for file in self.folder.glob("shop.db*")),
            "home": b"\n".join(file.read_bytes() for file in (self.folder / "home").rglob("*")),
            **_processes(),
        }

    def _wire(self) -> tuple[bytes, bytes]:
        if self.relay is not None:
            return bytes(self.relay.out), bytes(self.relay.back)
        return (self.folder / "out").read_bytes(), (self.folder / "back").read_bytes()


@asynccontextmanager
async def scene(
    folder: Path, *, host: str, transport: str, revision: str, customer: Any, leak: str = ""
) -> AsyncGenerator[Scene]:
    """The SDK's own client at a shop that is a process of its own."""
    port = free_port() if transport == "http" else None
    plan = Plan(folder=str(folder), host=host, port=port, leak=leak)
    async with AsyncExitStack() as stack:
        relay = None
        if plan.port is None:
            command, *words = teed(plan, folder)
            target: Any = stdio_client(
                StdioServerParameters(command=command, args=words, cwd=ROOT, env=environment(folder))
            )
        else:
            shop = await stack.enter_async_context(shop_at(plan))
            relay = await stack.enter_async_context(relayed(shop.port))
            target = relay.url
        client = Client(target, mode=MODES[revision], elicitation_callback=customer)
        await stack.enter_async_context(client)
        yield Scene(folder=folder, client=client, relay=relay)


_STATE = re.compile(rb'"requestState":\s*"(v1\.[^"]+)"')


def _unsealed(wire: bytes) -> list[bytes]:
    codec = AESGCMRequestStateCodec(KEYS)
    return [codec.unseal(state.decode()) for state in set(_STATE.findall(wire))]


def _processes() -> dict[str, bytes]:
    """What anybody on this machine sees in a list of processes, and what we may see of our own."""
    found: dict[str, list[bytes]] = {"cmdline": [], "environ": []}
    for process in os.listdir("/proc"):
        for name in found if process.isdigit() else ():
            try:
                found[name].append((Path("/proc") / process / name).read_bytes())
            except OSError:
                continue  # somebody else's, or it has just ended
    return {"arguments": b"\n".join(found["cmdline"]), "environment": b"\n".join(found["environ"])}
