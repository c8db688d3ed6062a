"""The catalogue of a live SQLite database. Takes nothing beside the `guards` extra."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cached_property
from os import PathLike
from typing import cast

import anyio
import anyio.to_thread

from askback.errors import AuthorError
from askback.guards.sql.catalogue import SQLCatalogue
from askback.guards.sql.engines.sqlite import SQLiteEngine
from askback.guards.sql.engines.sqlite.connection import Database, Make, open_file
from askback.guards.sql.names import quote_name
from askback.guards.sql.sources.live import Column, LiveSource, join_name, make_catalogue, read_tags


class SQLiteSource(LiveSource[Database]):
    """The catalogue of a SQLite file, opened read-only each time, of a connection, or of a function that gives one.

    SQLite keeps no comments on columns, so tags come from another source beside it, or from `tag_table`, a table with
    the columns `name`, `tag` and, if you like, `example`. A connection is read in the thread of the event loop, since
    SQLite's are bound to theirs; what a function gives is closed after use.
    """

    def __init__(
        self,
        database: Database,
        *,
        comments: bool = False,
        tag_table: str | None = None,
        timeout: float = 5.0,
    ) -> None:
        if comments:
            raise AuthorError(
                "SQLite keeps no comments on columns. Give the tags in a TOML file beside this source, or in a table "
                "of the database: SQLiteSource(..., tag_table='personal_columns')."
            )
        super().__init__(database, comments=False, tag_table=tag_table, timeout=timeout)

    @cached_property
    def engine(self) -> SQLiteEngine:
        """The engine that inspects statements on this database."""
        return SQLiteEngine(self._database, timeout=self._timeout)

    async def load(self) -> SQLCatalogue:
        if isinstance(self._database, sqlite3.Connection):
            return self._read(self._database)
        with anyio.fail_after(self._timeout):
            return await anyio.to_thread.run_sync(self._open_and_read, self._database, abandon_on_cancel=True)

    def _open_and_read(self, database: str | PathLike[str] | Make) -> SQLCatalogue:
        if isinstance(database, str | PathLike):
            connection = open_file(cast("str | PathLike[str]", database), timeout=self._timeout)
        else:
            connection = database()
        with closing(connection):
            return self._read(connection)

    def _read(self, connection: sqlite3.Connection) -> SQLCatalogue:
        with closing(connection.cursor()) as cursor:
            cursor.row_factory = None  # whatever rows the author likes
            known = read(cursor)
            return known | read_tags(cursor, self._tag_table) if self._tag_table else known


def read(cursor: sqlite3.Cursor) -> SQLCatalogue:
    columns: list[Column] = []
    views: dict[str, str] = {}
    for _, schema, _ in cursor.execute("PRAGMA database_list").fetchall():
        stored = (
            f"SELECT type, name, sql FROM {quote_name(schema)}.sqlite_master WHERE type IN ('table', 'view')"
        )
        for kind, name, sql in cursor.execute(stored).fetchall():
            table = join_name(schema, name)
            if table is None or name.startswith("sqlite_"):
                continue
            if kind == "view":
                views[table] = sql
            else:
                columns += columns_of(cursor, schema, name, table)
    return make_catalogue(columns, views, comments=False)


def columns_of(cursor: sqlite3.Cursor, schema: str, name: str, table: str) -> Iterator[Column]:
    """The columns of a table, computed ones too. A virtual table whose module is not loaded has none."""
    try:
        found = cursor.execute(f"PRAGMA {quote_name(schema)}.table_xinfo({quote_name(name)})").fetchall()
    except sqlite3.OperationalError:
        return iter(())
    return (Column(table, row[1], row[2]) for row in found)
