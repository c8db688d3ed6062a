"""One browser for all tests of the desk, and for each test a desk with somebody before it."""

from collections.abc import AsyncGenerator

import pytest
from playwright.async_api import Browser, expect

from tests.chromium import browsing
from tests.client.desk.sitting import PATIENCE, Sitting, sit_down

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    # For the session: the browser lives as long, and belongs to one event loop.
    return "asyncio"


@pytest.fixture(scope="session")
async def browser(anyio_backend: str) -> AsyncGenerator[Browser]:
    async with browsing() as browser:
        yield browser


@pytest.fixture
async def sitting(browser: Browser) -> AsyncGenerator[Sitting]:
    async with sit_down(browser) as sitting:
        yield sitting
