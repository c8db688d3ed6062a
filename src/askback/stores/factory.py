"""From what an operator writes to a store."""

import re
from collections.abc import Callable
from importlib import import_module

from askback.errors import OperatorError
from askback.model.store import Store
from askback.stores.memory import MemoryStore
from askback.stores.sqlite import SQLiteStore

FORMS = (
    '"memory:", "sqlite:///relative/path.db", "sqlite:////absolute/path.db", "redis://host:6379/0", or '
    '"postgresql://user@host/database"'
)

SERVERS = {
    "redis": ("redis", "RedisStore"),
    "rediss": ("redis", "RedisStore"),
    "unix": ("redis", "RedisStore"),
    "postgres": ("postgres", "PostgresStore"),
    "postgresql": ("postgres", "PostgresStore"),
}
"""Module and class by scheme; the module is named as its extra."""

ALIKE = {"valkey": "redis", "valkeys": "rediss"}

SECRET = re.compile(r".*@", re.DOTALL)
"""Up to the last @ there may be a password, however wrong the rest is written."""


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
    scheme = scheme.lower()
    if scheme == "sqlite" and path.startswith("///") and path != "///":
        return SQLiteStore(path.removeprefix("///"), clock=clock)
    if scheme in SERVERS and path.startswith("//"):
        return _open_server(scheme, store, clock)
    raise OperatorError(
        f"store={SECRET.sub('...@', store)!r} names no store: {_problem(scheme)}. Write {FORMS}."
    )


def _open_server(scheme: str, url: str, clock: Callable[[], float]) -> Store:
    module, name = SERVERS[scheme]
    try:
        # Here, since most servers have no need of a driver, and few have one.
        make = getattr(import_module(f"askback.stores.{module}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("askback"):
            raise
        raise OperatorError(
            f"A store of {scheme}: needs the extra {module!r}, which is not installed: no module named {error.name!r}. "
            f'Install it with: pip install "askback[{module}]"'
        ) from None
    return make(url, clock=clock)


def _problem(scheme: str) -> str:
    if scheme == "sqlite":
        return "after sqlite: come three slashes and the path of a file"
    if scheme in SERVERS:
        return f"after {scheme}: come two slashes and a host"
    known, plus, driver = scheme.partition("+")
    if plus and known in {*SERVERS, "sqlite"}:
        return f"leave out +{driver}, since Askback has one way of its own to get there"
    if scheme in ALIKE:
        return f"it is spoken to as to a Redis: write {ALIKE[scheme]}://"
    return "it begins with no scheme that Askback knows"
