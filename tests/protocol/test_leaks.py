"""Nothing is left behind: what tens of thousands of replies cost in memory."""

import json
import subprocess
import sys

import pytest

from tests.protocol.endurance import STATM, Report
from tests.support.omission import leave_out
from tests.support.paths import ROOT

MOST_GROWN_BYTES, MOST_GROWN_OBJECTS = 5 * 2**20, 1_000
"""The second is at most one object in twenty replies; one kept in each would be twenty times that."""

REPLIES = [20_000, pytest.param(100_000, marks=pytest.mark.soak)]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.verifies("R40")
@pytest.mark.parametrize("replies", REPLIES)
def test_replies_leave_the_process_where_it_was(replies: int):
    if not STATM.exists():
        leave_out(f"Memory is read from {STATM}, which this system does not have. Run it on Linux.")
    done = subprocess.run(
        [sys.executable, "-m", "tests.protocol.endurance", str(replies)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    report = Report(**json.loads(done.stdout))
    assert report.replies >= replies
    assert report.grown_bytes < MOST_GROWN_BYTES, report
    assert report.grown_objects < MOST_GROWN_OBJECTS, report
