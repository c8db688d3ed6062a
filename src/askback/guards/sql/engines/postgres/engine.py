"""Postgres as an engine: it analyses a statement and stores its parse tree, which says what the statement reads."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import asyncpg

from askback.errors import ChangedSinceApproval
from askback.guards.sql.approval import approval_of
from askback.guards.sql.engines.cache import TextCache
from askback.guards.sql.engines.engine import Inspection, SQLRows, cut_rows, doubt
from askback.guards.sql.engines.postgres.inspector import (
    NO_TEMPORARY,
    NOT_ALLOWED,
    NOT_SUPPORTED,
    READ_ONLY,
    TOO_SLOW,
    PostgresInspector,
)
from askback.guards.sql.engines.postgres.session import Access, PostgresSession, open_session
from askback.guards.sql.engines.postgres.version import VERSION, Version
from askback.guards.sql.names import Dialect

if TYPE_CHECKING:
    from askback.guards.sql.engines.postgres.connection import Database

GRACE_SECONDS = 2.0
"""How long after the server's own time limit it is given up."""

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
        self._inspector = PostgresInspector()
        self._seen: TextCache[tuple[Inspection, Version | None]] = TextCache()
        """Inspections and the versions that were read before them: none for a statement that came once, since a
        version costs time."""

    async def inspect(self, statement: str) -> Inspection:
        async with open_session(self._access) as session:
            return await self._within_time(session, self._recall_or_inspect(session, statement))

    async def run(self, statement: str, *, max_rows: int | None = None) -> SQLRows:
        """Run a statement that `guard_sql` let pass in this call, in the transaction in which it is inspected again.

        Raises `ChangedSinceApproval` where it would now read or change something else; then nothing has run.
        """
        inspection = approval_of(statement).inspection
        async with open_session(self._access, is_kept=True) as session:
            if await self._within_time(session, self._inspect(session, statement)) != inspection:
                raise ChangedSinceApproval
            async with asyncio.timeout(self._access.timeout + GRACE_SECONDS):
                await session.ready(can_write=not inspection.is_query)
                rows = await _fetch(session, statement, max_rows)
                if not inspection.is_query:
                    await session.commit()
                return rows

    async def _within_time(
        self, session: PostgresSession, inspection: Coroutine[Any, Any, Inspection]
    ) -> Inspection:
        try:
            async with asyncio.timeout(self._access.timeout + GRACE_SECONDS):
                return await inspection
        except (TimeoutError, asyncpg.QueryCanceledError):
            session.is_broken = True
            return doubt(TOO_SLOW)

    async def _recall_or_inspect(self, session: PostgresSession, statement: str) -> Inspection:
        """Inspect a statement again only where the schema has changed since, or where there was a doubt."""
        seen, version = self._seen.get(statement), None
        if seen is not None:
            (row,) = await session.connection.fetch(VERSION)
            version = Version(*row)
            if seen[1] == version:
                return replace(seen[0], schema=version.catalogue)
        found = await self._inspect(session, statement)
        if not found.doubts:
            self._seen.keep(statement, (found, version))
        return found

    async def _inspect(self, session: PostgresSession, statement: str) -> Inspection:
        found = await self._inspector.inspect(session, statement)
        reason = await self._find_reason(session, found.doubts)
        return doubt(reason) if reason else replace(found, schema=session.catalogue)

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
        found = await prepared.fetch()
    else:
        cursor = await prepared.cursor()
        found = await cursor.fetch(max_rows + 1)
    return cut_rows(names, [tuple(row.values()) for row in found], max_rows)
