"""The writer of each dialect."""

from tests.guards.sql.oracle.dialect_duckdb import DuckDBWriter
from tests.guards.sql.oracle.dialect_postgres import PostgresWriter
from tests.guards.sql.oracle.dialect_sqlite import SQLiteWriter
from tests.guards.sql.oracle.grammar import Writer
from tests.guards.sql.oracle.relations import Dialect

WRITERS: dict[Dialect, type[Writer]] = {
    "duckdb": DuckDBWriter,
    "postgres": PostgresWriter,
    "sqlite": SQLiteWriter,
}
