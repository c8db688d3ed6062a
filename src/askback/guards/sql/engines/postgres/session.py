"""A connection to Postgres for one inspection: its transaction, its time limits, and the parse tree of a statement."""

import asyncio
import re
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import asyncpg
from asyncpg.transaction import Transaction

from askback.guards.sql.engines.postgres.connection import (
    CLOSING_TIMEOUT,
    Connection,
    Database,
    open_connection,
)
from askback.guards.sql.engines.postgres.relation import FACTS
from askback.guards.sql.names import quote_name, split_words

CATALOGUE = {
    "pg_class": "oid >= 16384",
    "pg_namespace": "nspname !~ '^pg_'",
    "pg_attribute": "attrelid >= 16384",
    "pg_rewrite": "ev_class >= 16384",
    "pg_inherits": "inhrelid >= 16384",
    "pg_description": "objoid >= 16384",
}
"""System tables that hold tables, views and comments, and a condition for rows that are not the server's own."""

MEANING = {
    "pg_auth_members": "true",
    **{
        f"pg_{name}": "oid >= 16384"
        for name in split_words("attrdef cast constraint opclass operator policy proc trigger type")
    },
}
"""Further tables in which a change can give a statement another meaning. A member of another role may see a schema that
stands earlier in the search path."""


def _sum_up(tables: Mapping[str, str]) -> str:
    """An expression for the state of these tables, which is another one after each change of them.

    It sums up hashes of the transactions that wrote the rows. The numbers themselves would not do: two transactions at
    a time can write rows whose numbers have the sum of others.
    """
    written = " UNION ALL ".join(
        f"SELECT xmin::text::bigint AS written FROM pg_catalog.{table} WHERE {condition}"
        for table, condition in tables.items()
    )
    return (
        "(SELECT pg_catalog.concat_ws(' ', current_database(), count(*),"
        f" sum(pg_catalog.hashint8extended(written, 0))) FROM ({written}) AS row)"
    )


CATALOGUE_VERSION = _sum_up(CATALOGUE)
"""An expression for the state of tables, views and comments."""

VERSION = f"""
SELECT pg_catalog.concat_ws(' ', current_user, session_user, pg_catalog.pg_my_temp_schema(),
  (SELECT sum(pg_catalog.hashtextextended(pg_catalog.concat_ws(' ', r.oid, r.rolname, r.rolsuper, r.rolinherit,
   r.rolbypassrls), 0)) FROM pg_catalog.pg_roles AS r),
  current_setting('standard_conforming_strings'), current_setting('transform_null_equals'),
  current_setting('search_path')), {CATALOGUE_VERSION} AS catalogue, {_sum_up(MEANING)}
"""
"""A row that is another one after every change that can give a statement another meaning."""

BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
"""Read-write also where transactions are read-only by default: those refuse to create anything. It is rolled back."""

READ_WRITE = "SET TRANSACTION READ WRITE; "

TREE = f"""
SELECT CASE WHEN coalesce(f.n, 1) > 1 OR t.size > $2 * 10 THEN NULL
            WHEN t.size > $2 / 5 THEN pg_catalog.regexp_replace(t.tree, ' \\[ [-0-9 ]*\\]', '', 'g')
            ELSE t.tree END AS tree, {CATALOGUE_VERSION} AS catalogue, f.*
FROM pg_catalog.pg_proc AS p
CROSS JOIN LATERAL (SELECT p.prosqlbody::text AS tree, octet_length(p.prosqlbody::text) AS size OFFSET 0) AS t
LEFT JOIN LATERAL (
  WITH RECURSIVE named(id) AS (
    SELECT d.refobjid FROM pg_catalog.pg_depend AS d WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
    AND d.objid = p.oid AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass UNION
    SELECT inside.refobjid FROM named CROSS JOIN LATERAL (
      SELECT d.refobjid FROM pg_catalog.pg_rewrite AS w JOIN pg_catalog.pg_depend AS d
      ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
      AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      WHERE w.ev_class = named.id AND w.rulename = '_RETURN' OFFSET 0) AS inside
  )
  SELECT row_number() OVER () AS n, facts.* FROM named CROSS JOIN LATERAL ({FACTS} named.id OFFSET 0) AS facts
) AS f ON true
WHERE p.proname = $1 ORDER BY f.n
"""
"""The parse tree, and the relations that it and its views name unless they are the server's own. In one question, to
save time; OFFSET 0 keeps the planner from reading whole tables of the server. A large tree comes without the bytes of
its constants."""

SCHEMA = """
SELECT n.nspname::text FROM pg_catalog.pg_namespace AS n
WHERE pg_catalog.has_schema_privilege(coalesce($1, current_user::text), n.oid, 'CREATE')
AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY n.nspname <> 'public', n.oid LIMIT 1
"""
"""Any schema will do, since the function is rolled back. The temporary one comes last: the server would create it for
each inspection, and then plan all prepared statements of the connection again."""

MAX_TREE = 500_000
"""Bytes of a parse tree that are read; a long report of a person has some ten thousand."""

PARAMETER = re.compile(r"\$\d")


@dataclass(slots=True)
class Access:
    """How a database is reached."""

    database: Database
    timeout: float
    role: str | None
    schema: str | None = None
    """Where the function is created, once it is known."""

    async def find_schema(self, connection: Connection) -> str:
        """A schema in which the role may create; the temporary one where there is no other."""
        if self.schema is None:
            found: str | None = await connection.fetchval(SCHEMA, self.role)
            self.schema = "pg_temp" if found is None else quote_name(found)
        return self.schema


