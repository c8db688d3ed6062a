"""The store is killed under load and comes back: nothing is agreed to in between, and soon all are served again."""

import asyncio

import pytest

from bench.cluster.cluster import Cluster, cluster
from bench.cluster.faults import restart
from bench.cluster.flows import STORE_DOWN, Flow
from bench.cluster.ledger_check import check_ledger
from bench.cluster.load import Load, run
from bench.cluster.tally import Tally, read_runs, tally
from scripts.services import Service
from tests.server.cluster.stores import LASTING, serving

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(180)]

LOAD = Load(flows=200)
SECONDS_UNTIL_SERVED = 2.0


async def load_while_the_store_is_away(them: Cluster, store: Service) -> tuple[list[Flow], Tally, float]:
    """The flows, what became of them, and when the store was back."""
    async with asyncio.TaskGroup() as tasks:
        back = tasks.create_task(restart(store, after=1.0, down=1.5))
        flows = await run(LOAD, them.port, is_enough=back.done)
    told = tally(flows, them.effects, deaths=[])
    return flows, told, back.result()


def require_service_soon(flows: list[Flow], back: float) -> None:
    """Nobody is told that the store is down for longer than that after it is up."""
    told = [trouble.at for flow in flows for trouble in flow.troubles if trouble.what == STORE_DOWN]
    assert told, "nobody noticed that the store was away"
    assert max(told) - back <= SECONDS_UNTIL_SERVED
    assert any(back < flow.ended <= back + SECONDS_UNTIL_SERVED for flow in flows if flow.ending == "right")


@pytest.mark.parametrize("name", LASTING)
async def test_a_store_that_comes_back_finds_everything_where_it_was(name: str):
    async with serving(name) as store:
        with cluster(store.url) as them:
            flows, told, back = await load_while_the_store_is_away(them, store)
            assert set(told.endings) <= {"right", "interrupted"}, str(told)
            assert not told.run_twice and not told.run_again and not told.without_effect, str(told)
            require_service_soon(flows, back)
            report, missing = await check_ledger(them.settings, flows, read_runs(them.effects))
            assert report.is_sound and missing == []


async def test_a_store_that_comes_back_without_its_memory_refuses_what_began_before():
    async with serving("redis that forgets") as store:
        with cluster(store.url) as them:
            flows, told, back = await load_while_the_store_is_away(them, store)
            assert set(told.endings) <= {"right", "interrupted", "refused"}, str(told)
            assert told.endings.get("refused", 0) > 0
            assert not told.run_twice and not told.run_again and not told.without_effect, str(told)
            require_service_soon(flows, back)
