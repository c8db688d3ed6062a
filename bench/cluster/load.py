"""So many flows, so many at a time: each client takes the next one when it is done with its last."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
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

    def made(self) -> Iterator[Flow]:
        """One after the other, without end."""
        more = {"may_be_repeated": True} if self.may_be_repeated else {}
        for number in count():
            name = f"flow-{number}"
            yield Flow(
                name=name,
                questions=self.questions,
                tool=self.tool,
                arguments={"flow": name, **more},
                patience=self.patience,
            )


THREE_QUESTIONS = Load(flows=1_000, may_be_repeated=True)
ONE_QUESTION = Load(flows=1_000, questions=1, tool="one", push=True)


async def run(load: Load, port: int, *, is_enough: Callable[[], bool] = lambda: True) -> list[Flow]:
    """So many, and further ones until it is enough: a machine may be too quick for a fault to meet any of them.

    Each flow has a bound of its own, so this ends.
    """
    flows: list[Flow] = []

    def waiting() -> Iterator[Flow]:
        for flow in load.made():
            if len(flows) >= load.flows and is_enough():
                return
            flows.append(flow)
            yield flow

    shared = waiting()
    async with asyncio.TaskGroup() as clients:
        for _ in range(load.at_a_time):
            clients.create_task(_serve(shared, port, push=load.push))
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
