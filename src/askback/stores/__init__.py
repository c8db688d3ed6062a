"""What must be kept beyond one request: claims and their results, settled and spent keys, the vault, the ledger."""

from askback.stores.memory import MemoryStore
from askback.stores.opening import open_store
from askback.stores.protocol import Cap, Done, Forgotten, Lost, Mine, Reach, Refused, Store, Verdict
from askback.stores.sqlite import SQLiteStore

__all__ = [
    "Cap",
    "Done",
    "Forgotten",
    "Lost",
    "MemoryStore",
    "Mine",
    "Reach",
    "Refused",
    "SQLiteStore",
    "Store",
    "Verdict",
    "open_store",
]
