"""The verbs of a store on any event loop: done at once where nobody is in the way, else by a worker thread."""

import os
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio

from askback.errors import OperatorError
from askback.model.ids import new_id
from askback.model.store import Cap, Granted, Reach, Verdict
from askback.stores.leases import LEASE, require_lease
from askback.stores.sqlite.file import File
from askback.stores.sqlite.rows import WAITS, Asked, Rows, Waits
from askback.stores.sqlite.worker import Job, Topic, Worker

T = TypeVar("T")


class SQLiteStore:
    """Opened with the first call, by any number of processes, threads and event loops.

    What is being run says every third of `lease` seconds that it still is. A process that was killed says so no more,
    and when the lease has passed another may take over.
    """

    reach: Reach = "machine"

    def __init__(
        self, path: str | os.PathLike[str], *, clock: Callable[[], float] = time.time, lease: float = LEASE
    ) -> None:
        self._path = _file_path(os.fspath(path))
        self._clock = clock
        self._lease = require_lease(lease, of="SQLiteStore")
        self._file = File(self._path)
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._inherited: Worker | None = None
        self._ending: weakref.finalize[[], SQLiteStore] | None = None

    async def epoch(self) -> str:
        return await self._do(Rows.epoch)

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
        asked = Asked(key, turn, digest, until, takeover, new_id(), epoch, self._clock())
        verdict = self._at_once(lambda rows: rows.claim(asked))
        if verdict is not WAITS:
            return verdict
        claim = Granted(key, asked.token)
        job = Job[Verdict](
            lambda rows: rows.claim(asked),
            again=lambda rows: rows.claim_again(asked),
            undo=lambda rows: rows.withdraw(claim),
            waits_for=_run_of(key),
        )
        return await self._hand_over(job)

    async def record(self, claim: Granted, result: bytes) -> bool:
        return await self._do(lambda rows: rows.record(claim, result), rings=_run_of(claim.key))

    async def note(self, claim: Granted, noted: bytes) -> bool:
        return await self._do(lambda rows: rows.note(claim, noted))

    async def release(self, claim: Granted) -> None:
        await self._do(lambda rows: rows.release(claim), rings=_run_of(claim.key))

    # Settle, and spend.

    async def settle(self, key: str, value: bytes, *, until: float) -> bytes:
        return await self._do(lambda rows: rows.settle(key, value, until), rings=_end_of(key))

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        value = await self._do(lambda rows: rows.settled(key))
        if value is None:
            with anyio.move_on_after(seconds):
                return await self._hand_over(Job(partial(_settled_or_wait, key), waits_for=_end_of(key)))
        return value

    async def spend(self, key: str, *, until: float) -> bool:
        return await self._do(lambda rows: rows.spend(key, until))

    # Vault and ledger.

    async def get(self, owner: str, name: str) -> bytes | None:
        return await self._do(lambda rows: rows.get(owner, name))

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        await self._do(lambda rows: rows.put(owner, name, value, until))

    async def put_capped(self, owner: str, name: str, value: bytes, *, until: float, cap: Cap) -> int:
        return await self._do(lambda rows: rows.put_capped(owner, name, value, until, cap))

    async def delete(self, owner: str, name: str) -> bool:
        return await self._do(lambda rows: rows.delete(owner, name))

    async def replace(
        self, owner: str, name: str, former: bytes, value: bytes | None, *, until: float | None = None
    ) -> bool:
        return await self._do(lambda rows: rows.replace(owner, name, former, value, until))

    async def rows(
        self, *, prefix: str, after: tuple[str, str] | None = None, limit: int = 100
    ) -> list[tuple[str, str]]:
        return await self._do(lambda rows: rows.rows(prefix, after, limit))

    async def append(self, *lines: bytes) -> int:
        return await self._do(lambda rows: rows.append(lines))

    async def read(self, *, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        return await self._do(lambda rows: rows.read(after, limit))

    async def trim(self, *, before: int) -> int:
        return await self._do(lambda rows: rows.trim(before))

    # Time.

    async def sweep(self) -> int:
        return await self._hand_over(Job(Rows.sweep))

    async def count(self) -> int:
        return await self._do(Rows.count)

    async def close(self) -> None:
        """Those who still wait get an error; what is being run here is taken over when its lease has passed."""
        job = Job[None](Rows.drop)
        with self._lock:
            worker, self._worker = self._worker, None
            if worker is None or worker.is_inherited:
                return
            worker.end(job)
            if self._ending is not None:
                self._ending.detach()
        await job.done()

    # The worker.

    async def _do(self, attempt: Callable[[Rows], T], *, rings: Topic | None = None) -> T:
        value = self._at_once(attempt, rings=rings)
        return await self._hand_over(Job(attempt, rings=rings)) if value is WAITS else value

    def _at_once(self, attempt: Callable[[Rows], T | Waits], *, rings: Topic | None = None) -> T | Waits:
        worker = self._worker
        return WAITS if worker is None or worker.is_inherited else worker.at_once(attempt, rings=rings)

    async def _hand_over(self, job: Job[T]) -> T:
        with self._lock:
            worker = self._worker
            if worker is None or worker.is_inherited:
                worker = self._start()
            worker.put(job)
        try:
            await job.done()
        except BaseException:
            worker.withdraw(job)
            raise
        return job.outcome()

    def _start(self) -> Worker:
        # After a fork the parent's connection must be neither used nor closed here, so it is kept and left alone.
        self._inherited = self._worker
        self._file = self._file.anew()
        self._worker = Worker(self._file, clock=self._clock, lease=self._lease)
        self._ending = weakref.finalize(self, self._worker.end)
        return self._worker


def _run_of(key: str) -> Topic:
    return ("run", key)


def _end_of(key: str) -> Topic:
    return ("settle", key)


def _settled_or_wait(key: str, rows: Rows) -> bytes | Waits:
    value = rows.settled(key)
    return WAITS if value is None else value


def _file_path(path: str) -> Path:
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
