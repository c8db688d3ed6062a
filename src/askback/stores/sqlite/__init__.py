"""A store in one SQLite file: lasts beyond the process, and serves all processes of one machine at once."""

from askback.stores.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore"]
