"""One connection: how it is made and checked, and what its errors mean to an operator."""

from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg

from askback.errors import StoreUnavailable
from askback.stores.postgres.address import PostgresAddress
from askback.stores.postgres.schema import apply_migrations, load_migrations, read_schema_number

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]
else:
    Connection = asyncpg.Connection

ANSWER_TIMEOUT = 20.0
"""Seconds to connect, and for one statement. A server that stands still for less than this has lost nothing: what was
asked waits in its socket, and it takes connections, which it greets when it goes on."""

LOCK_TIMEOUT = 18.0
"""Seconds to wait for another's lock: shorter, so that the server has time to say so, and longer than a pause that
statements survive, since the server counts on while it stands still."""

SETTINGS = {
    "default_transaction_isolation": "read committed",  # each statement of a verb sees what was committed before it
    "idle_in_transaction_session_timeout": "10s",
    "jit": "off",  # it would take longer than any of these statements
    "lock_timeout": f"{LOCK_TIMEOUT:g}s",
    "statement_timeout": f"{ANSWER_TIMEOUT:g}s",
}

GREET = """
SELECT current_setting('synchronous_commit') AS commits,
    current_setting('transaction_read_only')::boolean AS is_read_only,
    set_config('askback.place', system_identifier
        || '.' || (SELECT oid FROM pg_database WHERE datname = current_database())
        || '.' || CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END, false)
FROM pg_control_system()
"""
"""Any role may ask this. The place is set for the session, where the epoch is computed from it. A dump that is loaded
elsewhere has another place; so has a standby that took over, or a backup that was rolled forward (another timeline). A
disk that was put back to an earlier day is not noticed."""


class Unusable(Exception):
    """The server cannot be used as it is: what is wrong, and what helps."""

    def __init__(self, problem: str, advice: str) -> None:
        super().__init__(problem)
        self.problem, self.advice = problem, advice


TROUBLE = (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError, asyncpg.PostgresError, Unusable)
"""Errors that an operator may have to deal with. Any other is a bug of Askback."""

LOST: tuple[type[BaseException], ...] = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
)
"""The connection is gone, or will be. The statement may succeed on a new one."""

MOVED = (
    asyncpg.UndefinedFunctionError,
    asyncpg.UndefinedTableError,
    asyncpg.InvalidSchemaNameError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.InternalServerError,
)
"""The tables are not the ones that this connection knew."""

MIGRATE = "Run `askback store migrate --store URL` once, or add migrate=1 to the address."
GOES_ON = "The store goes on by itself when the server does."

ADVICE: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (
        (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidPasswordError),
        "Check user and password in the address, and pg_hba.conf of the server.",
    ),
    (asyncpg.InvalidCatalogNameError, "Create the database, or name another."),
    (asyncpg.InsufficientPrivilegeError, "Let the role of the address own the schema and its tables."),
    (asyncpg.TooManyConnectionsError, "Raise max_connections, or lower connections=5 in the address."),
    (
        asyncpg.ReadOnlySQLTransactionError,
        "Name the server that takes writes, or add target_session_attrs=read-write.",
    ),
    (asyncpg.DiskFullError, "Make room on its disk; the store goes on by itself."),
    (
        asyncpg.LockNotAvailableError,
        f"A lock was held for {LOCK_TIMEOUT:g} seconds, perhaps by a shell left in a transaction.",
    ),
    (MOVED, MIGRATE),
    (asyncpg.ClientConfigurationError, "Check the parameters of the address."),
)


def connect_options(address: PostgresAddress, **settings: str) -> dict[str, Any]:
    """Arguments for asyncpg: where the database is, and with which settings."""
    return {
        "dsn": address.dsn,
        "user": address.user,
        "password": address.password,
        "timeout": ANSWER_TIMEOUT,
        "command_timeout": ANSWER_TIMEOUT,
        "server_settings": {**SETTINGS, "search_path": address.quoted_schema, **settings},
    }


async def connect(address: PostgresAddress, **settings: str) -> Connection:
    """Connect without checking the schema, which may be missing or old."""
    return await asyncpg.connect(**connect_options(address, **settings))


async def open_connection(address: PostgresAddress, **settings: str) -> Connection:
    connection = await connect(address, **settings)
    try:
        await greet(connection, address)
    except BaseException:
        connection.terminate()
        raise
    return connection


async def greet(connection: Connection, address: PostgresAddress) -> None:
    """Make sure that the server keeps what it says it keeps, and that this version of Askback knows its schema."""
    said: Any = await connection.fetchrow(GREET)
    if said["is_read_only"]:
        raise Unusable(
            "it takes no writes, as a standby does",
            "Name the server that does, or add target_session_attrs=read-write.",
        )
    if said["commits"] == "off":  # an answered commit could be lost
        await connection.execute("SET synchronous_commit = on")
    await require_known_schema(connection, address)


async def require_known_schema(connection: Connection, address: PostgresAddress) -> None:
    """Require the schema of this version of Askback, or make it. If it was there before and was lost, the new one has
    another epoch."""
    taken = await read_schema_number(connection, address)
    require_not_newer(taken, address)
    if taken == load_migrations()[-1].number:
        return
    if address.migrates or (address.migrates is None and not taken):
        await apply_migrations(connection, address)
        return
    what = f"is at step {taken} of {load_migrations()[-1].number}" if taken else "is not there"
    raise Unusable(f"its schema {address.schema} {what}", MIGRATE)


def require_not_newer(taken: int, address: PostgresAddress) -> None:
    known = load_migrations()[-1].number
    if taken > known:
        raise Unusable(
            f"its schema {address.schema} has number {taken}, and this version of Askback knows {known}",
            "It was migrated by a newer Askback: upgrade here too, or name another schema.",
        )


def is_lost(error: BaseException) -> bool:
    """Whether the statement may succeed on a new connection."""
    if isinstance(error, (asyncpg.QueryCanceledError, TimeoutError, ValueError)):
        return False
    return isinstance(error, (*LOST, *MOVED))


def explain(error: Exception, address: PostgresAddress) -> StoreUnavailable:
    """What an error means, in an operator's words, with what helps; never with the password."""
    if isinstance(error, StoreUnavailable):
        return error
    if isinstance(error, Unusable):
        return StoreUnavailable(store=address.shown, problem=error.problem, advice=error.advice)
    if isinstance(error, (TimeoutError, asyncpg.QueryCanceledError)):
        problem = f"it did not answer within {ANSWER_TIMEOUT:g} seconds"
    else:
        problem = _without(address.password, str(error) or type(error).__name__)
    advice = next((advice for kind, advice in ADVICE if isinstance(error, kind)), GOES_ON)
    return StoreUnavailable(store=address.shown, problem=problem, advice=advice)


def _without(password: str | None, text: str) -> str:
    return text.replace(password, "***") if password else text
