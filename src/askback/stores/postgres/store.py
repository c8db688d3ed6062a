"""The verbs of a store on any event loop of asyncio: one statement each, in the pool of its caller's event loop."""

import asyncio
import os
import threading
import time
import weakref
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import anyio

from askback.errors import OperatorError, StoreUnavailable
from askback.model.ids import new_id
from askback.model.store import (
    Cap,
    EpochChanged,
    Finished,
    Granted,
    Reach,
    Rejected,
    RunnerDied,
    Verdict,
)
from askback.stores.leases import LEASE, require_lease
from askback.stores.postgres import statements as sql
from askback.stores.postgres.address import PostgresAddress, read_address
from askback.stores.postgres.connection import ANSWER_TIMEOUT, Connection
from askback.stores.postgres.connections import Connections
from askback.stores.postgres.pool import LookAgain, Pool, Statement
from askback.stores.postgres.wakeups import name_topic

T = TypeVar("T")

BATCH_SIZE = 1_000
"""Rows deleted in one transaction of a sweep or a trim, so that others can write in between."""

MAY_BE_GRANTED = 2 * ANSWER_TIMEOUT
"""Seconds after which a claim that went unanswered is granted or never will be."""

VERDICTS: dict[str, Verdict] = {"refused": Rejected(), "lost": RunnerDied(), "forgotten": EpochChanged()}
"""Verdicts by the word that the database function `claim` gives."""


