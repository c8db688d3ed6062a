"""Which Pythons of a machine the tests run on: each version once, and none that could not make an environment."""

import os
import sys
from pathlib import Path

import pytest

from scripts.pythons import candidates, find_pythons


def make_python(file: Path, says: str, code: int = 0) -> Path:
    """A program that answers as a Python would."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    make_python(tmp_path / "bin" / "python3", "3 12 1")
    make_python(tmp_path / "bin" / "python3.12", "3 12 1")
    make_python(tmp_path / "bin" / "python3.10", "3 10 13")
    make_python(tmp_path / "bin" / "python3.99", "pyenv: not chosen", code=127)
    make_python(tmp_path / "bin" / "python3-config", "3 98 0")
    make_python(tmp_path / "pyenv" / "versions" / "3.11.7" / "bin" / "python3", "3 11 7")
    make_python(tmp_path / "pyenv" / "versions" / "3.13.0" / "bin" / "python3", "3 13 0")
    return tmp_path


def test_each_version_is_found_once_wherever_it_is(machine: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("scripts.pythons.PLACES", ())
    found = find_pythons(candidates(str(machine / "bin"), machine / "pyenv"))
    assert [*found] == [(3, 11, 7), (3, 12, 1), (3, 13, 0)]
    assert found[3, 12, 1] == machine / "bin" / "python3"


def test_the_python_that_runs_the_tests_is_among_those_of_this_machine():
    files = [*candidates(os.environ.get("PATH", os.defpath), Path.home() / ".pyenv"), Path(sys.executable)]
    assert sys.version_info[:3] in find_pythons(files)
