"""The schema, step by step: numbered files beside this one, each taken once and written down in the database."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from askback.stores.postgres.address import Address

if TYPE_CHECKING:
    from askback.stores.postgres.connection import Connection

NAME = re.compile(r"(\d{4})_(\w+)\.sql")

PATIENCE = 60
"""Seconds to wait for another who takes the same steps, or for a table that is in use."""

LONGEST = 600
"""Seconds for one step: later ones may have much to move."""

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('askback ' || $1, 0))"
IS_THERE = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)"
RECORDS = """
CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY, name text NOT NULL, taken_at timestamptz NOT NULL DEFAULT now())
"""


@dataclass(frozen=True, slots=True)
class Step:
    """From one number of the schema to the next."""

    number: int
    name: str
    statements: str

    def __str__(self) -> str:
        return f"{self.number:04} {self.name.replace('_', ' ')}"


@cache
def known_steps() -> Sequence[Step]:
    """All that this version of Askback knows, in order."""
    found = [
        Step(int(match[1]), match[2], file.read_text(encoding="utf-8"))
        for file in (files("askback.stores.postgres") / "migrations").iterdir()
        if (match := NAME.fullmatch(file.name))
    ]
    return tuple(sorted(found, key=lambda step: step.number))


async def steps_taken(connection: "Connection", address: Address) -> int:
    """The number of the last; 0 where there is no schema, or nothing in it."""
    schema = address.quoted_schema
    if await connection.fetchval("SELECT to_regclass($1)", f"{schema}.migrations") is None:
        return 0
    return int(await connection.fetchval(f"SELECT coalesce(max(number), 0) FROM {schema}.migrations"))


async def take_steps(connection: "Connection", address: Address) -> list[Step]:
    """All that are missing, in one transaction; those who come at the same time wait, and find nothing left to do."""
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{PATIENCE}s'; SET LOCAL statement_timeout = 0")
        await connection.execute(LOCK, address.schema, timeout=PATIENCE + 1)
        # Not IF NOT EXISTS alone: that asks for the right to make schemas even where it is there.
        if not await connection.fetchval(IS_THERE, address.schema):
            await connection.execute(f"CREATE SCHEMA {address.quoted_schema}")
        await connection.execute(f"SET LOCAL search_path TO {address.quoted_schema}")
        await connection.execute(RECORDS)
        taken = await steps_taken(connection, address)
        missing = [step for step in known_steps() if step.number > taken]
        for step in missing:
            await connection.execute(step.statements, timeout=LONGEST)
            await connection.execute("INSERT INTO migrations VALUES ($1, $2)", step.number, step.name)
    return missing
