"""The stores that several processes can share, by their URLs: one for each test, and nobody else's."""

from pathlib import Path

import pytest

from tests.support.stores.postgres import schema_of
from tests.support.stores.url import FILE

SHARED = [
    "sqlite",
    pytest.param("redis", marks=pytest.mark.services),
    pytest.param("postgres", marks=pytest.mark.services),
]


@pytest.fixture(params=SHARED)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "redis":
            return f"{request.getfixturevalue('redis_url')}?prefix={schema_of(tmp_path)}"
        case "postgres":
            return f"{request.getfixturevalue('postgres_url')}?schema={schema_of(tmp_path)}"
        case _:
            return f"{FILE}{tmp_path}/askback.db"
