"""`make peers`: adds the line to every server of somebody else's tests, and tells where these then end otherwise."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.peers.__main__ import PLUGIN
from scripts.peers.outcome import (
    Accepted,
    Outcome,
    differences,
    outlived,
    read_accepted,
    read_outcomes,
    unlisted,
)
from scripts.peers.suite import SUITES

THEIRS = """
import anyio
import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.lowlevel import Server

from askback.server.askback import middleware_of


class Shop(FastMCP):
    def __init__(self):
        super().__init__("shop")
        self.is_open = True


@pytest.mark.parametrize("make", [lambda: MCPServer("a"), lambda: Server("a"), lambda: FastMCP("a"), Shop])
def test_there_is_no_line(make):
    assert middleware_of(make()) is None


def test_a_child_gets_its_own():
    parent, child = FastMCP("parent"), FastMCP("child")
    parent.mount(child)
    assert (middleware_of(parent) is None) == (middleware_of(child) is None)


@pytest.fixture
def broken():
    raise RuntimeError


def test_an_error_in_a_fixture_is_told(broken):
    pass


async def fail_in_a_group():
    async with anyio.create_task_group():
        with pytest.raises(ValueError):
            pass


def test_a_failure_in_a_task_group_is_an_ordinary_one():
    with pytest.RaisesGroup(AssertionError):
        anyio.run(fail_in_a_group)


@pytest.mark.skip
def test_nothing():
    pass
"""


def run_theirs(folder: Path, **variables: str) -> dict[str, str]:
    """How each of these tests ends."""
    (folder / "test_theirs.py").write_text(THEIRS)
    outcomes = folder / "outcomes.jsonl"
    outcomes.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "askback_line",
        "-p",
        "no:cacheprovider",
    ]
    found = {"PYTHONPATH": str(PLUGIN), "ASKBACK_PEERS_OUTCOMES": str(outcomes)}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    subprocess.run(
        command,
        cwd=folder,
        env=inherited | found | variables,
        stdout=subprocess.DEVNULL,
        timeout=50,
        check=False,
    )
    return {test.partition("::")[2]: one.what for test, one in read_outcomes(outcomes).items()}


@pytest.mark.slow
def test_the_line_is_added_to_every_server_and_how_each_test_ends_is_told(tmp_path: Path):
    servers = {
        f"test_there_is_no_line[{make}]": "passed" for make in ("<lambda>0", "<lambda>1", "<lambda>2", "Shop")
    }
    others = {
        "test_a_child_gets_its_own": "passed",
        "test_an_error_in_a_fixture_is_told": "error",
        "test_a_failure_in_a_task_group_is_an_ordinary_one": "passed",
        "test_nothing": "skipped",
    }
    assert run_theirs(tmp_path) == servers | others
    with_line = dict.fromkeys(servers, "failed") | others
    assert run_theirs(tmp_path, ASKBACK_PEERS_LINE="1") == with_line


PASSED, FAILED = Outcome("passed"), Outcome("failed", "why")


def test_a_difference_is_another_end_or_none():
    plain = {"a": PASSED, "b": PASSED, "c": FAILED, "d": PASSED}
    added = {"a": PASSED, "b": FAILED, "c": FAILED, "e": PASSED}
    assert [str(one) for one in differences(plain, added)] == [
        "b: passed, with the line failed",
        "d: passed, with the line not run",
        "e: not run, with the line passed",
    ]


def test_the_worst_of_a_test_counts(tmp_path: Path):
    file = tmp_path / "outcomes.jsonl"
    lines = [("a", "passed"), ("a", "error"), ("b", "failed"), ("b", "passed")]
    file.write_text("".join(json.dumps({"test": t, "outcome": o, "text": ""}) + "\n" for t, o in lines))
    assert {test: one.what for test, one in read_outcomes(file).items()} == {"a": "error", "b": "failed"}


def test_a_test_is_listed_with_its_parameters_or_for_all_of_them():
    accepted = [Accepted(suite="x", reason="so it is", tests=("a", "b[1]", "gone"))]
    tests = ("a[1]", "a[2]", "b[1]", "b[2]")
    found = differences(dict.fromkeys(tests, PASSED), dict.fromkeys(tests, FAILED))
    assert [one.test for one in unlisted(found, accepted)] == ["b[2]"]
    assert outlived(found, accepted) == ["gone"]


def test_every_accepted_difference_has_a_reason_and_stands_once():
    listed = [one for suite in SUITES for one in read_accepted(suite.name)]
    assert all(len(one.reason) > 40 and one.tests for one in listed)
    tests = [(one.suite, test) for one in listed for test in one.tests]
    assert len(tests) == len(set(tests))
