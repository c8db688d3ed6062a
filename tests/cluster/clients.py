"""Flows by the SDK's own client: so many on each era, side by side, each to the end that its client sees."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, cast

import mcp_types as types
from mcp import Client

from bench.cluster.flows import PUSH, ROUNDS, Flow, reply

MODES = {ROUNDS: ROUNDS, PUSH: "legacy"}
"""What the SDK's client calls the eras."""

FLOW_TIMEOUT = 75.0
"""Seconds for one flow, whatever happens to it."""


@dataclass(slots=True, kw_only=True)
class Crowd:
    """The clients of one run, and what became of their flows."""

    each: int
    """Flows on each era."""
    at_a_time: int
    """Clients of each era that run flows side by side."""
    middle: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a quarter of the flows have ended: others are under way, and more will come."""
    flows: list[Flow] = field(default_factory=list[Flow])

    async def run(self, url: str) -> list[Flow]:
        """Each flow has a bound of its own, so this ends."""
        async with asyncio.TaskGroup() as clients:
            for revision in MODES:
                flows = [make_flow(f"{revision}-{number}") for number in range(self.each)]
                self.flows += flows
                waiting = iter(flows)
                for _ in range(self.at_a_time):
                    clients.create_task(self._serve(waiting, url, revision))
        return self.flows

    async def _serve(self, waiting: Iterator[Flow], url: str, revision: str) -> None:
        """One client after the other; each runs flows until one of them does not end right."""
        for flow in waiting:
            flow.began = monotonic()
            try:
                async with Client(url, mode=MODES[revision], elicitation_callback=_answer) as client:
                    while await self._call(client, flow) and (another := next(waiting, None)):
                        flow, flow.began = another, monotonic()
            except Exception as error:
                if not flow.ended:
                    flow.end("failed", _innermost(error))

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
        if sum(bool(flow.ended) for flow in self.flows) >= len(self.flows) // 4:
            self.middle.set()
        return flow.ending == "right"


def make_flow(name: str) -> Flow:
    return Flow(name=name, questions=3, tool="three", arguments={"flow": name})


async def _answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult.model_validate(reply(params.message))


def _innermost(error: Exception) -> str:
    """What went wrong first, in whatever groups it comes."""
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return f"{type(error).__name__}: {error}"
