"""The authorizer of an inspection: records what SQLite asks while it prepares a statement, and refuses some of it."""

import sqlite3

from askback.guards.sql.functions import harmless_functions

FUNCTIONS = harmless_functions("sqlite") | {
    "->",
    "->>",
    "match",
    "bm25",
    "highlight",
    "snippet",
    "matchinfo",
    "offsets",
}
"""Those of full-text search read their own table, whose columns all count wherever it is read."""

SCHEMA_TABLES = frozenset({"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"})

CHANGES = {
    sqlite3.SQLITE_INSERT: "insert into",
    sqlite3.SQLITE_UPDATE: "update",
    sqlite3.SQLITE_DELETE: "delete from",
    sqlite3.SQLITE_CREATE_TABLE: "create table",
    sqlite3.SQLITE_CREATE_TEMP_TABLE: "create table",
}
"""Changes that can be prepared and inspected like a query."""

REFUSED = {
    sqlite3.SQLITE_PRAGMA: "pragma",
    sqlite3.SQLITE_ATTACH: "attach",
    sqlite3.SQLITE_DETACH: "detach",
    sqlite3.SQLITE_TRANSACTION: "transaction",
    sqlite3.SQLITE_SAVEPOINT: "savepoint",
    sqlite3.SQLITE_ANALYZE: "analyze",
    sqlite3.SQLITE_REINDEX: "reindex",
    sqlite3.SQLITE_ALTER_TABLE: "alter table",
    sqlite3.SQLITE_CREATE_INDEX: "create index",
    sqlite3.SQLITE_CREATE_TEMP_INDEX: "create index",
    sqlite3.SQLITE_CREATE_TRIGGER: "create trigger",
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER: "create trigger",
    sqlite3.SQLITE_CREATE_VIEW: "create view",
    sqlite3.SQLITE_CREATE_TEMP_VIEW: "create view",
    sqlite3.SQLITE_CREATE_VTABLE: "create virtual table",
    sqlite3.SQLITE_DROP_INDEX: "drop index",
    sqlite3.SQLITE_DROP_TEMP_INDEX: "drop index",
    sqlite3.SQLITE_DROP_TABLE: "drop table",
    sqlite3.SQLITE_DROP_TEMP_TABLE: "drop table",
    sqlite3.SQLITE_DROP_TRIGGER: "drop trigger",
    sqlite3.SQLITE_DROP_TEMP_TRIGGER: "drop trigger",
    sqlite3.SQLITE_DROP_VIEW: "drop view",
    sqlite3.SQLITE_DROP_TEMP_VIEW: "drop view",
    sqlite3.SQLITE_DROP_VTABLE: "drop table",
}
"""Actions that take effect at preparation, or that change what later statements mean. They are named and refused."""

KNOWN = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})

OWN_PRAGMA = (sqlite3.SQLITE_PRAGMA, "data_version", None)
"""Full-text search asks this by itself when it opens its table: whether the file has changed."""

Read = tuple[str | None, str, str]
"""Database, table and column. The column is empty where a table is read for its rows alone."""


class Authorizer:
    """An authorizer callback for one preparation."""

    def __init__(self) -> None:
        self.reads: set[Read] = set()
        self.written: set[tuple[str | None, str]] = set()
        self.writes: dict[str, None] = {}
        self.refused: dict[str, None] = {}
        """Sentences that say what was not inspected, in order."""

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, source: str | None
    ) -> int:
        if action == sqlite3.SQLITE_READ:
            self.reads.add((database, first or "", second or ""))
        elif action == sqlite3.SQLITE_FUNCTION:
            return self._call(second or "")
        elif action in CHANGES:
            self._change(action, first or "", database)
        elif action not in KNOWN and (action, first, second) != OWN_PRAGMA:
            return self._refuse(action, first, second, database)
        return sqlite3.SQLITE_OK

    def _call(self, name: str) -> int:
        if name.lower() in FUNCTIONS:
            return sqlite3.SQLITE_OK
        self.refused[f"it calls {name:.80}, which is not known to be harmless"] = None
        return sqlite3.SQLITE_DENY

    def _change(self, action: int, table: str, database: str | None) -> None:
        """Record a change. SQLite's own tables do not count: it writes to them where it declares a virtual table."""
        if not table.lower().startswith("sqlite_"):
            self.written.add((database, table))
            self.writes[f"{CHANGES[action]} {database}.{table}"[:200]] = None

    def _refuse(self, action: int, first: str | None, second: str | None, database: str | None) -> int:
        kind = REFUSED.get(action, "a statement of an unknown kind")
        if action == sqlite3.SQLITE_ALTER_TABLE:
            database, first = first, second
        name = first if database is None else f"{database}.{first}"
        is_named = first is not None and action not in {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_SAVEPOINT}
        self.writes[f"{kind} {name:.80}" if is_named else kind] = None
        self.refused[f"{kind} is not inspected"] = None
        return sqlite3.SQLITE_DENY
