"""What every store must keep, as tests: subclass `StoreContract` and say how your store is opened.

    class TestShelfStore(StoreContract):
        def open_store(self, place: Path, clock: Clock) -> Store:
            return ShelfStore(place / "shelf", clock=clock)

A store whose runners can die apart from it, as processes do, keeps `DeathContract` as well.
"""

from askback.testing.store_contract.base import Clock
from askback.testing.store_contract.claims import ClaimContract, DeathContract, NoteContract
from askback.testing.store_contract.races import RaceContract, SettleContract
from askback.testing.store_contract.rows import CapContract, ShelfContract

__all__ = ["Clock", "DeathContract", "StoreContract"]


class StoreContract(CapContract, ClaimContract, NoteContract, RaceContract, SettleContract, ShelfContract):
    """Every verb of `Store`, alone and raced."""
