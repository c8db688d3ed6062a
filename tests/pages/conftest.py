"""One browser for all tests of the pages, and nobody's own vault."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.support.chromium import browser as browser
from tests.support.visitor import PATIENCE

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where a vault in a file would be."""
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    return tmp_path
