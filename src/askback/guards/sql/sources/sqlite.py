"""The catalogue of a live SQLite database. Takes nothing beside the `guards` extra."""

import sqlite3
from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import closing, contextmanager
from os import PathLike
from pathlib import Path
from typing import cast

import anyio
import anyio.to_thread

from askback.errors import AuthorError
from askback.guards.sql.catalogue import SQLCatalogue
from askback.guards.sql.engines.sqlite import SQLiteEngine
from askback.guards.sql.sources.tags import Column, dotted, known_from, listed_in, query_for

Make = Callable[[], sqlite3.Connection]


class SQLiteSource:
    """Of a file, which is opened for reading alone at each question, or of a connection or a function that gives one.

    SQLite keeps no comments on columns, so tags come from another source beside it, or from `tag_table`, a table with
    the columns `name`, `tag` and, if you like, `example`. A connection is read in the thread of the event loop, since
    SQLite's are bound to theirs; what a function gives is closed after use.
    """

    def __init__(
        self,
        database: str | PathLike[str] | sqlite3.Connection | Make,
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
        self._database, self._tag_table, self._timeout = database, tag_table, timeout
        self._engine: SQLiteEngine | None = None

    @property
    def engine(self) -> SQLiteEngine:
        """The engine that inspects statements on the same database."""
        if self._engine is None:
            self._engine = SQLiteEngine(self._database, timeout=self._timeout)
        return self._engine

    async def version(self, schema: Hashable) -> Hashable:
        """The engine's token for the schema, on which all of this depends; None with a table of tags."""
        return None if self._tag_table else schema

    async def load(self) -> SQLCatalogue:
        if isinstance(self._database, sqlite3.Connection):
            return self._read(self._database)
        with anyio.fail_after(self._timeout):
            return await anyio.to_thread.run_sync(self._known, self._database, abandon_on_cancel=True)

    def _known(self, database: str | PathLike[str] | Make) -> SQLCatalogue:
        with self._opened(database) as connection:
            return self._read(connection)

    @contextmanager
    def _opened(self, database: str | PathLike[str] | Make) -> Generator[sqlite3.Connection]:
        if isinstance(database, str | PathLike):
            path = Path(cast("str | PathLike[str]", database))
            address = f"{path.absolute().as_uri()}?mode=ro"
            connection = sqlite3.connect(address, uri=True, timeout=self._timeout)
        else:
            connection = database()
        with closing(connection):
            yield connection

    def _read(self, connection: sqlite3.Connection) -> SQLCatalogue:
        with closing(connection.cursor()) as cursor:
            cursor.row_factory = None  # whatever rows the author likes
            known = read(cursor)
            return known | tags_in(cursor, self._tag_table) if self._tag_table else known


def read(cursor: sqlite3.Cursor) -> SQLCatalogue:
    columns: list[Column] = []
    views: dict[str, str] = {}
    for _, schema, _ in cursor.execute("PRAGMA database_list").fetchall():
        stored = f"SELECT type, name, sql FROM {quoted(schema)}.sqlite_master WHERE type IN ('table', 'view')"
        for kind, name, sql in cursor.execute(stored).fetchall():
            table = dotted(schema, name)
            if table is None or name.startswith("sqlite_"):
                continue
            if kind == "view":
                views[table] = sql
            else:
                columns += columns_of(cursor, schema, name, table)
    return known_from(columns, views, comments=False)


def columns_of(cursor: sqlite3.Cursor, schema: str, name: str, table: str) -> Iterator[Column]:
    """Those that are computed among them. A virtual table whose module is not loaded has none, and is asked about."""
    try:
        found = cursor.execute(f"PRAGMA {quoted(schema)}.table_xinfo({quoted(name)})").fetchall()
    except sqlite3.OperationalError:
        return iter(())
    return (Column(table, row[1], row[2]) for row in found)


def tags_in(cursor: sqlite3.Cursor, table: str) -> SQLCatalogue:
    found = cursor.execute(query_for(table))
    return listed_in(table, [column[0] for column in found.description], found.fetchall())


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
