"""The harness counts what it should: a run too many, a result without its effect, a flow that nothing excuses."""

from pathlib import Path

import pytest

from bench.cluster.flows import Ending, Flow
from bench.cluster.tally import Death, tally


def flow(ending: Ending = "right", *, owner: int | None = None, carriers: set[int] | None = None) -> Flow:
    """From second 10 to second 20."""
    made = Flow(name="flow-0", questions=1, tool="one", arguments={}, began=10.0)
    made.ending, made.ended, made.owner, made.carriers = ending, 20.0, owner, carriers or set()
    return made


@pytest.fixture
def effects(tmp_path: Path) -> Path:
    return tmp_path / "effects.txt"


def test_an_effect_that_two_living_workers_ran_was_run_twice(effects: Path):
    effects.write_text("flow-0 7 11.0\nflow-0 8 12.0\n")
    assert tally([flow()], effects, deaths=[]).run_twice == ["flow-0"]


def test_a_worker_that_died_only_later_excuses_no_second_run(effects: Path):
    effects.write_text("flow-0 7 11.0\nflow-0 8 12.0\n")
    assert tally([flow()], effects, deaths=[Death(13.0, 80, 7)]).run_twice == ["flow-0"]


def test_an_effect_whose_worker_was_dead_by_then_was_run_again(effects: Path):
    effects.write_text("flow-0 7 11.0\nflow-0 8 12.0\n")
    told = tally([flow()], effects, deaths=[Death(11.5, 80, 7)])
    assert told.run_again == ["flow-0"] and not told.run_twice


def test_a_right_result_without_an_effect_is_noticed(effects: Path):
    assert tally([flow()], effects, deaths=[]).without_effect == ["flow-0"]


@pytest.mark.parametrize(
    ("death", "why"),
    [
        (Death(15.0, 80, 7), "orphaned"),
        (Death(5.0, 80, 7), "orphaned"),
        (Death(15.0, 90, 8), "dropped"),
        (Death(5.0, 90, 8), "unexcused"),
        (Death(25.0, 80, 7), "unexcused"),
        (Death(15.0, 70, 9), "unexcused"),
    ],
)
def test_a_flow_is_excused_by_the_death_of_a_worker_that_had_to_do_with_it(
    death: Death, why: str, effects: Path
):
    """Process 7 has its session, and the worker on port 90 passes its call on."""
    told = tally([flow("gone", owner=7, carriers={90})], effects, deaths=[death])
    found = {"orphaned": told.orphaned, "dropped": told.dropped, "unexcused": told.unexcused}
    assert [name for name, flows in found.items() if flows] == [why]
