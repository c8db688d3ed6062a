"""SQLite as the witness of what a statement reads: its authorizer and its bytecode. Takes nothing beside the `guards` extra."""

from askback.guards.sql.engines.sqlite.engine import SQLiteEngine

__all__ = ["SQLiteEngine"]