class PostgresSession:
    """One transaction, in which a statement is analysed and, with `is_kept`, run where it was approved."""

    def __init__(self, connection: Connection, access: Access, *, is_kept: bool = False) -> None:
        self.connection = connection
        self.catalogue: str | None = None
        """The version of the catalogue, once a statement was analysed."""
        self.is_broken = False
        """Whether the transaction has met an error and takes nothing any more."""
        self._access, self._is_kept = access, is_kept
        self._is_open, self._function = False, ""
        self._transaction: Transaction | None = None
        milliseconds = max(1, round(access.timeout * 1000))
        settings: dict[str, object] = {"statement_timeout": milliseconds, "lock_timeout": milliseconds}
        if access.role is not None:
            settings["role"] = quote_name(access.role)
        if not is_kept:
            # The check expands views and so locks their tables, which counts only where the statement runs next.
            settings["check_function_bodies"] = "off"
            settings["plan_cache_mode"] = "force_generic_plan"  # for the queries about the catalogue
        self._settings = "".join(f"SET LOCAL {name} = {value}; " for name, value in settings.items())

    async def analyse(self, statement: str) -> tuple[str | None, list[Any]]:
        """Let the server analyse one query. Gives its parse tree, None if it is too large, and rows of `FACTS`.

        The query becomes the body of a function, which stores it as analysed and runs nothing of it. It needs no
        quoting: a text that closed the body by itself would make a second command of the END behind it, and the server
        refuses more than one.
        """
        schema = await self._access.find_schema(self.connection)
        name = f"askback_{secrets.token_hex(8)}"
        types = await self._parameter_types(statement) if PARAMETER.search(statement) else ""
        command = f"CREATE FUNCTION {schema}.{name}({types}) RETURNS void LANGUAGE sql BEGIN ATOMIC {statement}\n; END"
        if ";" in statement or self._is_kept or self._is_open:
            await self.open()
            prepared = await self.connection.prepare(command, name="")
            await prepared.fetch()
        else:
            # In one round trip, a third of the time: a text without semicolons cannot hold a second command.
            self._is_open = True
            await self.connection.execute(f"{BEGIN}; {self._settings}{command}")
        self._function = f"{schema}.{name}({types})"
        rows = await self.connection.fetch(TREE, name, MAX_TREE)
        tree, self.catalogue = rows[0]["tree"], rows[0]["catalogue"]
        is_read = tree is not None and len(tree) <= MAX_TREE
        return (tree if is_read else None), [row for row in rows if row["n"] is not None]

    async def open(self, *, can_create: bool = True) -> None:
        """Begin the transaction, where it has not begun."""
        if self._is_open:
            return
        self._is_open = True
        if self._is_kept:  # the driver has cursors only in transactions of its own
            self._transaction = self.connection.transaction(isolation="read_committed")
            await self._transaction.start()
            await self.connection.execute(f"{READ_WRITE if can_create else ''}{self._settings}")
        else:
            await self.connection.execute(f"{BEGIN}; {self._settings}")

    async def _parameter_types(self, statement: str) -> str:
        await self.open()
        prepared = await self.connection.prepare(statement, name="")
        numbers = [parameter.oid for parameter in prepared.get_parameters()]
        rows = await self.connection.fetch(
            "SELECT pg_catalog.format_type(id, NULL) FROM unnest($1::oid[]) WITH ORDINALITY AS t(id, n) ORDER BY n",
            numbers,
        )
        return ", ".join(row[0] for row in rows)

    async def ready(self, *, can_write: bool) -> None:
        """Make the transaction one in which an approved statement can run."""
        if self.is_broken:
            await self.close()
        await self.open(can_create=False)
        if self._function:  # a rollback would give up the locks
            await self.connection.execute(f"DROP FUNCTION {self._function}")
            self._function = ""
        is_read_only = await self.connection.fetchval("SHOW default_transaction_read_only") == "on"
        if is_read_only or not can_write:
            await self.connection.execute("SET TRANSACTION READ ONLY")

    async def commit(self) -> None:
        if self._transaction is not None:
            transaction, self._transaction, self._is_open = self._transaction, None, False
            await transaction.commit()

    @asynccontextmanager
    async def rollback_beside(self) -> AsyncGenerator[None]:
        """Roll back while the body computes, unless the statement is to run in this transaction."""
        rollback = None if self._is_kept else asyncio.create_task(self.close_quietly())
        try:
            await asyncio.sleep(0)  # so that the command is sent
            yield
        finally:
            if rollback is not None:
                await rollback

    async def close_quietly(self) -> None:
        """Roll back. A connection that fails at it is noticed where it is used next."""
        with suppress(TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            await self.close()

    async def close(self) -> None:
        """Roll back, so that nothing is left of the inspection."""
        transaction, self._transaction, self._function = self._transaction, None, ""
        self._is_open = self.is_broken = False
        if self.connection.is_closed() or not self.connection.is_in_transaction():
            return
        async with asyncio.timeout(CLOSING_TIMEOUT):
            await (transaction.rollback() if transaction is not None else self.connection.execute("ROLLBACK"))


@asynccontextmanager
async def open_session(access: Access, *, is_kept: bool = False) -> AsyncGenerator[PostgresSession]:
    """A session that is rolled back at the end."""
    async with open_connection(access.database, access.timeout) as connection:
        session = PostgresSession(connection, access, is_kept=is_kept)
        try:
            yield session
        finally:
            await session.close_quietly()
