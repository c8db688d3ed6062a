"""What SQLite itself says about a statement. Takes nothing beside the `guards` extra."""

from askback.guards.sql.engines.sqlite.engine import SQLiteEngine

__all__ = ["SQLiteEngine"]
