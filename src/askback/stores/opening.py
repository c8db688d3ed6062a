"""From what an operator writes to a store."""

from collections.abc import Callable

from askback.errors import OperatorError
from askback.stores.memory import MemoryStore
from askback.stores.protocol import Store


def open_store(store: Store | str | None, *, clock: Callable[[], float]) -> Store:
    """The store that `Askback(store=...)` names; nothing is opened before it is used."""
    if store is None or store == "memory:":
        return MemoryStore(clock=clock)
    if isinstance(store, str):
        raise OperatorError(f"store={store!r} names no store that Askback knows.")
    return store
