"""Flows by the SDK's own client: so many on each era, side by side, each to the end that its client sees."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, cast

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bench.cluster.flows import PUSH, ROUNDS, Flow, reply

MODES = {ROUNDS: ROUNDS, PUSH: "legacy"}
"""What the SDK's client calls the eras."""

FLOW_TIMEOUT = 75.0
"""Seconds for one flow, whatever happens to it."""

GONE = ("Session not found", "is being stopped")
"""Words for a session that ended with its worker: its client begins another, and calls again."""


@dataclass(slots=True, kw_only=True)
class Crowd:
    """The clients of one run, and what became of their flows."""

    each: int
    """Flows on each era, at least."""
    at_a_time: int
    """Clients of each era that run flows side by side."""
    over: asyncio.Event | None = None
    """Where it is given, flows go on coming until it is set."""
    middle: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a quarter of the flows have ended: others are under way, and more will come."""
    flows: list[Flow] = field(default_factory=list[Flow])
    statuses: Counter[int] = field(default_factory=Counter[int])
    """Of all responses that the clients got."""
    _ended: int = 0

    async def run(self, url: str) -> list[Flow]:
        """Each flow has a bound of its own, so this ends."""
        async with asyncio.TaskGroup() as clients:
            for revision in MODES:
                flows = self._make_flows(revision)
                for _ in range(self.at_a_time):
                    clients.create_task(self._serve(flows, url, revision))
        return self.flows

    def _make_flows(self, revision: str) -> Iterator[Flow]:
        for number in count():
            if number >= self.each and (self.over is None or self.over.is_set()):
                return
            name = f"{revision}-{number}"
            self.flows.append(Flow(name=name, questions=3, tool="three", arguments={"flow": name}))
            yield self.flows[-1]

    async def _serve(self, flows: Iterator[Flow], url: str, revision: str) -> None:
        """One client after the other: each runs flows until its session is gone, or one does not end right."""
        flow = next(flows, None)
        while flow is not None:
            try:
                async with self._client(url, revision) as client:
                    while flow is not None and await self._call(client, flow):
                        flow = next(flows, None)
            except Exception as error:
                assert flow is not None
                flow.end("failed", _innermost(error))
            if flow is not None and not _is_called_again(flow):
                flow = next(flows, None)

    @asynccontextmanager
    async def _client(self, url: str, revision: str) -> AsyncGenerator[Client]:
        async def note(response: httpx2.Response) -> None:
            self.statuses[response.status_code] += 1

        async with (
            httpx2.AsyncClient(timeout=FLOW_TIMEOUT, event_hooks={"response": [note]}) as http,
            Client(
                streamable_http_client(url, http_client=http),
                mode=MODES[revision],
                elicitation_callback=_answer,
            ) as client,
        ):
            yield client

    async def _call(self, client: Client, flow: Flow) -> bool:
        """Whether the client can go on."""
        try:
            async with asyncio.timeout(FLOW_TIMEOUT):
                result = await client.call_tool(flow.tool, flow.arguments)
            flow.judge({"result": result.model_dump(by_alias=True, mode="json")})
        except TimeoutError:
            flow.end("hung")
        except Exception as error:
            flow.end("failed", _innermost(error))
        self._ended += 1
        if self._ended >= self.each // 2:
            self.middle.set()
        return flow.ending == "right"


def _is_called_again(flow: Flow) -> bool:
    if flow.ending != "failed" or not any(word in flow.said for word in GONE):
        return False
    flow.met("session gone")
    return len(flow.troubles) < 5


async def _answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult.model_validate(reply(params.message))


def _innermost(error: Exception) -> str:
    """What went wrong first, in whatever groups it comes."""
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return f"{type(error).__name__}: {error}"
