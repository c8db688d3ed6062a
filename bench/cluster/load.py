"""So many flows, so many at a time: each client takes the next one when it is done with its last."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

from bench.cluster.flows import PATIENCE, Flow, run_rounds
from bench.cluster.http import Web
from bench.cluster.sessions import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much, and of what."""

    flows: int
    at_a_time: int = 24
    questions: int = 3
    tool: str = "three"
    may_be_repeated: bool = False
    """Whether an effect whose worker was killed may be run again, since the other side knows each flow once."""
    push: bool = False
    """On 2025-11-25, in sessions; else on 2026-07-28, in rounds."""

    patience: float = PATIENCE
    """Seconds for a request, before it is sent again."""

    def made(self) -> list[Flow]:
        more = {"may_be_repeated": True} if self.may_be_repeated else {}
        return [
            Flow(
                name=name,
                questions=self.questions,
                tool=self.tool,
                arguments={"flow": name, **more},
                patience=self.patience,
            )
            for name in (f"flow-{number}" for number in range(self.flows))
        ]


THREE_QUESTIONS = Load(flows=1_000, may_be_repeated=True)
ONE_QUESTION = Load(flows=1_000, questions=1, tool="one", push=True)


async def run(load: Load, port: int) -> list[Flow]:
    """Each flow has a bound of its own, so this ends."""
    flows = load.made()
    waiting = iter(flows)
    async with asyncio.TaskGroup() as clients:
        for _ in range(load.at_a_time):
            clients.create_task(_serve(waiting, port, push=load.push))
    return flows


async def _serve(waiting: Iterator[Flow], port: int, *, push: bool) -> None:
    web = Web(port)
    session = Session(web)
    try:
        for flow in waiting:
            flow.began = monotonic()
            await (session.run(flow) if push else run_rounds(web, flow))
    finally:
        web.close()
