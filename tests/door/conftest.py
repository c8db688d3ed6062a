"""One browser and one OpenID provider for all tests of the door, and a vault for each."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from askback.vault.keys import VARIABLE, new_key
from tests.chromium import browsing
from tests.openid.running import OpenID, provider


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    # For the session: the browser lives as long, and belongs to one event loop.
    return "asyncio"


@pytest.fixture(scope="session")
async def browser(anyio_backend: str) -> AsyncGenerator[Browser]:
    async with browsing() as browser:
        yield browser


@pytest.fixture(scope="session")
async def openid(anyio_backend: str) -> AsyncGenerator[OpenID]:
    async with provider() as openid:
        yield openid


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    monkeypatch.setenv(VARIABLE, new_key())
