"""One store as several workers open it, each with a clock of its own; on all four stores."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from askback.stores import MemoryStore, SQLiteStore, Store
from tests.support.stores.postgres import schema_of

Opener = Callable[[Callable[[], float]], Store]
"""Opens the store for one more worker, which has that clock."""

EVERY = [
    "memory",
    "sqlite",
    pytest.param("redis", marks=pytest.mark.services),
    pytest.param("postgres", marks=pytest.mark.services),
]


@pytest.fixture(params=EVERY)
async def opener(
    request: pytest.FixtureRequest, tmp_path: Path, anyio_backend: str
) -> AsyncGenerator[Opener]:
    """A store in memory is one object for all workers, and has the clock of the first."""
    opened: list[Store] = []

    def open_one(clock: Callable[[], float]) -> Store:
        if request.param == "memory" and opened:
            return opened[0]
        opened.append(_opened(request, tmp_path, clock=clock))
        return opened[-1]

    yield open_one
    for store in opened:
        await store.close()


def _opened(request: pytest.FixtureRequest, place: Path, **options: Any) -> Store:
    match request.param:
        case "memory":
            return MemoryStore(**options)
        case "sqlite":
            return SQLiteStore(place / "askback.db", **options)
        case "redis":
            from askback.stores.redis import RedisStore

            return RedisStore(request.getfixturevalue("redis_url"), prefix=schema_of(place), **options)
        case _:
            from askback.stores.postgres import PostgresStore

            url = request.getfixturevalue("postgres_url")
            return PostgresStore(url, schema=schema_of(place), **options)
