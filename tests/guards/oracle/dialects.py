"""The writer of each dialect."""

from tests.guards.oracle.dialect_duckdb import DuckDBWriter
from tests.guards.oracle.dialect_postgres import PostgresWriter
from tests.guards.oracle.dialect_sqlite import SQLiteWriter
from tests.guards.oracle.grammar import Writer
from tests.guards.oracle.relations import Dialect

WRITERS: dict[Dialect, type[Writer]] = {
    "duckdb": DuckDBWriter,
    "postgres": PostgresWriter,
    "sqlite": SQLiteWriter,
}