class PostgresStore:
    """Opened with the first call, by any number of processes, threads and event loops.

    `url` is `postgresql://user:password@host:5432/database`, with parameters of libpq such as `sslmode=verify-full`,
    and of our own: `schema=` in place of the argument, `connections=` for how many each event loop may have (5).
    Where there are no tables, they are made. Older ones are refused until `askback store migrate` has brought them up
    to date; `migrate=1` lets a store do that by itself, and `migrate=0` lets it make none at all. A role that owns its
    database or schema is enough.

    Each process has one connection more, which listens; behind pgbouncer in transaction mode it hears nothing, and the
    prepared statements fail: connect to the server itself, or have it pool sessions.

    A runner renews its lease every third of `lease` seconds. A process that was killed renews nothing, and when the
    lease has passed another may take over. A server that was restarted gives every runner a new lease.
    """

    reach: Reach = "network"

    def __init__(
        self,
        url: str,
        *,
        schema: str = "askback",
        clock: Callable[[], float] = time.time,
        lease: float = LEASE,
    ) -> None:
        self._address: PostgresAddress = read_address(url, schema=schema)
        self._clock = clock
        self._lease = require_lease(lease, of="PostgresStore")
        self._lock = threading.Lock()
        self._connections: Connections | None = None
        self._inherited: list[Connections] = []
        self._ending: weakref.finalize[[], PostgresStore] | None = None

    def __repr__(self) -> str:
        return f"PostgresStore({self._address.shown!r}, schema={self._address.schema!r})"

    async def epoch(self) -> str:
        """Asked for once: later claims bring it along, and the listening connection reads it at intervals."""
        connections = self._opened()
        if not connections.epoch:
            connections.epoch = await self._value(sql.EPOCH)
        return connections.epoch

    # Run once.

    async def claim(
        self,
        key: str,
        *,
        turn: int = 0,
        digest: str = "",
        until: float,
        takeover: bool = True,
        epoch: str = "",
    ) -> Verdict:
        connections, pool = self._opened(), self._pool()
        row, token, now, lease = sql.encode_key(key), new_id(), self._clock(), timedelta(seconds=self._lease)
        known_epoch, unanswered = epoch, 0

        async def look() -> Verdict | LookAgain:
            nonlocal known_epoch, unanswered
            wanted = (row, turn, sql.encode_text(digest), until, takeover, token, now, lease, known_epoch)
            unanswered += 1
            answer: Any = await pool.run(lambda connection, _again: connection.fetchrow(sql.CLAIM, *wanted))
            unanswered -= 1
            verdict, value, seconds, connections.epoch = answer
            if verdict == "waits":
                known_epoch = connections.epoch
                return LookAgain(seconds)
            if verdict == "mine":
                connections.leases.hold(token, row)
                return Granted(key, token, value)
            return Finished(value) if verdict == "done" else VERDICTS[verdict]

        try:
            return await pool.wait_for(name_topic("run", row), look, turn, digest, takeover, epoch)
        except BaseException:
            if unanswered:  # it may have been granted, or may be yet
                connections.leases.abandon(token, row, repeat_for=MAY_BE_GRANTED)
            raise

    async def record(self, claim: Granted, result: bytes) -> bool:
        key, token = sql.encode_key(claim.key), claim.token
        self._opened().leases.drop(token)  # first: if this fails, the claim counts as given up
        return await self._do(
            lambda connection, again: connection.fetchval(sql.RECORD, key, token, result, again)
        )

    async def note(self, claim: Granted, noted: bytes) -> bool:
        return bool(await self._value(sql.NOTE, sql.encode_key(claim.key), claim.token, noted))

    async def release(self, claim: Granted) -> None:
        key, connections = sql.encode_key(claim.key), self._opened()
        connections.leases.drop(claim.token)
        try:
            await self._value(sql.RELEASE, key, claim.token)
        except BaseException:
            connections.leases.abandon(claim.token, key, repeat_for=MAY_BE_GRANTED)
            raise

    # Settle, and spend.

    async def settle(self, key: str, value: bytes, *, until: float) -> bytes:
        return await self._value(sql.SETTLE, sql.encode_key(key), value, until, self._clock())

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        pool, row = self._pool(), sql.encode_key(key)

        async def look() -> bytes | LookAgain:
            value: bytes | None = await pool.run(
                lambda connection, _again: connection.fetchval(sql.SETTLED, row, self._clock())
            )
            return LookAgain(self._lease) if value is None else value

        value = await look()
        if not isinstance(value, LookAgain):
            return value
        with anyio.move_on_after(seconds):
            return await pool.wait_for(name_topic("end", row), look)
        return None

    async def spend(self, key: str, *, until: float) -> bool:
        return await self._value(sql.SPEND, sql.encode_key(key), until, new_id(), self._clock())

    # Vault and ledger.

    async def get(self, owner: str, name: str) -> bytes | None:
        return await self._value(sql.GET, *sql.encode_row(owner, name), self._clock())

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        await self._value(sql.PUT, *sql.encode_row(owner, name), value, until, new_id())

    async def put_capped(self, owner: str, name: str, value: bytes, *, until: float, cap: Cap) -> int:
        row = (*sql.encode_row(owner, name), value, until, new_id(), self._clock())
        limits = cap.weight, cap.max_of_holder, cap.max_in_all
        return await self._value(
            sql.PUT_CAPPED, *row, sql.encode_text(cap.kind), sql.encode_text(cap.holder), *limits
        )

    async def delete(self, owner: str, name: str) -> bool:
        return await self._removed(sql.DELETE, *sql.encode_row(owner, name), self._clock())

    async def replace(
        self, owner: str, name: str, former: bytes, value: bytes | None, *, until: float | None = None
    ) -> bool:
        row = (*sql.encode_row(owner, name), former, self._clock())
        if value is None:
            return await self._removed(sql.REMOVE, *row)
        token = new_id()

        async def replace(connection: Connection, again: bool) -> bool:
            if await connection.fetchval(sql.REPLACE, *row, value, until, token):
                return True
            return again and bool(await connection.fetchval(sql.WAS_PUT, *row[:2], token))

        return await self._do(replace)

    async def rows(
        self, *, prefix: str, after: tuple[str, str] | None = None, limit: int = 100
    ) -> list[tuple[str, str]]:
        bounds = (*sql.encode_range(prefix), *(sql.encode_row(*after) if after else (None, None)))
        found = await self._do(
            lambda connection, _again: connection.fetch(sql.LIST, *bounds, self._clock(), limit)
        )
        return [(sql.decode_text(owner), sql.decode_text(name)) for owner, name in found]

    async def append(self, *lines: bytes) -> int:
        batch = new_id()
        return await self._do(lambda connection, again: connection.fetchval(sql.APPEND, lines, batch, again))

    async def read(self, *, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        found = await self._do(lambda connection, _again: connection.fetch(sql.READ, after, limit))
        return [(number, line) for number, line in found]

    async def trim(self, *, before: int) -> int:
        return await self._in_parts(sql.TRIM, before)

    async def _removed(self, statement: str, *values: Any) -> bool:
        async def remove(connection: Connection, again: bool) -> bool:
            if await connection.fetchval(statement, *values):
                return True
            if again:
                raise StoreUnavailable(
                    store=self._address.shown,
                    problem="the connection was lost, and nobody knows whether it was before the row was deleted",
                    advice="Look whether it is there, and try again.",
                )
            return False

        return await self._do(remove)

    # Time.

    async def sweep(self) -> int:
        return await self._in_parts(sql.FORGET, self._clock())

    async def count(self) -> int:
        return await self._value(sql.COUNT, self._clock())

    async def _in_parts(self, statement: str, bound: float) -> int:
        total = 0
        while gone := await self._value(statement, bound, BATCH_SIZE):
            total += gone
        return total

    async def close(self) -> None:
        """Callers who still wait get an error; what is being run here may be taken over when its lease has passed."""
        with self._lock:
            connections, self._connections = self._connections, None
            if connections is None or connections.leases.process != os.getpid():
                return
            if self._ending is not None:
                self._ending.detach()
        await connections.close()

    # Connections.

    async def _do(self, statement: Statement[T]) -> T:
        return await self._pool().run(statement)

    async def _value(self, statement: str, *values: Any) -> Any:
        """The first value of a statement that may be run twice."""
        return await self._do(lambda connection, _again: connection.fetchval(statement, *values))

    def _pool(self) -> Pool:
        return self._opened().pool()

    def _opened(self) -> Connections:
        _require_asyncio()
        with self._lock:
            if self._connections is None or self._connections.leases.process != os.getpid():
                self._open()
            assert self._connections is not None
            return self._connections

    def _open(self) -> None:
        if self._connections is not None:
            # After a fork the parent's connections must be neither used nor closed here: kept, and left alone.
            self._inherited.append(self._connections)
        if self._ending is not None:
            self._ending.detach()
        self._connections = Connections(self._address, clock=self._clock, lease=self._lease)
        self._ending = weakref.finalize(self, self._connections.close_soon)


def _require_asyncio() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise OperatorError(
            "A Postgres store runs on asyncio alone, and this is another event loop. Run the server on asyncio."
        ) from None
