"""Nothing is left behind: what a hundred thousand replies cost in memory."""

import json
import subprocess
import sys

import pytest

from tests.protocol.endurance import STATM, Report
from tests.support.omission import leave_out
from tests.support.paths import ROOT

MOST_GROWN_BYTES, MOST_GROWN_OBJECTS = 5 * 2**20, 1_000
"""The second is one object in a hundred replies; one kept in each would be a hundred times that."""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.verifies("R40")
def test_a_hundred_thousand_replies_leave_the_process_where_it_was():
    if not STATM.exists():
        leave_out(f"Memory is read from {STATM}, which this system does not have. Run it on Linux.")
    done = subprocess.run(
        [sys.executable, "-m", "tests.protocol.endurance"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    report = Report(**json.loads(done.stdout))
    assert report.replies >= 100_000
    assert report.grown_bytes < MOST_GROWN_BYTES, report
    assert report.grown_objects < MOST_GROWN_OBJECTS, report
