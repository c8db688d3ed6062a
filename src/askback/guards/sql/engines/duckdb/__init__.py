"""What a statement reads, as an embedded DuckDB resolves it. Takes the `duckdb` extra."""

from askback.guards.sql.engines.duckdb.engine import DuckDBEngine

__all__ = ["DuckDBEngine"]
