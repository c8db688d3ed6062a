"""Old lines go, a bounded number at a time; a mark says so before, and carries what the chains go on from. What remains
verifies, and what was wrong with the lines that went is not forgotten with them."""

from collections.abc import Callable
from typing import NamedTuple

from askback.ledger.chain import LedgerLine
from askback.ledger.heads import Head
from askback.ledger.keys import LedgerKeyRing
from askback.ledger.marks import TrimMark, trimmed_records
from askback.ledger.reader import as_bytes
from askback.ledger.verify import LedgerChecker
from askback.ledger.writer import LedgerWriter
from askback.model.store import Store

EACH = 3600.0
"""Seconds between two looks, in all processes together."""

AT_ONCE = 500
"""Lines that one look reads, while whoever wrote an entry waits: some milliseconds."""


class Trimmed(NamedTuple):
    """How many lines went, and whether more of them may be old."""

    lines: int
    is_more: bool


class Retention:
    """Trims one ledger to what is younger than `keep` seconds."""

    def __init__(self, store: Store, ring: LedgerKeyRing, *, keep: float, clock: Callable[[], float]) -> None:
        self._store, self._ring, self._keep, self._clock = store, ring, keep, clock
        self._look_at = 0.0
        self._is_ours = False

    @property
    def is_due(self) -> bool:
        return self._clock() >= self._look_at

    async def look(self, writer: LedgerWriter) -> None:
        """One step, if it is this process that does it in this hour."""
        now = self._clock()
        self._look_at = now + EACH
        turn = f"askback/ledger/trim/{int(now // EACH)}"
        if self._is_ours or await self._store.spend(turn, until=now + 2 * EACH):
            self._is_ours = (await self.step(writer)).is_more
            self._look_at = now if self._is_ours else self._look_at

    async def step(self, writer: LedgerWriter) -> Trimmed:
        """The oldest lines, as far as they are too old; never one that is younger, nor any behind it."""
        page = await self._store.read(limit=AT_ONCE)
        checker = LedgerChecker(self._ring)
        old = _Old(until=self._clock() - self._keep)
        for number, raw in page:
            before = checker.problems
            line = checker.take(number, as_bytes(raw))
            is_wrong = line is None or (checker.problems > before and line.kind != "trimmed")
            if not old.take(number, line, is_wrong=is_wrong):
                break
        mark = old.mark()
        if mark is None:
            return Trimmed(0, is_more=False)
        await writer.write(*trimmed_records(mark, at=self._clock()))
        count = await self._store.trim(before=mark.before)
        return Trimmed(count, is_more=mark.before > page[-1][0])


class _Old:
    """The lines that go, as they are read."""

    def __init__(self, *, until: float) -> None:
        self._until = until
        self._before = 0
        self._cut: dict[str, Head] = {}
        self._wrong: list[int] = []
        self._undated: list[tuple[int, LedgerLine | None, bool]] = []

    def take(self, number: int, line: LedgerLine | None, *, is_wrong: bool) -> bool:
        """False for the first that is too young. One whose time nobody sealed goes with an old one behind it."""
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
        """None where nothing goes."""
        return TrimMark(before=self._before, cut=self._cut, wrong=self._wrong) if self._cut else None

    def _add(self, number: int, line: LedgerLine | None, is_wrong: bool) -> None:
        if 0 < self._before < number:
            self._wrong.append(self._before)  # and those behind it, up to this one, were gone before
        self._before = number + 1
        if is_wrong:
            self._wrong.append(number)
        if line is not None and line.n > self._cut.get(line.writer, (0,))[0]:
            self._cut[line.writer] = Head(line.n, line.mac, number)
