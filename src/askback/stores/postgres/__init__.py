"""A store in a Postgres database: lasts, and serves all that can connect. Takes the `postgres` extra."""

from askback.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
