"""Servers written by hand on the bare wire, to say what a library would not let them say; and people for tests."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.transport_context import TransportContext
from mcp_types import METHOD_NOT_FOUND

from askback.answers import Accepted, Answer
from askback.client import Mode, Turn, VisitAsked, VisitReply

Context = DispatchContext[TransportContext]
JULY = "2026-07-28"

BOTH: frozenset[Mode] = frozenset({"form", "url"})

OFFERS: dict[str, Any] = {"capabilities": {"tools": {}}}

SIZE = {"type": "object", "properties": {"size": {"type": "integer"}}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One request as it reached the server."""

    id: Any
    method: str
    params: Mapping[str, Any]

    @property
    def meta(self) -> Mapping[str, Any]:
        return self.params.get("_meta", {})


class Stranger:
    """A server that says exactly what its `on_call` returns, and hears everything."""

    def __init__(
        self, on_call: Callable[[Context, Heard], Awaitable[dict[str, Any]]], *, revision: str = JULY
    ) -> None:
        self.heard: list[Heard] = []
        self.told: list[tuple[str, Any]] = []
        self.gone = anyio.Event()
        """Set to end the connection from this side."""
        self._on_call, self._revision = on_call, revision
        self._served: JSONRPCDispatcher[TransportContext] | None = None

    @property
    def calls(self) -> list[Heard]:
        return [heard for heard in self.heard if heard.method == "tools/call"]

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        assert self._served is not None
        await self._served.notify(method, params)

    async def ask(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Outside of any call."""
        assert self._served is not None
        return await self._served.send_raw_request("elicitation/create", params)

    def transport(self) -> AbstractAsyncContextManager[Any]:
        return self._transport()

    @asynccontextmanager
    async def _transport(self) -> AsyncGenerator[Any]:
        async with (
            create_client_server_memory_streams() as (ours, theirs),
            anyio.create_task_group() as tasks,
        ):
            served: JSONRPCDispatcher[TransportContext] = JSONRPCDispatcher(*theirs)
            self._served = served

            async def serve() -> None:
                async with anyio.create_task_group() as serving:
                    serving.start_soon(served.run, self._on_request, self._on_notify)
                    await self.gone.wait()
                    # First, so that it dies without a last word.
                    await theirs[1].aclose()
                    serving.cancel_scope.cancel()

            tasks.start_soon(serve)
            yield ours
            tasks.cancel_scope.cancel()

    async def _on_request(
        self, ctx: Context, method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        heard = Heard(id=ctx.request_id, method=method, params=params or {})
        self.heard.append(heard)
        match method:
            case "server/discover" if self._revision == JULY:
                return {"supportedVersions": [JULY], "ttlMs": 0, "cacheScope": "private"} | OFFERS
            case "initialize" if self._revision != JULY:
                named = {"serverInfo": {"name": "stranger", "version": "1"}}
                return {"protocolVersion": self._revision} | named | OFFERS
            case "tools/list":
                return {"tools": [], "ttlMs": 0, "cacheScope": "private"}
            case "tools/call":
                return await self._on_call(ctx, heard)
            case _:
                raise MCPError(METHOD_NOT_FOUND, method)

    async def _on_notify(self, ctx: Context, method: str, params: Mapping[str, Any] | None) -> None:
        self.told.append((method, params))


def done(text: str = "done") -> dict[str, Any]:
    """A result, which does not say of which type it is: no older server does."""
    return {"content": [{"type": "text", "text": text}]}


def form(message: str = "Which size?", schema: Any = SIZE) -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def visit(url: str = "https://pay.example/7", message: str = "Please pay.") -> dict[str, Any]:
    params = {"mode": "url", "message": message, "url": url}
    return {"method": "elicitation/create", "params": params}


def asking(state: str | None = None, **requests: Any) -> dict[str, Any]:
    """A round."""
    result: dict[str, Any] = {"resultType": "input_required"}
    result |= {"inputRequests": requests} if requests else {}
    return result | ({} if state is None else {"requestState": state})


class Typing:
    """A person who types until told what to send, and stays when the question is withdrawn until they leave."""

    shows_several = False

    def __init__(self, answer: Answer[Any] | None = None) -> None:
        self.modes: frozenset[Mode] = BOTH
        self.turns: list[Turn] = []
        self.begun, self.sends = anyio.Event(), anyio.Event()
        self.was_cancelled = False
        self._answer: Answer[Any] = answer if answer is not None else Accepted({"size": 3})

    async def answer(self, turn: Turn) -> Answer[Any]:
        self.turns.append(turn)
        self.begun.set()
        try:
            await self.sends.wait()
        except anyio.get_cancelled_exc_class():
            self.was_cancelled = True
            raise
        return self._answer

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        await finished.wait()
        return "done"


async def withdrawn(turn: Turn) -> str:
    """Wait until nobody wants this answer any more; why."""
    while turn.gone is None:
        await turn.changed()
    return turn.gone


async def settle() -> None:
    """Let everything that can run now run."""
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


class LoopClock:
    """The event loop's own time, set forward at will: deadlines pass when a test says so, however busy the machine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        self._runs, self._ahead = loop.time, 0.0
        monkeypatch.setattr(loop, "time", self)

    def __call__(self) -> float:
        return self._runs() + self._ahead

    async def skip(self, seconds: float) -> None:
        self._ahead += seconds
        await settle()


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        if seconds:
            self.slept.append(seconds)
        await anyio.lowlevel.checkpoint()
