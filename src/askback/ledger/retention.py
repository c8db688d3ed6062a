"""Removes old lines, a bounded number at a time. A mark is written first: it says where each chain goes on, so that the
rest still verifies, and which of the removed lines were wrong."""

from collections.abc import Callable, Sequence

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
        mark = self._mark_old(page)
        if mark is None:
            return 0, False
        await writer.write(*trimmed_records(mark, at=self._clock()))
        count = await self._store.trim(before=mark.before)
        return count, mark.before > page[-1][0]

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
