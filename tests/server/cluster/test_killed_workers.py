"""Three workers behind nginx in turn, one of which is killed every two seconds: what hundreds of flows see of it."""

from dataclasses import replace

import pytest

from bench.cluster.cluster import Cluster, cluster
from bench.cluster.faults import kill_workers, meanwhile
from bench.cluster.flows import Flow
from bench.cluster.ledger_check import check_ledger
from bench.cluster.load import ONE_QUESTION, THREE_QUESTIONS, Load, run
from bench.cluster.sessions import UNBEGUN
from bench.cluster.tally import Death, Tally, read_runs, tally
from tests.server.cluster.stores import LASTING, serving

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]


LEAST_DEATHS = 2

FLOWS = [200, pytest.param(1_000, marks=pytest.mark.soak)]


async def load_with_kills(them: Cluster, load: Load) -> tuple[list[Flow], Tally]:
    deaths: list[Death] = []
    async with meanwhile(kill_workers(them, deaths)):
        flows = await run(load, them.port, is_enough=lambda: len(deaths) >= LEAST_DEATHS)
    told = tally(flows, them.effects, deaths)
    return flows, told


async def require_recorded(them: Cluster, flows: list[Flow]) -> None:
    """Nothing is lost from the ledger, and it verifies."""
    report, missing = await check_ledger(them.settings, flows, read_runs(them.effects))
    assert report.is_sound, report.problems[:3]
    assert missing == []


@pytest.mark.parametrize("count", FLOWS)
@pytest.mark.parametrize("store", LASTING)
async def test_on_2026_every_flow_ends_right_with_its_effect_once(store: str, count: int):
    async with serving(store) as service:
        with cluster(service.url, repeats=True) as them:
            flows, told = await load_with_kills(them, replace(THREE_QUESTIONS, flows=count))
            assert told.deaths >= LEAST_DEATHS
            assert told.right == len(flows) >= count, str(told)
            assert not told.run_twice and not told.without_effect and not told.asked_again, str(told)
            await require_recorded(them, flows)


@pytest.mark.parametrize("count", FLOWS)
@pytest.mark.parametrize("store", LASTING)
async def test_on_2025_every_flow_ends_right_but_those_whose_worker_was_killed(store: str, count: int):
    async with serving(store) as service:
        with cluster(service.url, repeats=True) as them:
            flows, told = await load_with_kills(them, replace(ONE_QUESTION, flows=count))
            assert told.deaths >= LEAST_DEATHS
            assert set(told.endings) <= {"right", "gone"}, str(told)
            assert not told.unexcused, str(told)
            # Cut between the head of an answer and its first event: too late for a proxy, too early to be taken up.
            between = {flow.name for flow in flows if flow.said == UNBEGUN}
            assert between.issuperset(told.dropped) and len(told.dropped) <= told.deaths, str(told)
            assert not told.run_twice and not told.run_again and not told.without_effect, str(told)
            await require_recorded(them, flows)
