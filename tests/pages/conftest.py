"""One browser for all tests of the pages, and nobody's own vault."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.chromium import browsing
from tests.pages.visitor import PATIENCE

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    # For the session: the browser lives as long, and belongs to one event loop.
    return "asyncio"


@pytest.fixture(scope="session")
async def browser(anyio_backend: str) -> AsyncGenerator[Browser]:
    async with browsing() as browser:
        yield browser


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where a vault in a file would be."""
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    return tmp_path
