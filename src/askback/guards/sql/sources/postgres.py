"""The catalogue of a live Postgres. Takes the `postgres` extra."""

import asyncio
from functools import cached_property

from askback.guards.sql.catalogue import Family, SQLCatalogue
from askback.guards.sql.engines.postgres import PostgresEngine
from askback.guards.sql.engines.postgres.connection import Connection, Database, open_connection
from askback.guards.sql.sources.live import (
    Column,
    LiveSource,
    join_name,
    make_catalogue,
    read_tag_rows,
    write_tag_query,
)

STORED = """
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
{joined} WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND NOT pg_is_other_temp_schema(n.oid)
"""

COLUMNS = (
    "SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), col_description(c.oid, a.attnum)"
    + STORED.format(joined="JOIN pg_attribute a ON a.attrelid = c.oid")
    + "AND c.relkind IN ('r', 'p', 'f', 'v', 'm') AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.oid, a.attnum"
)

VIEWS = (
    "SELECT n.nspname, c.relname, pg_get_viewdef(c.oid)"
    + STORED.format(joined="")
    + "AND c.relkind IN ('v', 'm')"
)

CHILDREN = (
    "SELECT n.nspname, c.relname, above.nspname, parent.relname"
    + STORED.format(
        joined="JOIN pg_inherits i ON i.inhrelid = c.oid JOIN pg_class parent ON parent.oid = i.inhparent "
        "JOIN pg_namespace above ON above.oid = parent.relnamespace"
    )
    + "AND c.relkind IN ('r', 'p', 'f')"
)

FULL_NAMES = "SET LOCAL search_path TO ''"
"""With nothing on the path, Postgres writes views with the schema of every table."""


class PostgresSource(LiveSource[Database]):
    """The catalogue of a Postgres database: a URL, connected to each time, a pool, or a function that connects.

    With `comments`, a column whose comment says `@personal:contact` is tagged so; `tag_table` names a table with the
    columns `name`, `tag` and, if you like, `example`. The tags of a partitioned table count for its partitions too,
    and theirs for it.
    """

    @cached_property
    def engine(self) -> PostgresEngine:
        """The engine that inspects statements on this database."""
        return PostgresEngine(self._database, timeout=self._timeout)

    async def load(self) -> SQLCatalogue:
        async with (
            asyncio.timeout(self._timeout),
            open_connection(self._database, self._timeout) as connection,
            connection.transaction(readonly=True),
        ):
            tags = await read_tags(connection, self._tag_table) if self._tag_table else SQLCatalogue()
            await connection.execute(FULL_NAMES)
            return await read(connection, comments=self._comments) | tags


async def read(connection: Connection, *, comments: bool) -> SQLCatalogue:
    columns = [
        Column(table, column, kind, comment)
        for schema, name, column, kind, comment in await connection.fetch(COLUMNS)
        if (table := join_name(schema, name))
    ]
    views = {
        view: query
        for schema, name, query in await connection.fetch(VIEWS)
        if (view := join_name(schema, name))
    }
    families: set[Family] = {
        frozenset({child, parent})
        for below, name, above, whole in await connection.fetch(CHILDREN)
        if (child := join_name(below, name)) and (parent := join_name(above, whole))
    }
    return make_catalogue(columns, views, comments=comments) | SQLCatalogue(families=frozenset(families))


async def read_tags(connection: Connection, table: str) -> SQLCatalogue:
    rows = await connection.fetch(write_tag_query(table))
    attributes = (await connection.prepare(write_tag_query(table))).get_attributes()
    return read_tag_rows(
        table, [attribute.name for attribute in attributes], [tuple(row.values()) for row in rows]
    )
