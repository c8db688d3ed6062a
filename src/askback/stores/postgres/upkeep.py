"""What an operator does to the schema: list the migrations that are missing, and apply them. Needs no store."""

from contextlib import suppress
from typing import NamedTuple

from askback.stores.postgres.address import read_address
from askback.stores.postgres.connection import TROUBLE, connect, explain, require_not_newer
from askback.stores.postgres.schema import (
    Migration,
    apply_migrations,
    load_migrations,
    read_schema_number,
)


class Migrated(NamedTuple):
    """Which migrations were missing, from which schema, where."""

    steps: list[Migration]
    schema: str
    shown: str


async def migrate(url: str, *, schema: str = "askback", check: bool = False) -> Migrated:
    """Apply the migrations that are missing, all or none; with `check`, only list them. Safe to run concurrently."""
    address = read_address(url, schema=schema)
    try:
        connection = await connect(address)
        try:
            number = await read_schema_number(connection, address)
            require_not_newer(number, address)
            if check:
                missing = [migration for migration in load_migrations() if migration.number > number]
            else:
                missing = await apply_migrations(connection, address)
        finally:
            with suppress(Exception):  # what was done stands
                await connection.close(timeout=1.0)
    except TROUBLE as error:
        raise explain(error, address) from error
    return Migrated(missing, address.schema, address.shown)
