"""People who are asked all at once, and the worker threads that wait for them."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.to_thread import current_default_thread_limiter
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.transport_context import TransportContext

from askback.server.hosts import lowlevel_of
from askback.testing import Script, accept
from askback.testing.run import FORMS, Wire, connect


class Crowd(Wire):
    """People who are all asked before the first of them answers."""

    def __init__(self, size: int, revision: str) -> None:
        super().__init__(version=revision, capabilities=FORMS, script=Script(lambda _: accept(True)))
        self.all_asked, self.may_answer = anyio.Event(), anyio.Event()
        self._missing = size

    async def on_request(
        self, _ctx: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        self._missing -= 1
        if not self._missing:
            self.all_asked.set()
        await self.may_answer.wait()
        return await super().on_request(_ctx, method, params)

    @property
    def texts(self) -> list[str]:
        """What the calls gave, as they ended."""
        results = [line.body for line in self.transcript if line.what == "result"]
        return [result["content"][0]["text"] for result in results if "content" in result]


@asynccontextmanager
async def asked(server: Any, crowd: Crowd, calls: int = 1) -> AsyncGenerator[anyio.CancelScope]:
    """As many calls as there are people, all asked; the calls of the scope's client can be cancelled."""
    async with connect(lowlevel_of(server), crowd), anyio.create_task_group() as clients:
        for _ in range(calls):
            clients.start_soon(crowd.send, "tools/call", {"name": "t"})
        with anyio.fail_after(30):
            await crowd.all_asked.wait()
        yield clients.cancel_scope


async def goes_on(wire: Wire) -> None:
    """Fails if the session has ended with the call."""
    with anyio.fail_after(5):
        await wire.send("ping", {})


def total() -> float:
    return current_default_thread_limiter().total_tokens


async def text_of(wire: Wire, tool: str) -> str:
    with anyio.fail_after(10):
        return (await wire.send("tools/call", {"name": tool}))["content"][0]["text"]
