"""The browser that tests drive: this machine's own Chromium, as `make browser` finds or installs it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, async_playwright

from scripts.chromium import ADVICE, find, flags
from tests.left_out import leave_out


def chromium() -> str:
    """Its path; a test on a machine without one is left out. Start it with `scripts.chromium.flags()`."""
    return find() or leave_out(ADVICE)


@asynccontextmanager
async def browsing() -> AsyncGenerator[Browser]:
    """A browser for the length of the block."""
    path = chromium()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=flags())
        yield browser
        await browser.close()


@pytest.fixture(scope="package")
async def browser(anyio_backend: str) -> AsyncGenerator[Browser]:
    """One for all tests of a folder whose conftest takes this over, and no longer: it holds their event loop."""
    async with browsing() as browser:
        yield browser
