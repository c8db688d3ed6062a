"""Workers are killed wherever a call is suspended: in the middle of a verb that is on its way to the store, too."""

import pytest

from tests.end_to_end.faults.client import PUSH, ROUNDS
from tests.end_to_end.faults.outcomes import Outcome, find_out
from tests.end_to_end.faults.runs import Terms

pytestmark = [
    pytest.mark.services,
    pytest.mark.slow,
    pytest.mark.verifies("R39"),
    pytest.mark.timeout(240),
]

FLOWS = [Terms(ROUNDS, retry=False, within=False), Terms(PUSH, retry=False, within=True)]


def test_wherever_it_waits_a_call_ends_in_one_of_three_ways(redis_url: str):
    """Each of them is looked at when it is found; one that is not accounted for fails there."""
    rounds, push = find_out(f"{redis_url}?prefix=awaits", FLOWS, points="awaits").values()
    assert min(len(rounds), len(push)) > 40, "a store at the end of a wire is waited for"
    assert {end.kind for end in rounds.values()} == {"done", "refused"}
    assert {end.kind for end in push.values()} == {"done", "asked again", "refused"}
    assert Outcome("refused", 1) in rounds.values(), "it was killed in the middle of the effect"
