"""The result of verifying a ledger."""

from dataclasses import dataclass
from typing import Literal

Wrong = Literal[
    "changed", "foreign", "missing", "moved", "copied", "cut", "tail", "trimmed", "keyless", "head"
]
"""In this order: the content does not fit the seal; not a line of a ledger; lines between others are gone; lines stand
elsewhere than they were written; a copy, perhaps in the place of another line; the beginning is gone without a trim
mark; the end that a head names is gone; it was wrong already when it was trimmed; its key is unknown; the head itself
was changed."""

MAX_PROBLEMS = 100
"""Problems that are listed. All are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerProblem:
    """One thing that is wrong."""

    kind: Wrong
    number: int | None
    """The line at which it shows; None if it shows at no line."""
    words: str

    def __str__(self) -> str:
        return self.words if self.number is None else f"line {self.number}: {self.words}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one reading from the first line to the last has found."""

    first: int
    last: int
    """Line numbers; 0 if there is no line."""
    lines: int
    writers: int
    problems: tuple[LedgerProblem, ...]
    """The first of them by line number."""
    count: int
    """How many there are in all."""
    head_at: float | None
    """When the head was made that the ledger was compared with."""

    @property
    def is_sound(self) -> bool:
        return not self.count
