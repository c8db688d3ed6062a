"""The verbs of a store in a SQLite file: each is one job for the store's thread, from any event loop."""

import os
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from askback.errors import OperatorError
from askback.model.ids import new_id
from askback.model.store import Cap, Granted, Reach, Verdict
from askback.stores.leases import LEASE, require_lease
from askback.stores.requests import ClaimRequest
from askback.stores.sqlite import vault
from askback.stores.sqlite.claims import NOTE, Claims, Pending
from askback.stores.sqlite.expiry import count_rows, delete_expired
from askback.stores.sqlite.file import File
from askback.stores.sqlite.worker import Job, Topic, Worker

T = TypeVar("T")

BATCH_SIZE = 1_000
"""Expired rows that a sweep deletes in one transaction, so that others can write in between."""

SETTLE = """
INSERT INTO settled (key, value, until) VALUES (:key, :value, :until)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until WHERE until <= :now
"""
SETTLED = "SELECT value FROM settled WHERE key = ? AND until > ?"
SPEND = """
INSERT INTO spent (key, until) VALUES (?, ?)
ON CONFLICT (key) DO UPDATE SET until = excluded.until WHERE until <= ?
"""
TRIM = "DELETE FROM ledger WHERE number < ? AND number < (SELECT max(number) FROM ledger)"
"""The last line stays, or the next one would get its number again."""


