"""What a worker keeps of flows that have finished: weighed after some of them, and after very many more."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bench.cluster.flows import Flow, run_rounds
from bench.cluster.http import Web
from bench.connect import client_of, started
from bench.redis_client import bare_client
from scripts.services import redis_server

NAME = "redis/finished"

FEW, MANY = 1_000, 100_000
"""Finished flows at the first weighing, and at the last."""

TARGET = 1.1
"""How many times the first weight the last may be."""

AT_A_TIME = 8
"""Clients; enough that the worker is never idle."""

MOST_SECONDS = 1_200.0
"""Then it is weighed with as many flows as there were."""


class Weight(NamedTuple):
    """Of a worker; `resident` is 0 where the system does not tell."""

    flows: int
    blocks: int
    """What its interpreter has given out: exact, where pages also hold what is free."""
    resident: int
    keys: int
    """In Redis: of the last minute, since all that a flow leaves there has its time. The ledger is one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The two weights, and how long all flows took."""

    few: Weight
    many: Weight
    seconds: float

    @property
    def blocks(self) -> float:
        return self.many.blocks / self.few.blocks

    @property
    def resident(self) -> float:
        return self.many.resident / self.few.resident if self.few.resident else 0.0


async def measure_finished(flows: int) -> Finished:
    """One question and one effect each on 2026-07-28, over HTTP."""
    with redis_server(keeps=False) as redis:
        async with started("bench.worker", redis.url) as worker:
            load = _Load(worker.url, redis.url)
            began = monotonic()
            await load.finish(min(FEW, flows // 2))
            few = await load.weigh()
            await load.finish(flows - few.flows)
            return Finished(few=few, many=await load.weigh(), seconds=monotonic() - began)


class _Load:
    """Clients of one worker, which answer at once."""

    def __init__(self, worker: str, redis: str) -> None:
        self._worker, self._redis = worker, redis
        self._numbers = count(1)
        self._finished = 0
        self._ends = monotonic() + MOST_SECONDS

    async def finish(self, flows: int) -> None:
        """Each in words of its own."""
        waiting = islice(self._numbers, flows)
        async with asyncio.TaskGroup() as clients:
            for _ in range(AT_A_TIME):
                clients.create_task(self._serve(waiting))

    async def _serve(self, waiting: Iterator[int]) -> None:
        web = Web(urlsplit(self._worker).port or 0)
        try:
            for number in waiting:
                name = f"flow {number}"
                flow = Flow(name=name, questions=1, tool="one", arguments={"flow": name})
                await run_rounds(web, flow)
                if flow.ending != "right":
                    raise RuntimeError(f"A flow came to no good end: {flow}")
                self._finished += 1
                if monotonic() > self._ends:
                    return
        finally:
            web.close()

    async def weigh(self) -> Weight:
        """When nothing is under way."""
        async with client_of(self._worker, "2026-07-28") as client:
            said: dict[str, Any] = (await client.call_tool("weigh", {})).structured_content or {}
        async with bare_client(self._redis) as bare:
            keys = int(await bare.execute_command("DBSIZE"))
        blocks, resident = said["result"]
        return Weight(self._finished, blocks, resident, keys)
