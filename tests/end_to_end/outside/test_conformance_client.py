"""The official conformance suite against our client. Its exit code says little, so its checks are read."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import run
from tests.support.strangers import conformance_command

pytestmark = pytest.mark.strangers

NOVEMBER, JULY = "2025-11-25", "2026-07-28"

SCENARIOS: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "elicitation-sep1034-client-defaults": (NOVEMBER, 5, ("R57",)),
    "sep-2322-client-request-state": (JULY, 5, ("R71", "R72", "R73", "R74")),
    "request-metadata": (JULY, 8, ("R45",)),
}
"""Each with the revision it runs on, how many checks it passes, and the requirements that it looks at."""


def checks_of(scenario: str, revision: str, results: Path) -> list[dict[str, Any]]:
    """What the suite wrote down, after our client left without an error."""
    client = shlex.join([sys.executable, "examples/conformance_client/client.py"])
    wanted = ["--command", client, "--scenario", scenario, "--spec-version", revision]
    ended = run([*conformance_command(), "client", *wanted, "-o", str(results)])
    assert ended.returncode == 0, ended.stdout + ended.stderr
    written = list(results.rglob("checks.json"))
    assert len(written) == 1, f"{scenario} wrote no checks:\n{ended.stdout}{ended.stderr}"
    return json.loads(written[0].read_text())


@pytest.mark.parametrize(
    ("scenario", "revision", "passed"),
    [
        pytest.param(scenario, revision, passed, id=scenario, marks=pytest.mark.verifies(*numbers))
        for scenario, (revision, passed, numbers) in SCENARIOS.items()
    ],
)
def test_the_suite_has_nothing_to_complain_of(scenario: str, revision: str, passed: int, tmp_path: Path):
    judged = [check for check in checks_of(scenario, revision, tmp_path) if check["status"] != "INFO"]
    assert [check for check in judged if check["status"] != "SUCCESS"] == []
    assert len({check["id"] for check in judged}) >= passed
