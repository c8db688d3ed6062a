"""What an operator does to the schema: see what is missing, and bring it up to date. Needs no store."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple, TypeVar

from askback.stores.postgres.address import Address, read_address
from askback.stores.postgres.connection import TROUBLE, Connection, connect, explain, require_not_newer
from askback.stores.postgres.schema import Step, known_steps, steps_taken, take_steps

T = TypeVar("T")


class Migrated(NamedTuple):
    """Which steps were missing, of which schema, where."""

    steps: list[Step]
    schema: str
    shown: str


async def migrate(url: str, *, schema: str = "askback") -> Migrated:
    """Take the steps that are missing, all or none; any number may do so at once."""
    return await _done(read_address(url, schema=schema), take_steps)


async def look(url: str, *, schema: str = "askback") -> Migrated:
    """The same without taking them."""
    return await _done(read_address(url, schema=schema), _missing)


async def _missing(connection: Connection, address: Address) -> list[Step]:
    taken = await steps_taken(connection, address)
    return [step for step in known_steps() if step.number > taken]


async def _done(address: Address, deed: Callable[[Connection, Address], Awaitable[list[Step]]]) -> Migrated:
    try:
        connection = await connect(address)
        try:
            require_not_newer(await steps_taken(connection, address), address)
            steps = await deed(connection, address)
        finally:
            with suppress(Exception):  # what was done stands
                await connection.close(timeout=1.0)
    except TROUBLE as error:
        raise explain(error, address) from error
    return Migrated(steps, address.schema, address.shown)
