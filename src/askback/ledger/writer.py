"""Whoever writes to the ledger, for one process and one event loop: one append at a time, and those who come meanwhile
go together in the next.

What has become of an append that failed, or was cancelled, nobody knows. So nothing is ever linked to its lines: the
next append begins another chain, with what those who are still there want written. So does one whose last line was
trimmed: the mark that says where its chain goes on may be trimmed next.
"""

import os
from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from secrets import token_hex

import anyio

from askback.errors import StoreUnavailable
from askback.ledger.chain import LineRecord, Tip, read_line, seal_records
from askback.ledger.codec import UnreadableLine
from askback.ledger.keys import LedgerKey
from askback.ledger.marks import opened_record
from askback.ledger.reader import as_bytes, last_line
from askback.model.store import Store

MAX_LINES_PER_APPEND = 256
"""In one append; a store takes them in one statement."""

TRIM_CHECK_AFTER = 60.0
"""Seconds of silence after which a writer looks whether its last line was trimmed: no ledger is kept for less."""


class _Wish:
    """What one caller wants written, and what has become of it."""

    __slots__ = ("error", "is_gone", "is_written", "records", "woken")

    def __init__(self, records: Sequence[LineRecord]) -> None:
        self.records = records
        self.woken: anyio.Event | None = None  # most callers find nobody before them, and do not wait
        self.is_written = self.is_gone = False
        self.error: Exception | None = None

    @property
    def is_over(self) -> bool:
        return self.is_written or self.error is not None

    def wake(self) -> None:
        if self.woken is not None:
            self.woken.set()

    def outcome(self) -> None:
        if self.error is not None:
            # Each caller has its own, with a trace of its own.
            raise copy(self.error) if isinstance(self.error, StoreUnavailable) else self.error


class LedgerWriter:
    """One caller at a time takes the lead and writes for all who wait; then the next of them does."""

    def __init__(self, store: Store, key: LedgerKey, *, clock: Callable[[], float]) -> None:
        self._store, self._key, self._clock = store, key, clock
        self.process = os.getpid()
        self._tip: Tip | None = None
        self._seen, self._written_at = 1, 0.0
        self._waiting: deque[_Wish] = deque()
        self._is_led = False

    async def write(self, *records: LineRecord) -> None:
        """Until they are in the store, one after the other; `StoreUnavailable` if they may not be."""
        wish = _Wish(records)
        self._waiting.append(wish)
        if self._is_led:
            await self._wait(wish)
        else:
            self._is_led = True
        if not wish.is_over:
            await self._lead()
        wish.outcome()

    async def _wait(self, wish: _Wish) -> None:
        wish.woken = anyio.Event()
        try:
            await wish.woken.wait()
        except BaseException:
            wish.is_gone = True
            if wish in self._waiting:  # else it is on its way
                self._waiting.remove(wish)
                if wish.woken.is_set():
                    self._hand_on()
            raise

    async def _lead(self) -> None:
        """With the first of those who wait, which is who called."""
        wishes = self._next()
        try:
            await self._append([record for wish in wishes for record in wish.records])
            for wish in wishes:
                wish.is_written = True
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told to all who wait for it
            for wish in wishes:
                wish.error = error
        except BaseException:
            # Who led is gone. The others, but for those who left too, still want theirs written.
            self._waiting.extendleft(wish for wish in reversed(wishes[1:]) if not wish.is_gone)
            raise
        finally:
            for wish in wishes:
                if wish.is_over:
                    wish.wake()
            self._hand_on()

    def _next(self) -> list[_Wish]:
        wishes = [self._waiting.popleft()]
        count = len(wishes[0].records)
        while self._waiting and count + len(self._waiting[0].records) <= MAX_LINES_PER_APPEND:
            wishes.append(self._waiting.popleft())
            count += len(wishes[-1].records)
        return wishes

    def _hand_on(self) -> None:
        self._is_led = bool(self._waiting)
        if self._waiting:
            self._waiting[0].wake()

    async def _append(self, records: list[LineRecord]) -> None:
        is_trimmed = await self._is_trimmed()
        tip, self._tip = self._tip, None
        if tip is None or is_trimmed:
            tip = Tip(writer=token_hex(8))
            records = [await self._opening(), *records]
        lines, tip = seal_records(tip, self._key, records)
        number = self._seen = await self._store.append(*lines)
        self._tip, self._written_at = (
            Tip(writer=tip.writer, n=tip.n, mac=tip.mac, number=number),
            self._clock(),
        )

    async def _is_trimmed(self) -> bool:
        """With all before it. Were it taken away alone, this chain goes on, and shows that it is missing."""
        if self._tip is None or abs(self._clock() - self._written_at) < TRIM_CHECK_AFTER:
            return False
        first = await self._store.read(limit=1)
        return bool(first) and first[0][0] > self._tip.number

    async def _opening(self) -> LineRecord:
        """The first line of a chain names the last one of another: nobody takes that away unnoticed."""
        found = await last_line(self._store, near=self._seen)
        try:
            saw = None if found is None else read_line(found[0], as_bytes(found[1]))
        except UnreadableLine:
            saw = None
        return opened_record(saw, at=self._clock())
