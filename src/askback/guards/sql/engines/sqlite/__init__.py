"""SQLite as an engine that inspects statements. Takes nothing beside the `guards` extra."""

from askback.guards.sql.engines.sqlite.engine import SQLiteEngine

__all__ = ["SQLiteEngine"]
