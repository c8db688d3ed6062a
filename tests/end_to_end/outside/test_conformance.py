"""The official conformance suite against examples/everything. Its exit code says little, so its checks are read."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import listening, run
from tests.support.strangers import conformance_command

pytestmark = pytest.mark.strangers

NOVEMBER, JULY = "2025-11-25", "2026-07-28"

SCENARIOS: dict[str, tuple[str, tuple[str, ...]]] = {
    "tools-call-elicitation": (NOVEMBER, ("R05", "R06")),
    "elicitation-sep1034-defaults": (NOVEMBER, ("R06",)),
    "elicitation-sep1330-enums": (NOVEMBER, ("R06",)),
    "input-required-result-basic-elicitation": (JULY, ("R08", "R33")),
    "input-required-result-basic-sampling": (JULY, ("R34",)),
    "input-required-result-basic-list-roots": (JULY, ("R34",)),
    "input-required-result-request-state": (JULY, ("R33",)),
    "input-required-result-multiple-input-requests": (JULY, ("R34",)),
    "input-required-result-multi-round": (JULY, ("R33",)),
    "input-required-result-missing-input-response": (JULY, ("R43",)),
    "input-required-result-non-tool-request": (JULY, ("R32",)),
    "input-required-result-result-type": (JULY, ("R10",)),
    "input-required-result-unsupported-methods": (JULY, ("R32",)),
    "input-required-result-tampered-state": (JULY, ("R35",)),
    "input-required-result-capability-check": (JULY, ("R02", "R04")),
    "input-required-result-ignore-extra-params": (JULY, ("R42",)),
    "input-required-result-validate-input": (JULY, ("R41",)),
    "server-stateless": (JULY, ("R03", "R08")),
}
"""Each with the revision it runs on and the requirements that it looks at."""

EXCUSED = {
    "sep-2322-ignore-unexpected-params": (
        "An answer nobody asked for is not taken. The scenario sends its answer with the first call, before anything "
        "was asked and without state, so we ask. That keys nobody asked for are passed over is shown in tests/wire."
    ),
}
"""The warnings we live with, by check, and why. One that no longer comes must be taken from this list."""


@pytest.fixture(scope="module")
def everything() -> Iterator[str]:
    with listening("examples/everything/server.py", "--port", "0") as url:
        yield url


def checks_of(scenario: str, revision: str, url: str, results: Path) -> list[dict[str, Any]]:
    """What the suite wrote down. A scenario that it skips writes nothing, and ends with 0 all the same."""
    wanted = ["--scenario", scenario, "--spec-version", revision]
    ended = run([*conformance_command(), "server", "--url", url, *wanted, "-o", str(results)])
    written = list(results.rglob("checks.json"))
    assert len(written) == 1, f"{scenario} wrote no checks:\n{ended.stdout}{ended.stderr}"
    return json.loads(written[0].read_text())


def complaint(check: dict[str, Any]) -> str | None:
    """Why this check does not count as passed."""
    status: str = check["status"]
    if status != ("WARNING" if check["id"] in EXCUSED else "SUCCESS"):
        return f"{check['id']} is {status}: {check.get('errorMessage', check['description'])}"
    match check.get("details"):
        case {"result": {"isError": True, "content": content}}:
            return f"{check['id']} passed, for to the suite an error is a result too: {content}"
        case _:
            return None


@pytest.mark.parametrize(
    ("scenario", "revision"),
    [
        pytest.param(scenario, revision, id=scenario, marks=pytest.mark.verifies(*numbers))
        for scenario, (revision, numbers) in SCENARIOS.items()
    ],
)
def test_the_suite_has_nothing_to_complain_of(scenario: str, revision: str, everything: str, tmp_path: Path):
    checks = checks_of(scenario, revision, everything, tmp_path)
    assert Counter(check["status"] for check in checks)["SUCCESS"] > 0
    assert [text for check in checks if (text := complaint(check))] == []


def test_no_scenario_about_questions_is_left_out():
    listed = run([*conformance_command(), "list", "--server"]).stdout.split()
    about = {word for word in listed if word.startswith(("input-required-result-", "elicitation-"))}
    assert len(about) == 16
    assert about <= SCENARIOS.keys()


def test_a_scenario_that_the_suite_skips_has_not_passed(everything: str, tmp_path: Path):
    with pytest.raises(AssertionError, match="wrote no checks"):
        checks_of("tools-call-elicitation", JULY, everything, tmp_path)
