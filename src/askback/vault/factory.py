"""The vault of a server: in the server's store if that is lasting, else in a file of this user."""

import time
from collections.abc import Callable
from pathlib import Path

from askback.errors import VaultUnavailable
from askback.stores import MemoryStore, SQLiteStore, Store
from askback.vault.keys import data_directory, find_keys
from askback.vault.vault import Vault


def open_vault(store: Store, *, is_local: bool, clock: Callable[[], float]) -> Vault:
    """A store in memory would lose every secret at the end of the process, so the file is used instead."""
    ring = find_keys(is_local=is_local)
    return Vault(embedded_store(clock=clock) if isinstance(store, MemoryStore) else store, ring, clock=clock)


def embedded_store(*, clock: Callable[[], float] = time.time) -> Store:
    """The file, in a directory that only its owner can read."""
    file = embedded_file()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise VaultUnavailable(
            f"The vault cannot be kept in {file.parent}: {error.strerror}. Set ASKBACK_HOME to a directory that can be "
            "written to, or give Askback(server, store=...) one that lasts."
        ) from error
    return SQLiteStore(file, clock=clock)


def embedded_file() -> Path:
    """Where the file is, whether it exists or not."""
    return data_directory() / "vault.db"
