"""A shell without a terminal, screens with one, a kitchen over HTTP, and an empty home."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.command.process import KITCHEN, Open, Screen, Shell
from tests.support.programs import listening


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


@pytest.fixture
def screen() -> Generator[Open]:
    """Opens screens, and closes them however the test ends."""
    opened: list[Screen] = []

    def open_(*words: str, columns: int = 80, out: Path | None = None, hears_hang_up: bool = False) -> Screen:
        opened.append(Screen(*words, columns=columns, out=out, hears_hang_up=hears_hang_up))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


@pytest.fixture(scope="session")
def kitchen_url() -> Generator[str]:
    with listening(KITCHEN, "http") as url:
        yield url
