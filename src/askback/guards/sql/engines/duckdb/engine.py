"""An embedded DuckDB that says what a statement reads, and runs approved ones."""

import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import duckdb

from askback.errors import ChangedSinceApproval
from askback.guards.sql.approval import approval_of
from askback.guards.sql.engines.duckdb.connection import Connection, Database, DuckDBJob, open_cursor
from askback.guards.sql.engines.duckdb.inspector import DuckDBInspector
from askback.guards.sql.engines.duckdb.parse_cache import ParseCache
from askback.guards.sql.engines.duckdb.schema import DuckDBSchema, load_schema
from askback.guards.sql.engines.duckdb.session import DuckDBSession, DuckDBSessions
from askback.guards.sql.engines.engine import Inspection, SQLRows
from askback.guards.sql.names import Dialect

SCHEMA_SECONDS = 5.0
"""How long a snapshot of the catalogue is used. What a statement reads always comes from a plan of now; the snapshot
decides only whether it is planned, and is read anew where a name is not in it."""

MAX_STUCK = 2
"""Threads that DuckDB does not let go although they were interrupted; beyond that nothing more is inspected."""

LOST = (duckdb.ConnectionException, duckdb.IOException, duckdb.FatalException)
"""Errors of the database, not of a statement."""


class DuckDBEngine:
    """Of a file, which is opened read-only each time, of a connection, or of a function that gives one.

    It works on cursors: the connection itself, with its settings, its transaction and its temporary tables, is neither
    used nor seen. Where the author's own code runs a statement on another connection, that one's search path counts.
    """

    name: str = "DuckDB"
    dialect: Dialect = "duckdb"

    def __init__(self, database: Database, *, timeout: float = 5.0) -> None:
        self._database, self._timeout = database, timeout
        self._sessions, self._texts = DuckDBSessions(database), ParseCache()
        self._schema: DuckDBSchema | None = None
        self._late: list[DuckDBJob[Any]] = []

    async def inspect(self, statement: str) -> Inspection:
        self._late = [job for job in self._late if not job.is_done]
        if len(self._late) >= MAX_STUCK:
            return Inspection(doubts=("DuckDB is still busy with earlier statements",))
        job = DuckDBJob[Inspection](lambda job: self._inspect_kept(job, statement))
        try:
            return await job.run(timeout=self._timeout)
        except TimeoutError:
            self._late.append(job)
            return Inspection(doubts=("DuckDB took too long to say what it reads",))

    async def run(self, statement: str, *, max_rows: int | None = None) -> SQLRows:
        """Run a statement that `guard_sql` let pass in this call, in the transaction in which it is inspected again.

        Raises `ChangedSinceApproval` where it would now read or change something else; then nothing has run.
        """
        inspection = approval_of(statement).inspection
        job = DuckDBJob[SQLRows](lambda job: self._run(job, statement, inspection, max_rows))
        return await job.run(timeout=self._timeout)

    def _inspect_kept(self, job: DuckDBJob[Inspection], statement: str) -> Inspection:
        with self._sessions.borrow() as session, job.on(session.cursor):
            return self._inspect(session, statement)

    def _inspect(self, session: DuckDBSession, statement: str) -> Inspection:
        started = time.monotonic()

        def reload() -> DuckDBSchema:
            if self._schema is None or self._schema.loaded_at < started:
                self._schema = load_schema(session.cursor, now=time.monotonic())
            return self._schema

        try:
            schema = self._schema
            if schema is None or started - schema.loaded_at > SCHEMA_SECONDS:
                schema = reload()
            found = DuckDBInspector(session, self._texts, schema, reload).inspect(statement)
            return replace(found, schema=schema.token) if schema.is_fixed else found
        except LOST:
            raise
        except duckdb.Error:
            return Inspection(doubts=("DuckDB does not accept it",))

    def _run(
        self, job: DuckDBJob[SQLRows], statement: str, inspection: Inspection, max_rows: int | None
    ) -> SQLRows:
        with open_cursor(self._database) as cursor, job.on(cursor):
            cursor.execute("BEGIN TRANSACTION READ ONLY" if inspection.is_query else "BEGIN TRANSACTION")
            try:
                if self._inspect(DuckDBSession(cursor), statement) != inspection:
                    raise ChangedSinceApproval
                return self._fetch(cursor, statement, inspection, max_rows)
            finally:
                with suppress(duckdb.Error):  # there is no transaction any more, or it was ended by an error
                    cursor.execute("ROLLBACK")

    def _fetch(
        self, cursor: Connection, statement: str, inspection: Inspection, max_rows: int | None
    ) -> SQLRows:
        result = cursor.execute(statement)
        names = tuple(column[0] for column in result.description or ())
        rows = result.fetchall() if max_rows is None else result.fetchmany(max_rows + 1)
        if not inspection.is_query:
            cursor.execute("COMMIT")
            self._schema = None
        return SQLRows(names, rows[:max_rows], has_more=max_rows is not None and len(rows) > max_rows)
