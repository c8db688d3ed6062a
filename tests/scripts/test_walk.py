"""How many modules one call goes through, and the page that lists them."""

import json
import subprocess
import sys

import pytest

from scripts.walk import PAGE, Walk, page
from tests.support.paths import ROOT

MAX_WALK = {"`ask()` on 2026-07-28": (22, 70), "`ask()` on 2025-11-25": (18, 38)}
"""Modules of the package that one call enters, and calls from one to another; going on after an `await` is none."""


@pytest.fixture(scope="module")
def found() -> list[Walk]:
    """Traced in a process of its own: a guard that another test made would be looked for in every call."""
    command = [sys.executable, "-m", "scripts.walk", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return [Walk(*one) for one in json.loads(done.stdout.splitlines()[-1])]


def test_a_question_goes_through_few_modules(found: list[Walk]) -> None:
    counted = {one.title: (len(one.modules), one.hops) for one in found if one.title in MAX_WALK}
    assert counted.keys() == MAX_WALK.keys()
    too_long = {
        title: count
        for title, count in counted.items()
        if any(n > most for n, most in zip(count, MAX_WALK[title], strict=True))
    }
    assert not too_long


def test_the_page_lists_the_modules_of_today(found: list[Walk]) -> None:
    assert PAGE.read_text() == page(found), "Run `make walk`, and read what changed."
