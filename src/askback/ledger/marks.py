"""What the ledger says of itself: that a writer has begun, and that old lines were trimmed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from askback.ledger.chain import Line, Record
from askback.ledger.heads import Head
from askback.ledger.spelling import Unreadable, spelled

MOST_CHAINS = 400
"""Chains in one mark: some forty kilobytes."""

MOST_WRONG = 20
"""Numbers of lines that did not verify when they were trimmed."""


class Saw(NamedTuple):
    """The line that was the last when a writer began."""

    number: int
    writer: str
    n: int
    mac: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Lines below `before` are gone, for they were old; each chain goes on behind what was `cut` of it."""

    before: int
    cut: Mapping[str, Head]
    wrong: Sequence[int]
    """Of these, which did not verify: nobody can look at them any more."""


def opened(saw: Line | None, *, at: float) -> Record:
    """The first line of a chain."""
    last = None if saw is None else Saw(saw.number, saw.writer, saw.n, saw.mac)
    return Record("opened", spelled({"at": at, "saw": last}))


def trimmed(mark: Mark, *, at: float) -> Iterator[Record]:
    """As many lines as the mark needs."""
    chains = list(mark.cut.items())
    for start in range(0, len(chains), MOST_CHAINS):
        cut = dict(chains[start : start + MOST_CHAINS])
        wrong = [] if start else list(mark.wrong[:MOST_WRONG])
        yield Record("trimmed", spelled({"at": at, "before": mark.before, "cut": cut, "wrong": wrong}))


def read_opened(line: Line) -> Saw | None:
    """What its writer saw; only of a line that was verified."""
    row: Any = line.record.get("saw")
    try:
        return None if row is None else Saw(*row)
    except TypeError as error:
        raise Unreadable("it does not say what its writer saw") from error


def read_trimmed(line: Line) -> Mark:
    """Only of a line that was verified: it explains away what is missing."""
    record: Any = line.record
    try:
        cut = {writer: Head(*row) for writer, row in record["cut"].items()}
        return Mark(before=int(record["before"]), cut=cut, wrong=list(record["wrong"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable("it does not say what was trimmed") from error
