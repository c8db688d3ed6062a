"""Writes to the ledger for one process and one event loop: one append at a time. Callers that come meanwhile are put
together into the next append.

After a failed or cancelled append it is unknown whether its lines are in the store. So no line is ever linked to them:
the next append begins a new chain. A new chain also begins when the writer's last line was trimmed, because the mark
that says where the old chain goes on may be trimmed next.
"""

import os
from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from secrets import token_hex

import anyio

from askback.errors import StoreUnavailable
from askback.ledger.chain import LineRecord, Tip, opened_record, read_line, seal_records
from askback.ledger.codec import UnreadableLine
from askback.ledger.keys import LedgerKey
from askback.ledger.reader import as_bytes, last_line
from askback.model.store import Store

MAX_LINES_PER_APPEND = 256
"""A store takes the lines of one append in one statement."""

TRIM_CHECK_AFTER = 60.0
"""Seconds of silence after which a writer checks whether its last line was trimmed: no ledger is kept for less."""


@dataclass(eq=False, slots=True)
class _PendingWrite:
    """The lines of one caller, and what has become of them."""

    records: Sequence[LineRecord]
    is_written: bool = False
    is_cancelled: bool = False
    error: Exception | None = None


class LedgerWriter:
    """The caller that holds the lock writes for all that wait for it."""

    def __init__(self, store: Store, key: LedgerKey, *, clock: Callable[[], float]) -> None:
        self._store, self._key, self._clock = store, key, clock
        self.process = os.getpid()
        self._tip: Tip | None = None
        self._seen, self._written_at = 1, 0.0
        self._waiting: deque[_PendingWrite] = deque()
        self._lock = anyio.Lock(fast_acquire=True)

    async def write(self, *records: LineRecord) -> None:
        """Return when the lines are in the store, in this order; raises `StoreUnavailable` if they may not be."""
        pending = _PendingWrite(records)
        self._waiting.append(pending)
        try:
            async with self._lock:
                if not pending.is_written and pending.error is None:
                    await self._write_waiting()
        except BaseException:
            pending.is_cancelled = True
            if pending in self._waiting:
                self._waiting.remove(pending)
            raise
        if pending.error is not None:
            # Each caller gets its own exception, with its own traceback.
            raise copy(pending.error) if isinstance(pending.error, StoreUnavailable) else pending.error

    async def _write_waiting(self) -> None:
        """Write the caller's lines, which wait first, and as many of the others' as fit."""
        batch = [self._waiting.popleft()]
        count = len(batch[0].records)
        while self._waiting and count + len(self._waiting[0].records) <= MAX_LINES_PER_APPEND:
            batch.append(self._waiting.popleft())
            count += len(batch[-1].records)
        try:
            await self._append([record for pending in batch for record in pending.records])
        except Exception as error:  # noqa: BLE001 - raised by each of the callers
            for pending in batch:
                pending.error = error
        except BaseException:
            # This caller was cancelled. The others that still wait want their lines written.
            self._waiting.extendleft(pending for pending in reversed(batch[1:]) if not pending.is_cancelled)
            raise
        else:
            for pending in batch:
                pending.is_written = True

    async def _append(self, records: list[LineRecord]) -> None:
        is_trimmed = await self._is_trimmed()
        tip, self._tip = self._tip, None
        if tip is None or is_trimmed:
            tip = Tip(writer=token_hex(8))
            records = [await self._opening(), *records]
        lines, tip = seal_records(tip, self._key, records)
        number = self._seen = await self._store.append(*lines)
        self._tip, self._written_at = replace(tip, number=number), self._clock()

    async def _is_trimmed(self) -> bool:
        """Whether this writer's last line was trimmed, with all before it. If somebody removed that line alone, the
        chain goes on and shows that it is missing."""
        if self._tip is None or abs(self._clock() - self._written_at) < TRIM_CHECK_AFTER:
            return False
        first = await self._store.read(limit=1)
        return bool(first) and first[0][0] > self._tip.number

    async def _opening(self) -> LineRecord:
        """The first line of a chain names the last line of the store, so that its removal is noticed."""
        found = await last_line(self._store, near=self._seen)
        try:
            saw = None if found is None else read_line(found[0], as_bytes(found[1]))
        except UnreadableLine:
            saw = None
        return opened_record(saw, at=self._clock())
