"""From what an operator writes to a store."""

from collections.abc import Callable

from askback.errors import OperatorError
from askback.stores.memory import MemoryStore
from askback.stores.protocol import Store
from askback.stores.sqlite import SQLiteStore

FORMS = '"memory:", "sqlite:///relative/path.db", or "sqlite:////absolute/path.db"'


def open_store(store: Store | str | None, *, clock: Callable[[], float]) -> Store:
    """The store that `Askback(store=...)` names; nothing is opened before it is used."""
    if store is None or store == "memory:":
        return MemoryStore(clock=clock)
    if not isinstance(store, str):
        if not callable(getattr(store, "claim", None)):
            raise OperatorError(
                f"store={store!r:.80} is no store. Write {FORMS}, or give an object that is one."
            )
        return store
    scheme, _, path = store.partition(":")
    if scheme == "sqlite" and path.startswith("///") and path != "///":
        return SQLiteStore(path.removeprefix("///"), clock=clock)
    raise OperatorError(f"store={store!r} names no store: {_problem(scheme)}. Write {FORMS}.")


def _problem(scheme: str) -> str:
    if scheme == "sqlite":
        return "after sqlite: come three slashes and the path of a file"
    if scheme in {"redis", "rediss", "postgres", "postgresql"}:
        return f"there is no {scheme} store in this version"
    return "it begins with no scheme that Askback knows"
