"""Tables and functions of the engines themselves: tables that describe the schema, functions that are harmless."""

from pathlib import Path as FilePath
from typing import get_args

from askback.guards.sql.names import Dialect, Path, split_words


def _read(dialect: str) -> frozenset[str]:
    text = FilePath(__file__).with_name("functions").joinpath(f"{dialect}.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())


_HARMLESS = {dialect: _read(dialect) for dialect in get_args(Dialect)}
"""Read at import: statements are judged on an event loop, which no file may hold up."""


def harmless_functions(dialect: Dialect) -> frozenset[str]:
    """Names in small letters; one text file for each dialect, taken from the engine's own list."""
    return _HARMLESS[dialect]


INFORMATION = split_words(
    "character_sets check_constraints columns constraint_column_usage constraint_table_usage domains "
    "key_column_usage referential_constraints routines schemata sequences table_constraints tables triggers "
    "views"
)

OWN: dict[Dialect, frozenset[str]] = {
    "duckdb": split_words("duckdb_columns duckdb_constraints duckdb_indexes duckdb_schemas duckdb_tables "
                        "duckdb_views sqlite_master pg_class pg_namespace pg_attribute"),
    "postgres": split_words("pg_am pg_attrdef pg_attribute pg_class pg_collation pg_constraint pg_database "
                          "pg_depend pg_description pg_enum pg_extension pg_index pg_indexes pg_inherits "
                          "pg_matviews pg_namespace pg_operator pg_proc pg_range pg_sequence pg_sequences "
                          "pg_stat_all_indexes pg_stat_all_tables pg_stat_user_indexes pg_stat_user_tables "
                          "pg_tables pg_tablespace pg_timezone_names pg_trigger pg_type pg_views"),
    "sqlite": split_words("sqlite_master sqlite_schema sqlite_temp_master sqlite_temp_schema"),
    "trino": frozenset(),
}  # fmt: skip
"""Names, types and definitions. What is kept about values (`pg_stats`, `sqlite_stat4`, and the
values of an enum in `duckdb_types`) is not among them."""

SCHEMAS: dict[Dialect, frozenset[str]] = {
    "duckdb": frozenset({"main", "pg_catalog"}),
    "postgres": frozenset({"pg_catalog"}),
    "sqlite": frozenset({"main"}),
    "trino": frozenset(),
}


def describes_the_schema(path: Path, dialect: Dialect) -> bool:
    """Whether this is a table of the engine that holds names and definitions, and no values."""
    name, schema = path[-1], path[-2] if len(path) > 1 else ""
    if schema == "information_schema":
        return dialect != "sqlite" and name in INFORMATION
    return name in OWN[dialect] and (not schema or schema in SCHEMAS[dialect])


def is_of_the_system(path: Path, dialect: Dialect) -> bool:
    """Whether an unqualified name is looked up in the engine's own schema before any other."""
    prefix = {"postgres": "pg_", "sqlite": "sqlite_"}.get(dialect)
    return prefix is not None and len(path) == 1 and path[0].startswith(prefix)
