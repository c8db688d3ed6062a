"""Guarded runs that are put together from entries, as `askback ledger guards` does."""

from collections.abc import Iterable

from askback.ledger import LedgerEntry
from askback.ledger.reader import RecordedRun, RecordedRuns


def guarded_runs(entries: Iterable[tuple[int, LedgerEntry]]) -> list[RecordedRun]:
    """Of numbered entries."""
    runs = RecordedRuns()
    for number, entry in entries:
        runs.take(number, entry)
    return list(runs)