class SQLiteStore:
    """Opened with the first call, by any number of processes, threads and event loops.

    A runner renews its lease every third of `lease` seconds. A process that was killed renews nothing, and when the
    lease has passed another may take over.
    """

    reach: Reach = "machine"

    def __init__(
        self, path: str | os.PathLike[str], *, clock: Callable[[], float] = time.time, lease: float = LEASE
    ) -> None:
        self._file = File(_require_path(os.fspath(path)))
        self._clock = clock
        self._lease = require_lease(lease, of="SQLiteStore")
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._inherited: Worker | None = None
        self._ending: weakref.finalize[[], SQLiteStore] | None = None

    async def epoch(self) -> str:
        return await self._do(lambda claims: claims.file.epoch)

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
        asked = ClaimRequest(key, turn, digest, until, takeover, epoch, new_id(), self._clock())
        return await self._wait_for(
            Job(
                lambda claims: claims.claim(asked),
                topic=("run", key),
                undo=lambda claims: claims.withdraw(asked),
            )
        )

    async def record(self, claim: Granted, result: bytes) -> bool:
        now = self._clock()
        return await self._do(lambda claims: claims.record(claim, result, now), topic=("run", claim.key))

    async def note(self, claim: Granted, noted: bytes) -> bool:
        return await self._change(NOTE, noted, claim.key, claim.token) == 1

    async def release(self, claim: Granted) -> None:
        await self._do(lambda claims: claims.release(claim.key, claim.token), topic=("run", claim.key))

    # Settle, and spend.

    async def settle(self, key: str, value: bytes, *, until: float) -> bytes:
        row = {"key": key, "value": value, "until": until, "now": self._clock()}
        return await self._do(lambda claims: _settle(claims.file, row), topic=("settle", key))

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        found = await self._fetch(SETTLED, (key, self._clock()))
        if found:
            return found[0][0]

        def look(claims: Claims) -> bytes | Pending:
            row = claims.file.execute(SETTLED, (key, self._clock())).fetchone()
            return row[0] if row else Pending.PENDING

        with anyio.move_on_after(seconds):
            return await self._wait_for(Job(look, topic=("settle", key)))
        return None

    async def spend(self, key: str, *, until: float) -> bool:
        return await self._change(SPEND, key, until, self._clock()) == 1

    # Vault and ledger.

    async def get(self, owner: str, name: str) -> bytes | None:
        found = await self._fetch(vault.GET, (owner, name, self._clock()))
        return found[0][0] if found else None

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        await self._change(vault.PUT, owner, name, value, until)

    async def put_capped(self, owner: str, name: str, value: bytes, *, until: float, cap: Cap) -> int:
        row, now = {"owner": owner, "name": name, "value": value, "until": until}, self._clock()
        return await self._do(lambda claims: vault.put_capped(claims.file, row, cap, now))

    async def delete(self, owner: str, name: str) -> bool:
        return await self._change(vault.DELETE, owner, name, self._clock()) == 1

    async def replace(
        self, owner: str, name: str, former: bytes, value: bytes | None, *, until: float | None = None
    ) -> bool:
        row = {"owner": owner, "name": name, "former": former, "value": value, "until": until}
        statement = vault.REMOVE_FORMER if value is None else vault.REPLACE_FORMER
        row |= {"now": self._clock()}
        return await self._do(lambda claims: claims.file.execute(statement, row).rowcount) == 1

    async def rows(
        self, *, prefix: str, after: tuple[str, str] | None = None, limit: int = 100
    ) -> list[tuple[str, str]]:
        owner, name = after or ("", "")
        bounds = {"prefix": prefix, "owner": owner, "name": name, "now": self._clock(), "limit": limit}
        return await self._fetch(vault.LIST, bounds)

    async def append(self, *lines: bytes) -> int:
        statement = f"INSERT INTO ledger (line) VALUES {', '.join(['(?)'] * len(lines))}"
        return await self._do(lambda claims: claims.file.execute(statement, lines).lastrowid or 0)

    async def read(self, *, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        return await self._fetch(
            "SELECT number, line FROM ledger WHERE number > ? ORDER BY number LIMIT ?", (after, limit)
        )

    async def trim(self, *, before: int) -> int:
        return await self._change(TRIM, before)

    # Time.

    async def sweep(self) -> int:
        total = 0
        while deleted := await self._do(
            lambda claims: delete_expired(claims.file, self._clock(), BATCH_SIZE)
        ):
            total += deleted
        return total

    async def count(self) -> int:
        return await self._do(lambda claims: count_rows(claims.file, self._clock()))

    async def close(self) -> None:
        """Callers who still wait get an error; what is being run here may be taken over when its lease has passed."""
        with self._lock:
            worker, self._worker = self._worker, None
            if worker is None or worker.is_inherited:
                return
            worker.end()
            if self._ending is not None:
                self._ending.detach()
        await anyio.to_thread.run_sync(worker.join)

    # The worker.

    async def _do(self, work: Callable[[Claims], T], *, topic: Topic | None = None) -> T:
        """Run a job, to its end even if the caller is cancelled."""
        job = Job(work, topic=topic)
        self._put(job)
        await job.done.wait()
        return job.result()

    async def _change(self, statement: str, *values: Any) -> int:
        """How many rows a statement changed."""
        return await self._do(lambda claims: claims.file.execute(statement, values).rowcount)

    async def _fetch(self, statement: str, values: Any) -> list[Any]:
        return await self._do(lambda claims: claims.file.execute(statement, values).fetchall())

    async def _wait_for(self, job: Job[T]) -> T:
        worker = self._put(job)
        try:
            await job.done.wait()
        except BaseException:
            worker.withdraw(job)
            raise
        return job.result()

    def _put(self, job: Job[Any]) -> Worker:
        with self._lock:
            worker = self._worker
            if worker is None or worker.is_inherited:
                worker = self._start()
            worker.put(job)
        return worker

    def _start(self) -> Worker:
        # After a fork the parent's connection must be neither used nor closed here, so it is kept and left alone.
        self._inherited = self._worker
        self._file = File(self._file.path, identity=self._file.identity)
        self._worker = Worker(self._file, clock=self._clock, lease=self._lease)
        self._ending = weakref.finalize(self, self._worker.end)
        return self._worker


def _settle(file: File, row: dict[str, Any]) -> bytes:
    with file.transaction():
        file.execute(SETTLE, row)
        return file.execute("SELECT value FROM settled WHERE key = :key", row).fetchone()[0]


def _require_path(path: str) -> Path:
    if path.startswith(":") or not path:
        raise OperatorError(
            f"SQLiteStore({path!r}) would be gone with the process and seen by no other. Use MemoryStore() for that, "
            "or name a file."
        )
    if path.startswith("file:"):
        raise OperatorError(
            f"SQLiteStore({path!r}) takes the path of a file, not a URI. Write the path alone."
        )
    return Path(path).absolute()
