"""Redis and Postgres for tests: real ones with throw-away data, as `make services` finds or installs them.

One of each for all tests of a worker of xdist, so each test takes a prefix or a schema of its own. A test that kills or
pauses a server starts one for itself, inside `found()`.
"""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from scripts.services import Missing, PostgresServer, RedisServer, postgres_server, redis_server
from tests.support.omission import leave_out


@contextmanager
def found() -> Generator[None]:
    """A test that starts what this machine lacks is left out."""
    try:
        yield
    except Missing as missing:
        leave_out(str(missing))


@pytest.fixture(scope="session")
def redis_service() -> Generator[RedisServer]:
    with found(), redis_server() as server:
        yield server


@pytest.fixture(scope="session")
def redis_url(redis_service: RedisServer) -> str:
    return redis_service.url


@pytest.fixture(scope="session")
def postgres_service() -> Generator[PostgresServer]:
    with found(), postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_url(postgres_service: PostgresServer) -> str:
    return postgres_service.url
