"""Each store keeps what every store must keep."""

from pathlib import Path

import pytest

from askback.stores import MemoryStore, SQLiteStore, Store
from askback.stores.postgres import PostgresStore
from askback.stores.redis import RedisStore
from askback.testing.store_contract import Clock, DeathContract, StoreContract
from tests.support.stores.postgres import empty, schema_of, shell

LEASE = 0.3


class TestMemoryStore(StoreContract):
    def open_store(self, place: Path, clock: Clock) -> Store:
        return MemoryStore(clock=clock)

    def open_again(self, store: Store, place: Path, clock: Clock) -> Store:
        return store


class TestSQLiteStore(StoreContract, DeathContract):
    def open_store(self, place: Path, clock: Clock) -> Store:
        return SQLiteStore(place / "askback.db", clock=clock)

    def open_mortal(self, place: Path, clock: Clock) -> Store:
        return SQLiteStore(place / "askback.db", clock=clock, lease=LEASE)

    async def kill(self, store: Store) -> None:
        await store.close()


@pytest.mark.services
class TestPostgresStore(StoreContract, DeathContract):
    url = ""

    @pytest.fixture(autouse=True)
    async def server(self, postgres_url: str) -> None:
        self.url = f"{postgres_url}?migrate=1&schema=contract"
        async with shell(postgres_url) as connection:
            await empty(connection, "contract")

    def open_store(self, place: Path, clock: Clock) -> Store:
        return PostgresStore(self.url, clock=clock)

    def open_mortal(self, place: Path, clock: Clock) -> Store:
        return PostgresStore(self.url, clock=clock, lease=LEASE)

    async def kill(self, store: Store) -> None:
        await store.close()


@pytest.mark.services
class TestRedisStore(StoreContract, DeathContract):
    url = ""

    @pytest.fixture(autouse=True)
    def server(self, redis_url: str) -> None:
        self.url = redis_url

    def open_store(self, place: Path, clock: Clock) -> Store:
        return RedisStore(self.url, prefix=schema_of(place), clock=clock)

    def open_mortal(self, place: Path, clock: Clock) -> Store:
        return RedisStore(self.url, prefix=schema_of(place), clock=clock, lease=LEASE)

    async def kill(self, store: Store) -> None:
        await store.close()
