"""One browser for all tests of the desk, and for each test a desk with somebody before it."""

from collections.abc import AsyncGenerator

import pytest
from playwright.async_api import Browser, expect

from tests.support.chromium import browser as browser
from tests.support.desk import PATIENCE, Sitting, sit_down

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture
async def sitting(browser: Browser) -> AsyncGenerator[Sitting]:
    async with sit_down(browser) as sitting:
        yield sitting
