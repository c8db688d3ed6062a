"""The store of each worker: a connection of its own, to the same rows."""

from askback.stores import SQLiteStore, Store


def open_store(url: str, *, lease: float) -> Store:
    """From a URL; what it takes is imported by whoever needs it."""
    match url.partition(":")[0]:
        case "sqlite":
            return SQLiteStore(url.removeprefix("sqlite:///"), lease=lease)
        case "redis":
            from askback.stores.redis import RedisStore

            return RedisStore(url, lease=lease)
        case _:
            from askback.stores.postgres import PostgresStore

            return PostgresStore(url, lease=lease)
