"""What the tests of workers share."""

from collections.abc import AsyncGenerator

import httpx2
import pytest

from tests.server.forwarding.crew import PATIENCE


@pytest.fixture
async def http() -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(timeout=PATIENCE) as client:
        yield client
