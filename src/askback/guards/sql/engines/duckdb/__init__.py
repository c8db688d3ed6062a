"""An embedded DuckDB as an engine that inspects statements. Takes the `duckdb` extra."""

from askback.guards.sql.engines.duckdb.engine import DuckDBEngine

__all__ = ["DuckDBEngine"]
