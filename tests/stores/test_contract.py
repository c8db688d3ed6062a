"""Each store keeps what every store must keep."""

from pathlib import Path

from askback.stores import MemoryStore, SQLiteStore, Store
from askback.testing.store_contract import Clock, DeathContract, StoreContract

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
