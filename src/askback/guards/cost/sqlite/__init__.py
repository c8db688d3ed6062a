"""What SQLite would read for a statement. Takes nothing beside the `guards` extra."""

from askback.guards.cost.sqlite.estimator import SQLiteEstimator

__all__ = ["SQLiteEstimator"]
