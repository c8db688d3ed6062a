"""The matrix of visits: the revisions that know links, two hosts, in memory and over HTTP."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from tests.support.visit_shops import HOSTS, JULY, NOVEMBER, TRANSPORTS, Shop


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's client waits up to a quarter of a second each time before it sends a state once more."""
    monkeypatch.setattr("mcp.client._input_required._STATE_ONLY_BACKOFF_CAP_SECONDS", 0.01)


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
