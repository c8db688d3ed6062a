"""The matrix of visits: the revisions that know links, two hosts, in memory and over HTTP."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from tests.visits.shops import HOSTS, JULY, NOVEMBER, TRANSPORTS, Shop


@pytest.fixture(params=[NOVEMBER, JULY])
def revision(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> Callable[..., Shop]:
    return HOSTS[request.param]


@pytest.fixture(params=TRANSPORTS)
def reached(request: pytest.FixtureRequest) -> Callable[[Shop], AbstractAsyncContextManager[Any]]:
    """How the client gets to the server."""
    return TRANSPORTS[request.param]
