"""Three workers behind the nginx file of the example, restarted one after the other while people use them."""

import asyncio

import pytest

from bench.cluster.cluster import cluster
from bench.cluster.faults import restart_workers
from bench.cluster.flows import PUSH
from bench.cluster.tally import tally
from tests.server.cluster.clients import Crowd
from tests.server.cluster.stores import serving
from tests.support.paths import ROOT

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(180)]

SHIPPED = ROOT / "examples" / "cluster" / "nginx.conf"

WAY = 0.2
"""Seconds to the other side of an effect: many are under way when a worker is told to end."""


async def test_a_rolling_restart_loses_nothing_and_shows_nobody_a_bad_gateway():
    async with serving("redis") as service:
        with cluster(service.url, lease=15.0, way=WAY, recipe=SHIPPED) as them:
            over = asyncio.Event()
            crowd = Crowd(each=100, at_a_time=20, over=over)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(restart_workers(them, after=crowd.middle, over=over))
                flows = await crowd.run(f"{them.proxy.url}/mcp")
            told = tally(flows, them.effects, deaths=[])
            assert told.right == len(flows), str(told)
            assert not told.run_twice and not told.run_again and not told.without_effect, str(told)
            assert not {502, 503, 504} & crowd.statuses.keys(), crowd.statuses
            called_again = [flow.name for flow in flows if flow.troubles]
            assert called_again and all(name.startswith(PUSH) for name in called_again), called_again
