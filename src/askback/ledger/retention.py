"""Removes old lines, a bounded number at a time. A mark is written first: it says where each chain goes on, so that the
rest still verifies, and which of the removed lines were wrong."""

from collections.abc import Callable

from askback.ledger.chain import LedgerLine, TrimMark, trimmed_records
from askback.ledger.checker import LedgerChecker
from askback.ledger.heads import Head
from askback.ledger.keys import LedgerKeyRing
from askback.ledger.reader import as_bytes
from askback.ledger.writer import LedgerWriter
from askback.model.store import Store

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
        checker = LedgerChecker(self._ring)
        old = _OldLines(until=self._clock() - self._keep)
        for number, raw in page:
            before = checker.problem_count
            line = checker.take(number, as_bytes(raw))
            is_wrong = line is None or (checker.problem_count > before and line.kind != "trimmed")
            if not old.take(number, line, is_wrong=is_wrong):
                break
        mark = old.mark()
        if mark is None:
            return 0, False
        await writer.write(*trimmed_records(mark, at=self._clock()))
        count = await self._store.trim(before=mark.before)
        return count, mark.before > page[-1][0]


class _OldLines:
    """Collects the lines to remove, as they are read."""

    def __init__(self, *, until: float) -> None:
        self._until = until
        self._before = 0
        self._cut: dict[str, Head] = {}
        self._wrong: list[int] = []
        self._undated: list[tuple[int, LedgerLine | None, bool]] = []

    def take(self, number: int, line: LedgerLine | None, *, is_wrong: bool) -> bool:
        """False for the first line that is young enough. An undated line goes with an old line behind it."""
        self._undated.append((number, line, is_wrong))
        if line is None or line.at is None:
            return True
        if line.at >= self._until:
            return False
        for each, of, wrong in self._undated:
            self._add(each, of, wrong)
        self._undated.clear()
        return True

    def mark(self) -> TrimMark | None:
        return TrimMark(before=self._before, cut=self._cut, wrong=self._wrong) if self._cut else None

    def _add(self, number: int, line: LedgerLine | None, is_wrong: bool) -> None:
        if 0 < self._before < number:
            self._wrong.append(self._before)  # it and those up to this one were missing already
        self._before = number + 1
        if is_wrong:
            self._wrong.append(number)
        if line is not None and line.n > self._cut.get(line.writer, (0,))[0]:
            self._cut[line.writer] = Head(line.n, line.mac, number)
