"""Postgres as the witness of what a statement reads: it analyses the statement and stores the parse tree."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import asyncpg

from askback.errors import ChangedSinceApproval
from askback.guards.sql.approval import approval_of
from askback.guards.sql.engines.engine import Inspection, SQLRows
from askback.guards.sql.engines.postgres.inspection_cache import InspectionCache, PostgresFinding
from askback.guards.sql.engines.postgres.inspector import (
    NO_TEMPORARY,
    NOT_ALLOWED,
    NOT_SUPPORTED,
    READ_ONLY,
    TOO_SLOW,
    PostgresInspector,
    doubt,
)
from askback.guards.sql.engines.postgres.session import Access, PostgresSession, open_session
from askback.guards.sql.names import Dialect

if TYPE_CHECKING:
    from askback.guards.sql.engines.postgres.session import Database

GRACE = 2.0
"""Seconds beyond the server's own time limit after which it is given up."""

MAY_CREATE = (
    "SELECT pg_catalog.has_database_privilege(coalesce($1, current_user), current_database(), 'TEMP')"
)


class PostgresEngine:
    """A Postgres database by its URL, connected to for each statement, by a pool, or by a function that connects.

    Needs PostgreSQL 14 and the right to create in some schema, or to create temporary objects; nothing is left there.
    With `role`, statements are inspected and run as that role, so that its privileges on columns count.
    """

    name: str = "Postgres"
    dialect: Dialect = "postgres"

    def __init__(self, database: "Database", *, timeout: float = 5.0, role: str | None = None) -> None:
        self._access = Access(database, timeout, role)
        self._inspector, self._memory = PostgresInspector(), InspectionCache()

    async def inspect(self, statement: str) -> Inspection:
        async with open_session(self._access) as session:
            found = await self._within_time(session, self._recall_or_inspect(session, statement))
            return found.inspection

    async def run(self, statement: str, *, max_rows: int | None = None) -> SQLRows:
        """Run a statement that `guard_sql` let pass in this call, in the transaction in which it is inspected again.

        Raises `ChangedSinceApproval` where it would now read or change something else; then nothing has run.
        """
        inspection = approval_of(statement).inspection
        async with open_session(self._access, is_kept=True) as session:
            found = await self._within_time(session, self._inspect(session, statement))
            if found.inspection != inspection:
                raise ChangedSinceApproval
            async with asyncio.timeout(self._access.timeout + GRACE):
                await session.ready(can_write=not inspection.is_query)
                rows = await _fetch(session, statement, max_rows)
                if not inspection.is_query:
                    await session.commit()
                return rows

    async def _within_time(
        self, session: PostgresSession, inspection: Coroutine[Any, Any, PostgresFinding]
    ) -> PostgresFinding:
        try:
            async with asyncio.timeout(self._access.timeout + GRACE):
                return await inspection
        except (TimeoutError, asyncpg.QueryCanceledError):
            session.is_broken = True
            return PostgresFinding(doubt(TOO_SLOW))

    async def _recall_or_inspect(self, session: PostgresSession, statement: str) -> PostgresFinding:
        known, version = await self._memory.recall(session.connection, statement)
        if known is not None:
            return PostgresFinding(known)
        found = await self._inspect(session, statement)
        self._memory.keep(statement, found, version)
        return found

    async def _inspect(self, session: PostgresSession, statement: str) -> PostgresFinding:
        found = await self._inspector.inspect(session, statement)
        reason = await self._find_reason(session, found.inspection.doubts)
        inspection = doubt(reason) if reason else replace(found.inspection, schema=session.catalogue)
        return found._replace(inspection=inspection)

    async def _find_reason(self, session: PostgresSession, doubts: tuple[str, ...]) -> str | None:
        """What an operator can change, where the server refused for another reason than the statement."""
        if doubts == (NOT_ALLOWED,):
            self._access.schema = None  # rights may have been taken away
            await session.close()
            return None if await session.connection.fetchval(MAY_CREATE, self._access.role) else NO_TEMPORARY
        if doubts == (NOT_SUPPORTED,):
            await session.close()
            return READ_ONLY if await session.connection.fetchval("SELECT pg_is_in_recovery()") else None
        return None


async def _fetch(session: PostgresSession, statement: str, max_rows: int | None) -> SQLRows:
    prepared = await session.connection.prepare(statement, name="")
    names = tuple(attribute.name for attribute in prepared.get_attributes())
    if max_rows is None:
        return SQLRows(names, [tuple(row.values()) for row in await prepared.fetch()])
    cursor = await prepared.cursor()
    found = await cursor.fetch(max_rows + 1)
    return SQLRows(names, [tuple(row.values()) for row in found[:max_rows]], len(found) > max_rows)
