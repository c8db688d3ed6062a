"""FastMCP logs every error with a drawn traceback, which takes longer than the call."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def quiet_fastmcp() -> Iterator[None]:
    logger = logging.getLogger("fastmcp")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(before)
