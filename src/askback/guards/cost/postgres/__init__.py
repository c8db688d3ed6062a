"""What Postgres expects a statement to read. Takes the `postgres` extra beside `guards`."""

from askback.guards.cost.postgres.estimator import PostgresEstimator

__all__ = ["PostgresEstimator"]
