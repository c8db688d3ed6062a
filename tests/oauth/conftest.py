"""A vault of the test's own."""

from pathlib import Path

import pytest

from askback.vault.keys import VARIABLE, new_key


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    monkeypatch.setenv(VARIABLE, new_key())
