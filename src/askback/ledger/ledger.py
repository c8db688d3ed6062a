"""The ledger of a server: an operator makes it, the server writes to it, and it can be read, verified and trimmed.

Writing: one append at a time for one process and one event loop; callers that come meanwhile are put together into the
next append. After a failed or cancelled append it is unknown whether its lines are in the store. So no line is ever
linked to them: the next append begins a new chain. A new chain also begins when the writer's last line was trimmed,
because the mark that says where the old chain goes on may be trimmed next.

Trimming: a mark is written first. It says where each chain goes on, so that the rest still verifies, and which of the
removed lines were wrong.
"""

import logging
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import timedelta
from secrets import token_hex

import anyio
from anyio.lowlevel import RunVar

from askback.errors import OperatorError, StoreUnavailable
from askback.ledger.chain import (
    Head,
    Heads,
    LedgerLine,
    LineRecord,
    Tip,
    TrimMark,
    opened_record,
    read_line,
    seal_heads,
    seal_records,
    trimmed_records,
)
from askback.ledger.checker import LedgerChecker, Report
from askback.ledger.entries import LedgerEntry, encode_entry
from askback.ledger.keys import Keys, LedgerKey, LedgerKeyRing, UnreadableLine
from askback.ledger.reader import as_bytes, last_line, read_lines, read_numbered
from askback.model.store import Store
from askback.stores import open_store

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


TRIM_INTERVAL = 3600.0
"""Seconds between two trims, in all processes together."""

BATCH_SIZE = 500
"""Lines that one trim reads while the caller of a write waits: some milliseconds."""


class Retention:
    """Trims one ledger to what is younger than `keep` seconds."""

    def __init__(self, store: Store, ring: LedgerKeyRing, *, keep: float, clock: Callable[[], float]) -> None:
        self._store, self._ring, self._keep, self._clock = store, ring, keep, clock
        self._due_at = 0.0
        self._has_turn = False

    @property
    def is_due(self) -> bool:
        return self._clock() >= self._due_at

    async def trim_in_turn(self, writer: LedgerWriter) -> None:
        """Trim one batch, if this process has the turn in this hour."""
        now = self._clock()
        self._due_at = now + TRIM_INTERVAL
        turn = f"askback/ledger/trim/{int(now // TRIM_INTERVAL)}"
        if self._has_turn or await self._store.spend(turn, until=now + 2 * TRIM_INTERVAL):
            _, self._has_turn = await self.trim_batch(writer)
            self._due_at = now if self._has_turn else self._due_at

    async def trim_batch(self, writer: LedgerWriter) -> tuple[int, bool]:
        """Remove the oldest lines up to the first that is young enough. Gives how many, and whether more may be old."""
        page = await self._store.read(limit=BATCH_SIZE)
        mark = self._mark_old(page)
        if mark is None:
            return 0, False
        await writer.write(*trimmed_records(mark, at=self._clock()))
        return await self._store.trim(before=mark.before), mark.before > page[-1][0]

    def _mark_old(self, page: Sequence[tuple[int, bytes]]) -> TrimMark | None:
        """The mark for the old lines at the beginning of the page; None if there are none."""
        checker, until = LedgerChecker(self._ring), self._clock() - self._keep
        before, cut, wrong = 0, dict[str, Head](), list[int]()
        undated: list[tuple[int, LedgerLine | None, bool]] = []
        for number, raw in page:
            problems = checker.problem_count
            line = checker.take(number, as_bytes(raw))
            is_wrong = line is None or (checker.problem_count > problems and line.kind != "trimmed")
            undated.append((number, line, is_wrong))
            if line is None or line.at is None:
                continue  # a line without a sealed time goes with an old line behind it
            if line.at >= until:
                break
            for number_, line_, is_wrong_ in undated:
                if 0 < before < number_:
                    wrong.append(before)  # it and the lines up to this one were missing already
                if is_wrong_:
                    wrong.append(number_)
                before = number_ + 1
                if line_ is not None and line_.n > cut.get(line_.writer, (0,))[0]:
                    cut[line_.writer] = Head(line_.n, line_.mac, number_)
            undated.clear()
        return TrimMark(before=before, cut=cut, wrong=wrong) if cut else None


