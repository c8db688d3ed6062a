"""For random schemas and queries that DuckDB accepts: what the result depends on is among the columns we report."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from random import Random

import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from askback.guards.sql.index import CatalogueIndex
from askback.guards.sql.statements import StatementReader
from tests.guards.sql.chance import Writer, schema

pytestmark = pytest.mark.slow

ROWS = 4

Rows = list[tuple[object, ...]]


@contextmanager
def undone(database: duckdb.DuckDBPyConnection) -> Generator[None]:
    database.execute("BEGIN")
    try:
        yield
    finally:
        database.execute("ROLLBACK")


def fill(database: duckdb.DuckDBPyConnection, tables: Mapping[str, list[str]], random: Random) -> None:
    database.execute("SET threads = 1")
    for table, columns in tables.items():
        database.execute(f"CREATE TABLE {table} ({', '.join(f'{column} INTEGER' for column in columns)})")
        for _ in range(ROWS):
            database.execute(
                f"INSERT INTO {table} VALUES ({', '.join(str(random.randint(0, 3)) for _ in columns)})"
            )


def outcome(database: duckdb.DuckDBPyConnection, query: str) -> Rows | str:
    try:
        return sorted(database.execute(query).fetchall(), key=repr)
    except duckdb.Error as error:
        return type(error).__name__


@settings(max_examples=20, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
def test_what_a_result_depends_on_is_reported(random: Random) -> None:
    tables = schema(random)
    query = Writer(random, tables).query()
    with duckdb.connect() as database:
        fill(database, tables, random)
        before = outcome(database, query)
        assume(not isinstance(before, str))
        columns = {f"main.{table}": dict.fromkeys(names, "INTEGER") for table, names in tables.items()}
        catalogue = CatalogueIndex(dialect="duckdb", tables=columns, views={}, tagged={})
        reading = StatementReader(catalogue).read(query)
        assert not reading.unresolved, query
        for table, names in tables.items():
            for name in names:
                if f"main.{table}.{name}" not in reading.columns:
                    assert all(
                        changed == before for changed in with_other_values(database, query, table, name)
                    ), query


def with_other_values(
    database: duckdb.DuckDBPyConnection, query: str, table: str, column: str
) -> Generator[Rows | str]:
    """The same question to databases that differ in one column alone."""
    for other in (f"({column} + 1) % 4", "rowid % 2", "NULL", "7"):
        with undone(database):
            database.execute(f"UPDATE {table} SET {column} = {other}")
            yield outcome(database, query)
