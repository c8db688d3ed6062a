"""Workers that stand still for longer than their lease, and connections that break: slow, but nothing happens twice."""

import pytest

from bench.cluster.cluster import cluster
from bench.cluster.faults import cut_connections, meanwhile, pause_workers
from bench.cluster.load import Load, run
from bench.cluster.tally import tally
from tests.support.services import found

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(180)]


async def test_what_a_paused_worker_had_begun_is_not_done_twice():
    """The client takes its request for lost and sends it again; then the worker goes on as if nothing had been."""
    with found(), cluster("sqlite:") as them:
        pauses: list[float] = []
        async with meanwhile(pause_workers(them, pauses, seconds=2.5, each=3.0)):
            flows = await run(Load(flows=120, patience=1.2), them.port, is_enough=lambda: len(pauses) > 1)
        told = tally(flows, them.effects, deaths=[])
        assert set(told.endings) <= {"right", "interrupted"}, str(told)
        assert told.repeats.get("silence"), str(told)
        assert not told.run_twice and not told.without_effect, str(told)


async def test_broken_connections_cost_nobody_more_than_another_try():
    with found(), cluster("sqlite:") as them:
        cuts: list[float] = []
        async with meanwhile(cut_connections(them, cuts, each=0.3)):
            flows = await run(Load(flows=200), them.port, is_enough=lambda: len(cuts) > 1)
        told = tally(flows, them.effects, deaths=[])
        assert set(told.endings) <= {"right", "interrupted"}, str(told)
        assert told.repeats.get("cut"), str(told)
        assert not told.run_twice and not told.without_effect and not told.asked_again, str(told)
