"""Workers are killed at every point of a flow. The page says what becomes of it, on one machine and on several."""

import anyio
import pytest

from scripts.faults import PAGE, page
from scripts.services import redis_server
from tests.end_to_end.faults.client import PUSH, ROUNDS
from tests.end_to_end.faults.losses import Loss, find_out_losses
from tests.end_to_end.faults.outcomes import FLOWS, Found, Outcome, find_out
from tests.end_to_end.faults.runs import Terms
from tests.support.services import found as services_found

pytestmark = [pytest.mark.slow, pytest.mark.verifies("R39"), pytest.mark.timeout(240)]

USUAL = [FLOWS[0], FLOWS[2]]
"""Those that are also run on the network stores: one of each era, and what may happen once at most."""

ON_NETWORK_STORES = [
    pytest.param(USUAL, id="once"),
    pytest.param(FLOWS[:4], id="with retry", marks=pytest.mark.soak),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """On SQLite."""
    return find_out(f"sqlite:///{tmp_path_factory.mktemp('faults')}/askback.db")


@pytest.fixture(scope="module")
def losses() -> list[Loss]:
    with services_found(), redis_server(keeps=False) as redis:
        return anyio.run(find_out_losses, redis)
    raise AssertionError("left out")


@pytest.mark.services
def test_the_tables_are_current(found: Found, losses: list[Loss]):
    written = PAGE.read_text()
    assert written == page(written, found, losses), "Run `python -m scripts.faults`, and read what changed."


@pytest.mark.services
def test_after_lost_memory_an_effect_happens_twice_only_where_that_was_said_or_nobody_can_know(
    losses: list[Loss],
):
    twice = [loss.moment for loss in losses if loss.effects > 1]
    assert twice == ["after the call, with `retry=True`", "after the call, and all workers with it"]


def test_on_rounds_nobody_is_asked_again_and_only_an_effect_under_way_is_refused(found: Found):
    for within in (False, True):
        ends = found[Terms(ROUNDS, retry=False, within=within)]
        assert {end.kind for end in ends.values()} == {"done", "refused"}
        refused = [point for point, end in ends.items() if end.kind == "refused"]
        assert {point.stage for point in refused} == {"the consent"}
        assert {end.effects for end in ends.values() if end.kind == "refused"} == {0, 1}
        with_retry = set(found[Terms(ROUNDS, retry=True, within=within)].values())
        assert with_retry == {Outcome("done", 1), Outcome("done", 2)}


def test_on_push_a_call_that_is_made_anew_finds_its_effect_done(found: Found):
    ends = found[Terms(PUSH, retry=False, within=True)]
    assert {end.effects for end in ends.values() if end.kind != "refused"} == {1}
    afterwards = [end for point, end in ends.items() if point.stage == "the third answer"]
    assert afterwards == [Outcome("asked again", 1)] * (len(afterwards) - 1) + [Outcome("done", 1)]


@pytest.mark.services
@pytest.mark.parametrize("flows", ON_NETWORK_STORES)
def test_on_redis_every_point_ends_as_on_sqlite(found: Found, redis_url: str, flows: list[Terms]):
    assert find_out(f"{redis_url}?prefix=faults", flows) == {terms: found[terms] for terms in flows}


@pytest.mark.services
@pytest.mark.parametrize("flows", ON_NETWORK_STORES)
def test_on_postgres_every_point_ends_as_on_sqlite(found: Found, postgres_url: str, flows: list[Terms]):
    ends = find_out(f"{postgres_url}?schema=faults&migrate=1", flows)
    assert ends == {terms: found[terms] for terms in flows}
