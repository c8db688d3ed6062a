"""Several processes on one file."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from askback.stores import Done, Lost, Mine, SQLiteStore
from tests.stores.processes import COPIES, FAR, KEYS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent.parent

BOUND = 45
"""Seconds; on a busy machine a process takes two or three to start."""


@contextmanager
def process(deed: str, path: Path | str) -> Generator[subprocess.Popen[str]]:
    """Started, and waiting to be told to begin."""
    command = [
        sys.executable,
        "-W",
        "ignore::DeprecationWarning",
        "-m",
        "tests.stores.processes",
        deed,
        str(path),
    ]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def said_by(started: subprocess.Popen[str]) -> str:
    assert started.stdout is not None
    return started.stdout.readline().strip()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "askback.db"


def test_four_processes_run_every_key_once(path: Path):
    with (
        process("race", path) as a,
        process("race", path) as b,
        process("race", path) as c,
        process("race", path) as d,
    ):
        racers = (a, b, c, d)
        assert [said_by(racer) for racer in racers] == ["ready"] * 4
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        told = [json.loads(said_by(racer)) for racer in racers]
        assert [racer.wait(BOUND) for racer in racers] == [0] * 4

    runs = Counter(key for each in told for key in each["runs"])
    assert runs == {f"key {number}": 1 for number in range(KEYS)}
    results = {(key, result) for each in told for key, result in each["results"]}
    assert len(results) == KEYS, "everybody got the same result"
    assert sum(len(each["results"]) for each in told) == 4 * KEYS * COPIES
    assert sorted(key for each in told for key in each["spent"]) == sorted(map(str, range(KEYS)))


async def test_what_a_killed_process_was_running_is_taken_over_or_lost(path: Path):
    store = SQLiteStore(path)
    with process("hold", path) as holder:
        assert said_by(holder) == "ready"
        with anyio.move_on_after(0.2) as patience:
            await store.claim("order", until=FAR)
        assert patience.cancelled_caught, "it is alive"
        os.kill(holder.pid, signal.SIGKILL)
        assert holder.wait(BOUND) == -signal.SIGKILL
        with anyio.fail_after(BOUND):
            taken_over = await store.claim("order", until=FAR)
            assert await store.claim("payment", until=FAR, takeover=False) == Lost()
    assert isinstance(taken_over, Mine)
    assert taken_over.noted == b"noted by the dead"
    await store.record(taken_over, b"Order 1")
    assert await store.claim("order", until=FAR) == Done(b"Order 1")
    await store.close()


def test_an_open_store_does_not_keep_its_process_alive(path: Path):
    with process("leave", path) as leaver:
        assert said_by(leaver) == "ready"
        assert leaver.wait(BOUND) == 0


def test_a_process_forks_only_while_its_store_rests(path: Path):
    with process("fork at work", path) as parent:
        assert said_by(parent) == "done forked"


async def test_a_store_that_was_opened_before_a_fork_serves_both_processes(path: Path):
    with process("fork", path) as parent:
        assert said_by(parent) == "ready 0"
        assert parent.wait(BOUND) == 0
    store = SQLiteStore(path)
    lines = await store.read()
    assert [line for _number, line in lines] == [b"before", b"after", b"after"]
    await store.close()
