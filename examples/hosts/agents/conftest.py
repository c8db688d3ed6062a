"""The tests of the hosts run on asyncio, as the hosts do."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
