"""A shell without a terminal, a kitchen over HTTP, and an empty home."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.client.cli.running import KITCHEN, Shell
from tests.outside.programs import listening


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the machine's own files is read or written."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("NO_PROXY", "*")
    return tmp_path


@pytest.fixture
def shell(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kitchen_url: str
) -> Shell:
    (home / "project").mkdir()
    monkeypatch.chdir(home / "project")
    return Shell(capsys, kitchen_url)


@pytest.fixture(scope="session")
def kitchen_url() -> Generator[str]:
    with listening(KITCHEN, "http") as url:
        yield url
