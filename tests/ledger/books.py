"""Ledgers for tests: as a store has them, and as bare lines that can be tampered with."""

from collections.abc import Sequence
from typing import Any

import pytest

from askback.cli.commands import ledger as command
from askback.ledger import Head, Heads, LedgerEntry, Report, checker
from askback.ledger.chain import (
    LedgerLine,
    LineRecord,
    SealStatus,
    Tip,
    judge_seal,
    opened_record,
    read_line,
    seal_heads,
    seal_records,
)
from askback.ledger.checker import LedgerChecker
from askback.ledger.entries import encode_entry
from askback.ledger.keys import LedgerKeyRing

KEY = "a-key-of-the-tests-that-is-long-enough-to-be-one"
OTHER = "another-key-of-the-tests-that-is-long-enough-too"
RING = LedgerKeyRing([KEY])

THEN = 1_800_000_000.0
"""2027-01-15 08:00 UTC."""

Rows = list[tuple[int, bytes]]
"""Numbered lines, as a store gives them."""


def entry(call: str = "c1", **fields: Any) -> LedgerEntry:
    """A question, where nothing else is said."""
    told: dict[str, Any] = {"event": "asked", "at": THEN, "server": "cafe", "message": "Which size?"}
    return LedgerEntry(call=call, **{**told, **fields})


def book(appends: Sequence[tuple[int, int]], ring: LedgerKeyRing = RING) -> Rows:
    """What several writers leave behind that append so many entries each, in this order."""
    rows: Rows = []
    tips: dict[int, Tip] = {}
    for writer, count in appends:
        records = [LineRecord("entry", encode_entry(entry(f"call {len(rows)}"))) for _ in range(count)]
        if writer not in tips:
            tips[writer] = Tip(writer=f"{writer:016x}")
            records.insert(0, opened_record(read_line(*rows[-1]) if rows else None, at=THEN))
        lines, tip = seal_records(tips[writer], ring.first, records)
        rows.extend(enumerate(lines, len(rows) + 1))
        tips[writer] = Tip(writer=tip.writer, n=tip.n, mac=tip.mac, number=len(rows))
    return rows


def check(rows: Rows, heads: Heads | None = None, ring: LedgerKeyRing = RING) -> Report:
    return checked(rows, heads, ring).report()


def checked(rows: Rows, heads: Heads | None = None, ring: LedgerKeyRing = RING) -> LedgerChecker:
    reading = LedgerChecker(ring, heads)
    for number, raw in rows:
        reading.take(number, raw)
    return reading


def heads_of(rows: Rows, ring: LedgerKeyRing = RING) -> Heads:
    writers: dict[str, Head] = checked(rows, ring=ring).heads()
    return seal_heads(writers, last=rows[-1][0], at=THEN, key=ring.first)


def believe_names_of_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is taken for missing where none has the name that a line gives; the line is not looked at."""

    def judge(line: LedgerLine, ring: LedgerKeyRing) -> SealStatus:
        return "keyless" if ring.find(line.key) is None else judge_seal(line, ring)

    for module in (checker, command):
        monkeypatch.setattr(module, "judge_seal", judge)


def renumbered(rows: Rows) -> Rows:
    """As whoever tampers would leave it: without a gap in the numbers."""
    return [(number, raw) for number, (_, raw) in enumerate(rows, rows[0][0])]


def is_last(rows: Rows, index: int) -> bool:
    """Of its writer."""
    line = _line(rows, index)
    return all(_line(rows, later).writer != line.writer for later in range(index + 1, len(rows)))


def _line(rows: Rows, index: int) -> LedgerLine:
    return read_line(*rows[index])
