"""What a Postgres store does is the same whatever plan the server chooses."""

from pathlib import Path

import pytest

from askback.stores.postgres.upkeep import migrate
from tests.support.stores.postgres import schema_of, shell

pytestmark = pytest.mark.services


async def test_one_row_goes_for_each_that_is_too_many(postgres_url: str, tmp_path: Path):
    """For a table that it takes to be empty, the server plans to run subqueries once for each row."""
    schema = schema_of(tmp_path)
    await migrate(f"{postgres_url}?schema={schema}")
    async with shell(postgres_url) as connection:
        await connection.execute(f"SET search_path TO {schema}")
        await connection.execute(
            "INSERT INTO vault (owner, name, value, put_by) VALUES ('o', 'n', 'v', 'x'); DELETE FROM vault"
        )
        await connection.execute("ANALYZE vault")  # as autovacuum does by itself
        dropped = [
            await connection.fetchval(
                "SELECT put_capped('o', $1, 'v', 9e9, $2, 0, 'visits', 'anna', 1, 3, 5)", name.encode(), name
            )
            for name in "abcdef"
        ]
        left = [row[0] for row in await connection.fetch("SELECT name FROM vault ORDER BY placed")]
        await connection.execute(f"DROP SCHEMA {schema} CASCADE")
    assert (dropped, left) == ([0, 0, 0, 1, 1, 1], [b"d", b"e", b"f"])
