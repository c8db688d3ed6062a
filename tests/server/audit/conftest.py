"""What a server records runs on two hosts, and on every revision."""

import pytest

from tests.server.audit.books import HOSTS, Host


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> Host:
    return HOSTS[request.param]