logger = logging.getLogger("askback")


class Ledger:
    """Everything that is asked and answered, in a store, as chains that show whether somebody changed them.

    Args:
        store: where the lines are kept, as in `Askback(store=...)`; it may be the server's own store.
        keys: as in `Askback(keys=...)`, the newest first. The first key seals new lines; all of them verify old ones.
        keep: how long lines are kept; None for ever. Older lines are removed about once an hour.
        answers: tools and prompts by name, and resources by URI, whose answers are kept word for word. For all others
            only a digest is kept.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        store: Store | str,
        keys: Keys,
        *,
        keep: timedelta | None = timedelta(days=400),
        answers: Collection[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        if isinstance(answers, str):
            raise OperatorError(f"Ledger(answers=...) is a list, also of one: answers=[{answers!r}].")
        if keep is not None and keep <= timedelta():
            raise OperatorError(f"Ledger(keep={keep}) would keep nothing. Give a time, or None to keep all.")
        self.store = open_store(store, clock=clock)
        self.answers = frozenset(answers)
        self._ring = LedgerKeyRing(keys)
        self._clock = clock
        self._retention = None if keep is None else self._make_retention(keep)
        self._writers: RunVar[LedgerWriter] = RunVar("askback ledger writer")

    async def write(self, *entries: LedgerEntry) -> None:
        """Return when the entries are in the store, in this order; raises `StoreUnavailable` if they may not be."""
        if not entries:
            return
        writer = self._writer()
        await writer.write(*(LineRecord("entry", encode_entry(entry)) for entry in entries))
        if self._retention is not None and self._retention.is_due:
            try:
                await self._retention.trim_in_turn(writer)
            except StoreUnavailable as error:  # the entries are in the store, so nothing is lost
                logger.warning("old ledger lines were not trimmed; it will be tried again: %s", error.message)

    def digest_of(self, content: object, *, call: str, place: str | None) -> str:
        """A keyed digest of an answer, for `LedgerEntry.digest`. It is bound to the call and the question, so that a
        reader without the key cannot guess the answer, nor see that two people gave the same one."""
        return self._ring.first.digest_of(content, call=call, place=place)

    def entries(self, after: int = 0) -> AsyncIterator[LedgerLine]:
        """The lines after this number, unverified."""
        return read_lines(self.store, after=after)

    async def verify(self, heads: Heads | None = None) -> Report:
        """Read all lines and report what is wrong. Earlier heads also show whether the end was cut off."""
        return (await self._check(heads)).report()

    async def heads(self) -> Heads:
        """Where each chain ends now, sealed. Keep it in a place that a writer to the store cannot change."""
        checker = await self._check()
        report = checker.report()
        if not report.is_sound:
            raise OperatorError(
                f"No head was made: the ledger does not verify ({report.problems[0]}). `askback ledger verify` "
                "lists all."
            )
        return seal_heads(checker.heads(), last=report.last, at=self._clock(), key=self._ring.first)

    async def trim(self, keep: timedelta) -> int:
        """Remove all older lines now; gives how many there were."""
        retention, total, is_more = self._make_retention(keep), 0, True
        while is_more:
            count, is_more = await retention.trim_batch(self._writer())
            total += count
        return total

    async def close(self) -> None:
        """Close the store."""
        await self.store.close()

    def _make_retention(self, keep: timedelta) -> Retention:
        return Retention(self.store, self._ring, keep=keep.total_seconds(), clock=self._clock)

    def _writer(self) -> LedgerWriter:
        """The writer of this event loop in this process; a forked process has its own chain."""
        writer = self._writers.get(None)
        if writer is None or writer.process != os.getpid():
            writer = LedgerWriter(self.store, self._ring.first, clock=self._clock)
            self._writers.set(writer)
        return writer

    async def _check(self, heads: Heads | None = None) -> LedgerChecker:
        checker = LedgerChecker(self._ring, heads)
        async for number, raw in read_numbered(self.store):
            checker.take(number, raw)
        return checker
