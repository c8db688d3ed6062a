"""A store or a worker stands still in the middle of the load: every flow ends right, and none runs twice."""

import asyncio

import pytest

from bench.cluster.cluster import Cluster, cluster
from bench.cluster.faults import Pausable, pause
from bench.cluster.tally import tally
from tests.server.cluster.clients import Crowd
from tests.server.cluster.stores import LASTING, serving

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(180)]

LEASE = 15.0
"""Seconds, as in earnest."""

SECONDS_TO_END = 30.0
"""After the pause is over, every flow ends within this time."""


async def run_with_pause(them: Cluster, paused: Pausable, seconds: float) -> None:
    crowd = Crowd(each=100, at_a_time=20)
    async with asyncio.TaskGroup() as tasks:
        over = tasks.create_task(pause(paused, after=crowd.middle, seconds=seconds))
        flows = await crowd.run(f"{them.proxy.url}/mcp")
    told = tally(flows, them.effects, deaths=[])
    began, ended = over.result()
    assert any(flow.began < began and flow.ended > ended for flow in flows), "nobody noticed the pause"
    assert max(flow.ended for flow in flows if flow.began < ended) <= ended + SECONDS_TO_END, str(told)
    assert told.right == len(flows), str(told)
    assert not told.run_twice and not told.run_again and not told.without_effect, str(told)


@pytest.mark.parametrize("seconds", [7.0, pytest.param(15.0, marks=pytest.mark.soak)])
@pytest.mark.parametrize("store", LASTING)
async def test_a_store_that_stands_still_loses_nothing(store: str, seconds: float):
    async with serving(store) as service:
        with cluster(service.url, lease=LEASE) as them:
            await run_with_pause(them, service, seconds)


async def test_a_worker_that_stands_still_loses_nothing():
    async with serving("redis") as service:
        with cluster(service.url, lease=LEASE) as them:
            await run_with_pause(them, them.workers[0], 14.0)
