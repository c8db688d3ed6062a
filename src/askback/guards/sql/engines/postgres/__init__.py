"""Postgres says what a statement reads. Takes the `postgres` extra."""

from askback.guards.sql.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
