"""The revisions that know links, both transports, and an empty home."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the machine's own files is read or written, and no keyring is asked."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path / "askback"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("NO_PROXY", "*")
    return tmp_path


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
def revision(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=["stdio", "HTTP"])
def transport(request: pytest.FixtureRequest) -> str:
    return request.param
