"""Processes of `tests.support.stores.processes`, started from a test, and what they must have done when they raced."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from tests.support.paths import ROOT
from tests.support.stores.processes import COPIES, KEYS

BOUND = 45
"""Seconds; on a busy machine a process takes two or three to start."""

RACERS = 3


@contextmanager
def process(
    deed: str, url: str, *, module: str = "tests.support.stores.processes"
) -> Generator[subprocess.Popen[str]]:
    """Started, and waiting to be told to begin."""
    program = (sys.executable, "-W", "ignore::DeprecationWarning", "-m", module)
    with subprocess.Popen(
        [*program, deed, url], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def said_by(started: subprocess.Popen[str]) -> str:
    assert started.stdout is not None
    return started.stdout.readline().strip()


def race_for_every_key(url: str) -> None:
    """Several processes at once: each key is run by one of them, once, and all agree on what it gave."""
    with ExitStack() as stack:
        racers = [stack.enter_context(process("race", url)) for _ in range(RACERS)]
        assert [said_by(racer) for racer in racers] == ["ready"] * RACERS
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        told = [json.loads(said_by(racer)) for racer in racers]
        assert [racer.wait(BOUND) for racer in racers] == [0] * RACERS

    runs = Counter(key for each in told for key in each["runs"])
    assert runs == {f"key {number}": 1 for number in range(KEYS)}
    results = {(key, result) for each in told for key, result in each["results"]}
    assert len(results) == KEYS, "everybody got the same result"
    assert sum(len(each["results"]) for each in told) == RACERS * KEYS * COPIES
    assert sorted(key for each in told for key in each["spent"]) == sorted(map(str, range(KEYS)))
