"""What verifying a ledger has brought to light."""

from dataclasses import dataclass
from typing import Literal

Wrong = Literal[
    "changed", "foreign", "missing", "moved", "copied", "cut", "tail", "trimmed", "keyless", "head"
]
"""Its words are not those that were sealed; it is no line of ours; lines between others are gone; lines stand elsewhere
than where they were written; it stands there once more, perhaps for another; the beginning is gone and no mark says so;
the end is gone that a head knows; it was wrong already when it was trimmed; its key is not here; the head itself was
changed."""

MAX_PROBLEMS = 100
"""Problems that are told one by one. All are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerProblem:
    """One thing that is wrong, in plain words."""

    kind: Wrong
    number: int | None
    """The line at which it shows; None where it shows at none."""
    words: str

    def __str__(self) -> str:
        return self.words if self.number is None else f"line {self.number}: {self.words}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Of one reading from the first line to the last."""

    first: int
    last: int
    """Numbers of lines; 0 where there is none."""
    lines: int
    writers: int
    problems: tuple[LedgerProblem, ...]
    """The first of them by line number."""
    count: int
    """How many there are in all."""
    head_at: float | None
    """Of the head that it was held against."""

    @property
    def is_sound(self) -> bool:
        return not self.count


class ProblemLog:
    """Problems as they come up; the first ones are kept."""

    def __init__(self) -> None:
        self._kept: list[LedgerProblem] = []
        self.count = 0

    def add(self, kind: Wrong, number: int | None, words: str) -> None:
        self.count += 1
        if len(self._kept) < MAX_PROBLEMS:
            self._kept.append(LedgerProblem(kind=kind, number=number, words=words))

    @property
    def kept(self) -> tuple[LedgerProblem, ...]:
        return tuple(sorted(self._kept, key=lambda problem: problem.number or 0))
