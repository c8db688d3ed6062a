"""What the ledger says of itself: that a writer has begun, and that old lines were trimmed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from askback.ledger.chain import LedgerLine, LineRecord
from askback.ledger.codec import UnreadableLine, compact_json
from askback.ledger.heads import Head

MAX_CHAINS_PER_MARK = 400
"""Chains in one mark: some forty kilobytes."""

MAX_WRONG_LINES = 20
"""Numbers of lines that did not verify when they were trimmed."""


class SeenLine(NamedTuple):
    """The line that was the last when a writer began."""

    number: int
    writer: str
    n: int
    mac: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimMark:
    """Lines below `before` are gone, for they were old; each chain goes on behind what was `cut` of it."""

    before: int
    cut: Mapping[str, Head]
    wrong: Sequence[int]
    """Of these, which did not verify: nobody can look at them any more."""


def opened_record(saw: LedgerLine | None, *, at: float) -> LineRecord:
    """The first line of a chain."""
    last = None if saw is None else SeenLine(saw.number, saw.writer, saw.n, saw.mac)
    return LineRecord("opened", compact_json({"at": at, "saw": last}))


def trimmed_records(mark: TrimMark, *, at: float) -> Iterator[LineRecord]:
    """As many lines as the mark needs."""
    chains = list(mark.cut.items())
    for start in range(0, len(chains), MAX_CHAINS_PER_MARK):
        cut = dict(chains[start : start + MAX_CHAINS_PER_MARK])
        wrong = [] if start else list(mark.wrong[:MAX_WRONG_LINES])
        yield LineRecord(
            "trimmed", compact_json({"at": at, "before": mark.before, "cut": cut, "wrong": wrong})
        )


def read_opened(line: LedgerLine) -> SeenLine | None:
    """What its writer saw; only of a line that was verified."""
    row: Any = line.record.get("saw")
    try:
        return None if row is None else SeenLine(*row)
    except TypeError as error:
        raise UnreadableLine("it does not say what its writer saw") from error


def read_trimmed(line: LedgerLine) -> TrimMark:
    """Only of a line that was verified: it explains away what is missing."""
    record: Any = line.record
    try:
        cut = {writer: Head(*row) for writer, row in record["cut"].items()}
        return TrimMark(before=int(record["before"]), cut=cut, wrong=list(record["wrong"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableLine("it does not say what was trimmed") from error
