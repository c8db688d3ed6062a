"""What must be kept beyond one request: claims and their results, settled and spent keys, the vault, the ledger."""

from askback.model.store import (
    Cap,
    EpochChanged,
    Finished,
    Granted,
    Reach,
    Rejected,
    RunnerDied,
    Store,
    Verdict,
)
from askback.stores.factory import open_store
from askback.stores.memory import MemoryStore
from askback.stores.sqlite import SQLiteStore

__all__ = [
    "Cap",
    "EpochChanged",
    "Finished",
    "Granted",
    "MemoryStore",
    "Reach",
    "Rejected",
    "RunnerDied",
    "SQLiteStore",
    "Store",
    "Verdict",
    "open_store",
]
