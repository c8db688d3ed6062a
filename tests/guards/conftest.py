"""The matrix: every behaviour of a guard runs on every revision and both hosts."""

import pytest

from tests.guards.serving import HOSTS, Serve
from tests.support.clock import Clock


@pytest.fixture(params=HOSTS)
def serve(request: pytest.FixtureRequest) -> Serve:
    """Makes a server of functions."""
    return HOSTS[request.param]


@pytest.fixture
def clock() -> Clock:
    return Clock()
