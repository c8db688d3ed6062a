"""Stores that a test may kill: each a server of its own."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from functools import partial

from askback.stores.postgres.upkeep import migrate
from scripts.services import Service, postgres_server, redis_server
from tests.support.services import found

Start = Callable[[], AbstractContextManager[Service]]

STORES: dict[str, Start] = {
    "redis": redis_server,
    "postgres": postgres_server,
    "redis that forgets": partial(redis_server, keeps=False),
}
LASTING = ("redis", "postgres")


@asynccontextmanager
async def serving(name: str) -> AsyncGenerator[Service]:
    """A store that is ready for workers."""
    with found(), STORES[name]() as service:
        if name == "postgres":
            await migrate(service.url)
        yield service
