"""Migrations: numbered SQL files beside this module. Each is applied once, and recorded in the database."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from askback.stores.postgres.address import PostgresAddress

if TYPE_CHECKING:
    from askback.stores.postgres.connection import Connection

NAME = re.compile(r"(\d{4})_(\w+)\.sql")

LOCK_TIMEOUT = 60
"""Seconds to wait for another process that migrates, or for a table that is in use."""

MIGRATION_TIMEOUT = 600
"""Seconds for one migration: later ones may have much to move."""

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('askback ' || $1, 0))"
IS_THERE = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)"
RECORDS = """
CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY, name text NOT NULL, taken_at timestamptz NOT NULL DEFAULT now())
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """Statements that bring the schema from one number to the next."""

    number: int
    name: str
    statements: str

    def __str__(self) -> str:
        return f"{self.number:04} {self.name.replace('_', ' ')}"


@cache
def load_migrations() -> Sequence[Migration]:
    """All migrations that this version of Askback knows, in order."""
    found = [
        Migration(int(match[1]), match[2], file.read_text(encoding="utf-8"))
        for file in (files("askback.stores.postgres") / "migrations").iterdir()
        if (match := NAME.fullmatch(file.name))
    ]
    return tuple(sorted(found, key=lambda migration: migration.number))


async def read_schema_number(connection: "Connection", address: PostgresAddress) -> int:
    """Number of the last migration that was applied; 0 if there is no schema, or nothing in it."""
    schema = address.quoted_schema
    if await connection.fetchval("SELECT to_regclass($1)", f"{schema}.migrations") is None:
        return 0
    return int(await connection.fetchval(f"SELECT coalesce(max(number), 0) FROM {schema}.migrations"))


async def apply_migrations(connection: "Connection", address: PostgresAddress) -> list[Migration]:
    """Apply those that are missing, in one transaction. Others who migrate meanwhile wait, and find nothing to do."""
    async with connection.transaction():
        await connection.execute(
            f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}s'; SET LOCAL statement_timeout = 0"
        )
        await connection.execute(LOCK, address.schema, timeout=LOCK_TIMEOUT + 1)
        # Not IF NOT EXISTS alone: that asks for the right to make schemas even where it is there.
        if not await connection.fetchval(IS_THERE, address.schema):
            await connection.execute(f"CREATE SCHEMA {address.quoted_schema}")
        await connection.execute(f"SET LOCAL search_path TO {address.quoted_schema}")
        await connection.execute(RECORDS)
        taken = await read_schema_number(connection, address)
        missing = [migration for migration in load_migrations() if migration.number > taken]
        for migration in missing:
            await connection.execute(migration.statements, timeout=MIGRATION_TIMEOUT)
            await connection.execute(
                "INSERT INTO migrations VALUES ($1, $2)", migration.number, migration.name
            )
    return missing
