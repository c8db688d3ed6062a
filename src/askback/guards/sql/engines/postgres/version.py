"""A number for the state of a database's tables, views and comments, which changes with each of them."""

TABLES = {
    "pg_class": "oid >= 16384",
    "pg_namespace": "nspname !~ '^pg_'",
    "pg_attribute": "attrelid >= 16384",
    "pg_rewrite": "ev_class >= 16384",
    "pg_inherits": "inhrelid >= 16384",
    "pg_description": "objoid >= 16384",
}
"""Where the server keeps what people create, and how their rows are told from its own."""

CATALOGUE_VERSION = "pg_catalog.concat_ws(' ', current_database(), {})".format(
    ", ".join(
        f"(SELECT pg_catalog.concat(count(*), ' ', sum(xmin::text::bigint)) FROM pg_catalog.{table} WHERE {condition})"
        for table, condition in TABLES.items()
    )
)
"""An expression: of each table how many rows there are, and by which transactions they were written."""
