"""What DuckDB expects a statement to read. Takes the `duckdb` package beside the `guards` extra."""

from askback.guards.cost.duckdb.estimator import DuckDBEstimator

__all__ = ["DuckDBEstimator"]
