"""The catalogue of a live DuckDB. Takes the `duckdb` extra."""

from functools import cached_property

import anyio
import anyio.to_thread

from askback.guards.sql.catalogue import SQLCatalogue
from askback.guards.sql.engines.duckdb import DuckDBEngine
from askback.guards.sql.engines.duckdb.session import Connection, Database, open_cursor
from askback.guards.sql.sources.live import Column, LiveSource, join_name, make_catalogue, read_tags

COLUMNS = """
SELECT database_name, schema_name, table_name, column_name, data_type, comment FROM system.main.duckdb_columns()
WHERE NOT internal ORDER BY database_name, schema_name, table_name, column_index
"""

VIEWS = "SELECT database_name, schema_name, view_name, sql FROM system.main.duckdb_views() WHERE NOT internal"


class DuckDBSource(LiveSource[Database]):
    """The catalogue of a DuckDB: a file, opened read-only each time, a connection, or a function that gives one.

    Tables of the database itself go by `schema.table`, those of attached ones by `database.schema.table`. With
    `comments`, a column whose comment says `@personal:contact` is tagged so; `tag_table` names a table with the columns
    `name`, `tag` and, if you like, `example`. Temporary tables of other connections cannot be seen.
    """

    @cached_property
    def engine(self) -> DuckDBEngine:
        """The engine that inspects statements on this database."""
        return DuckDBEngine(self._database, timeout=self._timeout)

    async def load(self) -> SQLCatalogue:
        with anyio.fail_after(self._timeout):
            return await anyio.to_thread.run_sync(self._known, abandon_on_cancel=True)

    def _known(self) -> SQLCatalogue:
        with open_cursor(self._database) as cursor:
            known = read(cursor, comments=self._comments)
            return known | read_tags(cursor, self._tag_table) if self._tag_table else known


def read(cursor: Connection, *, comments: bool) -> SQLCatalogue:
    own = cursor.execute("SELECT system.main.current_database()").fetchall()[0][0]

    def name(database: str, schema: str, table: str) -> str | None:
        return join_name(schema, table) if database == own else join_name(database, schema, table)

    columns = [
        Column(table, column, kind, comment)
        for *path, column, kind, comment in cursor.execute(COLUMNS).fetchall()
        if (table := name(*path))
    ]
    views = {view: sql for *path, sql in cursor.execute(VIEWS).fetchall() if (view := name(*path))}
    return make_catalogue(columns, views, comments=comments)
