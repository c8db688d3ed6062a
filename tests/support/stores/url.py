"""A store that several processes can share, by its URL. For processes that are to start quickly."""

from askback.stores import SQLiteStore, Store
from askback.stores.leases import LEASE

FILE = "sqlite:///"


def opened(url: str, *, lease: float = LEASE) -> Store:
    """With a lease of one's own, which a URL has no room for. What it takes is imported by whoever needs it."""
    match url.partition(":")[0]:
        case "sqlite":
            return SQLiteStore(url.removeprefix(FILE), lease=lease)
        case "redis":
            from askback.stores.redis import RedisStore

            return RedisStore(url, lease=lease)
        case _:
            from askback.stores.postgres import PostgresStore

            return PostgresStore(url, lease=lease)
