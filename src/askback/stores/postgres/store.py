"""The verbs of a store on any event loop of asyncio: one statement each, on a connection of that loop."""

import asyncio
import os
import threading
import time
import weakref
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, NamedTuple, TypeVar

import anyio
import anyio.to_thread

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
from askback.stores.postgres.address import Address, read_address
from askback.stores.postgres.bells import Bell
from askback.stores.postgres.connection import Greeted
from askback.stores.postgres.keeper import Keeper
from askback.stores.postgres.pool import Pool, Statement

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds that somebody who waits bears with a server that is away: it may just be started anew."""

MANY = 1_000
"""Rows forgotten in one transaction of a sweep or a trim, so that others can write in between."""


class Waits(NamedTuple):
    """Somebody is at it, who counts as alive for so many seconds."""

    seconds: float
    epoch: str = ""
    """The memory in which he is."""


class Asked(NamedTuple):
    """A claim as it was asked for, with the token it would get."""

    key: str
    turn: int
    digest: str
    until: float
    takeover: bool
    epoch: str
    token: str
    at: float
    """By the clock. What a waiter has waited for is not over before he has seen it, so for him time stands still."""


class PostgresStore:
    """Opened with the first call, by any number of processes, threads and event loops.

    `url` is `postgresql://user:password@host:5432/database`, with parameters of libpq such as `sslmode=verify-full`,
    and of our own: `schema=` in place of the argument, `connections=` for how many each event loop may have (5).
    Where there are no tables, they are made. Older ones are refused until `askback store migrate` has brought them up
    to date; `migrate=1` lets a store do that by itself, and `migrate=0` lets it make none at all. A role that owns its
    database or schema is enough.

    Each process has one connection more, which listens; behind pgbouncer in transaction mode it hears nothing, and the
    prepared statements fail: connect to the server itself, or have it pool sessions.

    What is being run says every third of `lease` seconds that it still is. A process that was killed says so no more,
    and when the lease has passed another may take over; a server that was restarted gives all of them a lease anew.
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
        self._address: Address = read_address(url, schema=schema)
        self._clock = clock
        self._lease = require_lease(lease, of="PostgresStore")
        self._lock = threading.Lock()
        self._keeper: Keeper | None = None
        self._pools: dict[asyncio.AbstractEventLoop, Pool] = {}
        self._inherited: list[object] = []
        self._ending: weakref.finalize[[], PostgresStore] | None = None

    def __repr__(self) -> str:
        return f"PostgresStore({self._address.shown!r}, schema={self._address.schema!r})"

    async def epoch(self) -> str:
        """Asked for once; then each claim, and the keeper now and then, hears it by the way."""
        keeper, pool = self._opened()
        if not keeper.epoch:
            keeper.epoch = await _heard(
                pool.start(lambda on, _again: on.connection.fetchval("SELECT epoch($1)", on.place))
            )
        return keeper.epoch

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
        asked = Asked(key, turn, digest, until, takeover, epoch, new_id(), self._clock())
        keeper, pool = self._opened()
        async with pool.lines.place("run", key, turn, digest, epoch):
            verdict = await self._claim(asked, keeper, pool)
            if not isinstance(verdict, Waits):
                return verdict
            asked = asked._replace(epoch=verdict.epoch)

            def look() -> Awaitable[Verdict | Waits]:
                # Under a token of its own: one that went unanswered is given back, whenever it is granted.
                return self._claim(asked._replace(token=new_id()), keeper, pool)

            with keeper.bells.hung_up("run", sql.key_of(key)) as bell:
                return await self._wait_for(look, bell, keeper)

    async def record(self, claim: Granted, result: bytes) -> bool:
        key, token = sql.key_of(claim.key), claim.token
        self._opened()[0].let_go(token)  # first: if this fails, nobody is left who runs it
        return await self._do(lambda on, again: on.connection.fetchval(sql.RECORD, key, token, result, again))

    async def note(self, claim: Granted, noted: bytes) -> bool:
        return bool(await self._value(sql.NOTE, sql.key_of(claim.key), claim.token, noted))

    async def release(self, claim: Granted) -> None:
        key, (keeper, pool) = sql.key_of(claim.key), self._opened()
        keeper.let_go(claim.token)
        task = pool.start(lambda on, _again: on.connection.fetchval(sql.RELEASE, key, claim.token))
        task.add_done_callback(lambda task: _release_later(task, claim.token, key, keeper))
        await _heard(task)

    async def _claim(self, asked: Asked, keeper: Keeper, pool: Pool) -> Verdict | Waits:
        task = pool.start(lambda on, _again: self._judged(on, asked, keeper))
        try:
            return await asyncio.shield(task)
        except BaseException:
            task.add_done_callback(lambda task: _give_back(task, asked, keeper))
            raise

    async def _judged(self, on: Greeted, asked: Asked, keeper: Keeper) -> Verdict | Waits:
        key, digest = sql.key_of(asked.key), sql.bytes_of(asked.digest)
        lease = timedelta(seconds=self._lease)
        wanted = (key, asked.turn, digest, asked.until, asked.takeover, asked.token, asked.at, lease)
        row: Any = await on.connection.fetchrow(sql.CLAIM, *wanted, asked.epoch, on.place)
        verdict, value, seconds, epoch = row
        keeper.epoch = epoch
        if verdict == "mine":
            keeper.hold(asked.token, key)
            return Granted(asked.key, asked.token, value)
        if verdict == "waits":
            return Waits(seconds, epoch)
        return Finished(value) if verdict == "done" else OTHERWISE[verdict]

    async def _wait_for(self, look: Callable[[], Awaitable[T | Waits]], bell: Bell, keeper: Keeper) -> T:
        """Look when it is rung for, and now and then, until there is something to be seen."""
        missed_at = 0.0
        while True:
            try:
                found = await look()
                missed_at = 0.0
            except StoreUnavailable:
                # Those who stand in line begin to look one after the other, but all have waited since then.
                missed_at = missed_at or keeper.missed_at or time.monotonic()
                if time.monotonic() - missed_at > PATIENCE:
                    raise
                found = Waits(self._lease)
            if not isinstance(found, Waits):
                return found
            await bell.wait(found.seconds)
            bell.hush()
            if keeper.is_closed:
                raise StoreUnavailable(
                    store=self._address.shown,
                    problem="it was closed while somebody waited",
                    advice="Close it after the last call.",
                )

    # Settle, and spend.

    async def settle(self, key: str, value: bytes, *, until: float) -> bytes:
        return await self._value(sql.SETTLE, sql.key_of(key), value, until, self._clock())

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        value = await self._settled(key)
        if not isinstance(value, Waits):
            return value
        keeper, pool = self._opened()
        with anyio.move_on_after(seconds):
            async with pool.lines.place("end", key):
                with keeper.bells.hung_up("end", sql.key_of(key)) as bell:
                    return await self._wait_for(lambda: self._settled(key), bell, keeper)
        return None

    async def _settled(self, key: str) -> bytes | Waits:
        value: bytes | None = await self._value(sql.SETTLED, sql.key_of(key), self._clock())
        return Waits(self._lease) if value is None else value

    async def spend(self, key: str, *, until: float) -> bool:
        return await self._value(sql.SPEND, sql.key_of(key), until, new_id(), self._clock())

    # Vault and ledger.

    async def get(self, owner: str, name: str) -> bytes | None:
        return await self._value(sql.GET, *sql.row_of(owner, name), self._clock())

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        await self._value(sql.PUT, *sql.row_of(owner, name), value, until, new_id())

    async def put_capped(self, owner: str, name: str, value: bytes, *, until: float, cap: Cap) -> int:
        row = (*sql.row_of(owner, name), value, until, new_id(), self._clock())
        limits = cap.weight, cap.max_of_holder, cap.max_in_all
        return await self._value(
            sql.PUT_CAPPED, *row, sql.bytes_of(cap.kind), sql.bytes_of(cap.holder), *limits
        )

    async def delete(self, owner: str, name: str) -> bool:
        return await self._removed(sql.DELETE, *sql.row_of(owner, name), self._clock())

    async def replace(
        self, owner: str, name: str, former: bytes, value: bytes | None, *, until: float | None = None
    ) -> bool:
        row = (*sql.row_of(owner, name), former, self._clock())
        if value is None:
            return await self._removed(sql.REMOVE, *row)
        token = new_id()

        async def replace(on: Greeted, again: bool) -> bool:
            if await on.connection.fetchval(sql.REPLACE, *row, value, until, token):
                return True
            return again and bool(await on.connection.fetchval(sql.WAS_PUT, *row[:2], token))

        return await self._do(replace)

    async def rows(
        self, *, prefix: str, after: tuple[str, str] | None = None, limit: int = 100
    ) -> list[tuple[str, str]]:
        bounds = (*sql.range_of(prefix), *(sql.row_of(*after) if after else (None, None)))
        found = await self._do(
            lambda on, _again: on.connection.fetch(sql.LIST, *bounds, self._clock(), limit)
        )
        return [(sql.text_of(owner), sql.text_of(name)) for owner, name in found]

    async def append(self, *lines: bytes) -> int:
        batch = new_id()
        return await self._do(lambda on, again: on.connection.fetchval(sql.APPEND, lines, batch, again))

    async def read(self, *, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        found = await self._do(lambda on, _again: on.connection.fetch(sql.READ, after, limit))
        return [(number, line) for number, line in found]

    async def trim(self, *, before: int) -> int:
        return await self._in_parts(sql.TRIM, before)

    async def _removed(self, statement: str, *values: Any) -> bool:
        async def remove(on: Greeted, again: bool) -> bool:
            if await on.connection.fetchval(statement, *values):
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
        while gone := await self._value(statement, bound, MANY):
            total += gone
        return total

    async def close(self) -> None:
        """Those who still wait get an error; what is being run here is taken over when its lease has passed."""
        with self._lock:
            keeper, self._keeper = self._keeper, None
            pools, self._pools = self._pools, {}
            if keeper is None or keeper.process != os.getpid():
                return
            if self._ending is not None:
                self._ending.detach()
        keeper.turn_away()
        here = asyncio.get_running_loop()
        for pool in pools.values():
            await pool.close() if pool.loop is here else pool.abandon()
        keeper.end()  # not sooner: what was granted meanwhile, and is wanted no longer, is given back
        await anyio.to_thread.run_sync(keeper.wait_until_ended)

    # Connections.

    async def _do(self, statement: Statement[T]) -> T:
        return await _heard(self._opened()[1].start(statement))

    async def _value(self, statement: str, *values: Any) -> Any:
        """Of one that may be done twice."""
        return await self._do(lambda on, _again: on.connection.fetchval(statement, *values))

    def _opened(self) -> tuple[Keeper, Pool]:
        loop, keeper = _running_loop(), self._keeper
        pool = self._pools.get(loop)
        if pool is not None and keeper is not None and keeper.process == os.getpid():
            return keeper, pool
        with self._lock:
            return self._open(loop)

    def _open(self, loop: asyncio.AbstractEventLoop) -> tuple[Keeper, Pool]:
        if self._keeper is None or self._keeper.process != os.getpid():
            # After a fork the parent's connections must be neither used nor closed here: kept, and left alone.
            self._inherited += [self._keeper, self._pools]
            self._pools = {}
            if self._ending is not None:
                self._ending.detach()
            self._keeper = Keeper(self._address, clock=self._clock, lease=self._lease)
            self._ending = weakref.finalize(self, self._keeper.end)
        for closed in [closed for closed in self._pools if closed.is_closed()]:
            self._pools.pop(closed).abandon()
        if loop not in self._pools:
            self._pools[loop] = Pool(self._address)
        return self._keeper, self._pools[loop]


OTHERWISE: dict[str, Verdict] = {"refused": Rejected(), "lost": RunnerDied(), "forgotten": EpochChanged()}


async def _heard(task: "asyncio.Task[T]") -> T:
    return await asyncio.shield(task)


def _give_back(task: "asyncio.Task[Verdict | Waits]", asked: Asked, keeper: Keeper) -> None:
    """Whoever claimed is gone, or was told that the store is."""
    is_certain = not task.cancelled() and task.exception() is None
    if not is_certain or isinstance(task.result(), Granted):
        keeper.give_back(asked.token, sql.key_of(asked.key), is_certain=is_certain)


def _release_later(task: "asyncio.Task[None]", token: str, key: bytes, keeper: Keeper) -> None:
    """As soon as the server is back, if it was away; also where whoever released was cancelled meanwhile."""
    if task.cancelled() or task.exception() is not None:
        keeper.give_back(token, key, is_certain=False)


def _running_loop() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise OperatorError(
            "A Postgres store runs on asyncio alone, and this is another event loop. Run the server on asyncio."
        ) from None
