"""The server under test. Its effects are counted outside of it: a line in a file for every time one is run."""

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import anyio
from mcp.server import MCPServer
from pydantic import BaseModel
from starlette.applications import Starlette

from askback import Askback, ask, once
from askback.stores import SQLiteStore, Store, open_store
from askback.stores.postgres import PostgresStore
from askback.stores.redis import RedisStore

NAME = "cluster"
EFFECT = "send"


class Settings(NamedTuple):
    """What a worker is told: the same for all of them."""

    store: str
    lease: float
    """How long a worker may be silent before another takes its claims over."""
    keys: Sequence[str]
    effects: str
    """The file with a line for each effect that was run."""
    way: float
    """Seconds to the other side of an effect, and back."""


class Amount(BaseModel):
    amount: int


def question(flow: str, number: int) -> str:
    """No two flows are asked the same."""
    return f"{flow}, number {number}?"


def made(settings: Settings) -> MCPServer[Any]:
    # On 2025-11-25 a client learns from these whose session it has.
    server: MCPServer[Any] = MCPServer(NAME, log_level="ERROR", instructions=str(os.getpid()))
    Askback(server, keys=list(settings.keys), store=store_of(settings))
    for tool in tools(settings.effects, settings.way):
        server.add_tool(tool)
    return server


def app_of(settings: Settings) -> Starlette:
    return made(settings).streamable_http_app()


def tools(effects: str, way: float) -> list[Callable[..., Any]]:
    """Three questions or one, and one effect; where it `may_be_repeated`, the other side knows each flow once."""

    async def send(flow: str, total: int) -> str:
        await anyio.sleep(way)
        file = os.open(effects, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, f"{flow} {os.getpid()} {time.monotonic()}\n".encode())
        finally:
            os.close(file)
        await anyio.sleep(way)
        return f"{flow}: {total}"

    async def three(flow: str, may_be_repeated: bool = False) -> str:
        total = 0
        for number in (1, 2, 3):
            total += (await ask(question(flow, number), Amount)).or_stop("No.").amount
        return await once(EFFECT, send, flow, total, retry=may_be_repeated)

    async def one(flow: str) -> str:
        total = (await ask(question(flow, 1), Amount)).or_stop("No.").amount
        return await once(EFFECT, send, flow, total)

    return [three, one]


def store_of(settings: Settings) -> Store:
    """With a short lease: what a killed worker had claimed is taken over within the patience of a test."""
    scheme, _, rest = settings.store.partition(":")
    match scheme:
        case "sqlite":
            return SQLiteStore(rest.removeprefix("///"), lease=settings.lease)
        case "redis" | "rediss":
            return RedisStore(settings.store, lease=settings.lease)
        case "postgresql":
            return PostgresStore(settings.store, lease=settings.lease)
        case _:
            return open_store(settings.store, clock=time.time)
