"""Compares the runs, and ends with 1 where a difference is not on the list, or one on the list is none any more."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from scripts.machine import Missing, Step, run_in_front
from scripts.peers.outcome import (
    BAD,
    Difference,
    Outcomes,
    differences,
    outlived,
    read_accepted,
    read_outcomes,
    unlisted,
)
from scripts.peers.suite import HOME, SUITES, Suite, install

PLUGIN = Path(__file__).parent / "plugin"

STEP = Step(name="peers", home=HOME)

MAX_RUN_MINUTES = 15
"""One run of the longer suite takes two minutes and a half on two cores."""

TEST_TIMEOUT = 60
"""Seconds. FastMCP's own five are too few on a busy machine."""


def main(names: Sequence[str]) -> int:
    HOME.mkdir(parents=True, exist_ok=True)
    chosen = [suite for suite in SUITES if suite.name in names or not names]
    if not chosen:
        STEP.say(f"no suite is called that; there are {', '.join(suite.name for suite in SUITES)}")
        return 2
    try:
        return max(compare(suite) for suite in chosen)
    except Missing as missing:
        STEP.say(str(missing))
        return 1


def compare(suite: Suite) -> int:
    began = time.monotonic()
    install(suite, STEP)
    STEP.say(f"running the tests of {suite} as they are")
    plain = run(suite, "plain")
    STEP.say(f"running the tests of {suite} with Askback(server) on every server")
    added = run(suite, "line")
    found = lasting(suite, differences(plain, added))
    accepted = read_accepted(suite.name)
    new, old = unlisted(found, accepted), outlived(found, accepted)
    (suite.home / "differences.txt").write_text(
        "\n".join(f"{one}\n{one.plain.text}\n{one.added.text}" for one in found), encoding="utf-8"
    )
    fail_anyway = sum(outcome.what in BAD for outcome in plain.values())
    STEP.say(
        f"{suite}: {len(plain)} tests, of which {fail_anyway} fail here in any case; with the line {len(found)} end "
        f"otherwise, {len(found) - len(new)} of them as listed ({time.monotonic() - began:.0f} s)"
    )
    for one in new:
        STEP.say(f"not on the list: {one}")
    for test in old:
        STEP.say(f"on the list, and no difference: {test}")
    if new or old:
        STEP.say(f"mend that, or scripts/peers/accepted.toml; the texts are in {suite.home}/differences.txt")
    return 1 if new or old else 0


def lasting(suite: Suite, found: list[Difference]) -> list[Difference]:
    """Those that show again when their tests alone are run once more: others come and go by themselves."""
    if not found:
        return []
    tests = [one.test for one in found]
    names = suite.home / "tests.txt"
    names.write_text("".join(f"{test}\n" for test in tests), encoding="utf-8")
    again = differences(run(suite, "plain", f"@{names}"), run(suite, "line", f"@{names}"))
    both = {one.test for one in again}
    return [one for one in found if one.test in both]


def run(suite: Suite, way: str, *tests: str) -> Outcomes:
    """One run of the suite, or of these tests of it."""
    name = f"{way}-again" if tests else way
    file = suite.home / f"{name}.jsonl"
    file.unlink(missing_ok=True)
    command = [
        *(str(suite.python), "-m", "pytest", "-q", "--color=no"),
        *("-n", "2", "--dist", "worksteal", f"--timeout={TEST_TIMEOUT}"),
        *("-p", "askback_line", "-p", "no:askback", "-p", "no:cacheprovider"),
        "--tb=native",  # Python 3.11 cannot parse the sources of some tracebacks as deep as these
        *suite.options,
        *tests,
    ]
    with (suite.home / f"{name}.txt").open("w") as output:
        try:
            code = run_in_front(
                command,
                timeout=60 * MAX_RUN_MINUTES,
                cwd=suite.sources,
                env=environment(suite, way, file),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        except subprocess.TimeoutExpired:
            raise Missing(
                f"The tests of {suite} did not end within {MAX_RUN_MINUTES} minutes; see {output.name}."
            ) from None
    if code not in {0, 1}:  # 1: some tests failed
        raise Missing(f"pytest ended with {code}; see {output.name}.")
    return read_outcomes(file)


def environment(suite: Suite, way: str, file: Path) -> dict[str, str]:
    folders = [PLUGIN, *(suite.sources / path for path in suite.paths)]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("ASKBACK_")}
    return plain | {
        "ASKBACK_HOME": str(suite.home / "askback"),
        "ASKBACK_PEERS_OUTCOMES": str(file),
        "PATH": f"{suite.python.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        **({"ASKBACK_PEERS_LINE": "1"} if way == "line" else {}),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
