"""Checks whether a ledger is as it was written, in one reading from the first line to the last. It keeps only where
each writer's chain stands. Pure: lines are handed to it.

A missing line may have been trimmed for its age, and the mark that says so stands further down. So a hole is a doubt
until the last line was read.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from askback.ledger.chain import (
    Head,
    Heads,
    LedgerLine,
    SealStatus,
    judge_seal,
    read_line,
    read_opened,
    read_trimmed,
)
from askback.ledger.keys import LedgerKeyRing, UnreadableLine

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


MAX_DOUBTS = 10_000
"""Holes that wait for an explanation; further ones count as problems."""

MAX_UNKNOWN_KEYS = 20
"""Unknown keys that are reported one by one."""

MAX_NAME_LENGTH = 16
"""Letters of a writer or a key that are printed; a forged line may have more."""

FORGED: dict[SealStatus, str] = {
    "changed": "its seal does not fit what it says: changed, or forged.",
    "renamed": "it is sealed with a key that is here, and names another one: the name is forged.",
    "unnamed": "it names a key as no key of a ledger is named: the name is forged.",
}


@dataclass(slots=True)
class WriterChain:
    """Where a writer's chain stands, and the holes before that."""

    n: int = 0
    mac: str = ""
    last: int = 0
    number: int = 0
    gaps: list["ChainGap"] = field(default_factory=list["ChainGap"])

    def advance(self, line: LedgerLine) -> None:
        self.n, self.mac, self.last, self.number = line.n, line.mac, line.last, line.number

    def head(self) -> Head:
        return Head(self.n, self.mac, self.number)


@dataclass(slots=True)
class ChainGap:
    """Missing lines of a writer: after number `since` and before number `n`."""

    since: int
    n: int
    previous: str
    came_later: int = 0
    is_trimmed: bool = False

    @property
    def is_explained(self) -> bool:
        return self.is_trimmed or 0 < self.n - self.since - 1 == self.came_later

    def compare(self, cut: Head) -> None:
        self.is_trimmed = self.is_trimmed or (cut.n == self.n - 1 and cut.mac == self.previous)


@dataclass(slots=True)
class _Keyless:
    """Lines that are sealed with one unknown key."""

    key: str
    first: int
    last: int
    count: int = 0


class LedgerChecker:
    """Takes the lines one after the other, and then gives a `report`."""

    def __init__(self, ring: LedgerKeyRing, heads: Heads | None = None) -> None:
        self._ring, self._heads = ring, heads
        self._problems: list[LedgerProblem] = []
        self._doubts: list[tuple[LedgerProblem, Callable[[], bool]]] = []
        self._chains: dict[str, WriterChain] = {}
        self._cuts: dict[str, Head] = {}
        self._before = 0
        self._keyless: dict[str, _Keyless] = {}
        self._sealed_writers: set[str] = set()
        self._marks = {"opened": self._check_opened, "trimmed": self._read_mark}
        self._wanted = {} if heads is None else dict(heads.writers)
        self.first = self.last = self._count = 0
        self.problem_count = 0
        """How many problems are certain by now."""

    def heads(self) -> dict[str, Head]:
        """Where each chain stands by now."""
        return {writer: chain.head() for writer, chain in self._chains.items()}

    def take(self, number: int, raw: bytes) -> LedgerLine | None:
        """Check the next line; gives None if it is not sealed with a known key."""
        self._check_number(number)
        try:
            line = read_line(number, raw)
        except UnreadableLine as error:
            self._add("foreign", number, f"this is no line of the ledger ({error}).")
            return None
        status = judge_seal(line, self._ring)
        if status in FORGED:
            self._add("changed", number, FORGED[status])
            if (chain := self._chains.get(line.writer)) is not None and line.n == chain.n + 1:
                chain.advance(line)  # so that this is reported once
            return None
        self._place(line)
        self._compare_with_head(line)
        if status == "keyless":
            self._note_keyless(line)
            return None
        self._sealed_writers.add(line.writer)
        if line.kind in self._marks:
            try:
                self._marks[line.kind](line)
            except UnreadableLine as error:
                self._add("foreign", number, f"a newer Askback may have written it ({error}): upgrade here.")
        return line

    def report(self) -> Report:
        """The result, after the last line."""
        for problem, is_explained in self._doubts:
            if not is_explained():
                self._add(problem.kind, problem.number, problem.words)
        self._report_keyless()
        if self._heads is not None:
            self._check_heads(self._heads)
        return Report(
            first=self.first,
            last=self.last,
            lines=self._count,
            writers=len(self._chains),
            problems=tuple(sorted(self._problems, key=lambda problem: problem.number or 0)),
            count=self.problem_count,
            head_at=None if self._heads is None else self._heads.at,
        )

    # One line.

    def _check_number(self, number: int) -> None:
        expected, self.last = self.last + 1, number
        self.first = self.first or number
        self._count += 1
        if number == expected:
            return
        kind, at, words = "missing", expected, f"from here to line {number - 1} all are missing."
        if expected == 1:
            kind, at, words = "cut", number, "the ledger begins here, and no mark says that it was trimmed."
        elif number == expected + 1:
            words = "it is missing."
        self._doubt(kind, at, words, lambda: self._before >= number)

    def _place(self, line: LedgerLine) -> None:
        chain = self._chains.setdefault(line.writer, WriterChain())
        if line.n <= chain.n:
            self._place_late(chain, line)
            return
        if line.n == chain.n + 1 and line.previous == chain.mac:
            self._check_position(chain, line)
        else:
            self._add_gap(chain, line)
        chain.advance(line)

    def _place_late(self, chain: WriterChain, line: LedgerLine) -> None:
        """A writer writes each number once: this line belongs further up, or is a copy."""
        gap = next((gap for gap in chain.gaps if gap.since < line.n < gap.n), None)
        if gap is not None and not gap.is_trimmed:
            gap.came_later += 1
            self._add("moved", line.number, f"it is {_which(line)}, and stands behind one that came later.")
        else:
            self._add("copied", line.number, f"it is {_which(line)} once more: no writer writes one twice.")

    def _check_position(self, chain: WriterChain, line: LedgerLine) -> None:
        """Lines of one append follow each other, and the next append names where the last one stood."""
        if line.step:
            is_right = line.last == chain.last and line.number - 1 == chain.number
        else:
            is_right = line.last == chain.number or (line.n == 1 and not line.last)
        if not is_right:
            words = "and the one before it stands elsewhere than when this was written."
            self._add("moved", line.number, f"it is {_which(line)}, {words}")

    def _add_gap(self, chain: WriterChain, line: LedgerLine) -> None:
        gap = ChainGap(chain.n, line.n, line.previous)
        if (cut := self._cuts.get(line.writer)) is not None:
            gap.compare(cut)
        chain.gaps.append(gap)
        first, last = chain.n + 1, line.n - 1
        missing = f"number {first}" if first == last else f"numbers {first} to {last}"
        words = f"{missing} of that writer should stand before it."
        if first > last:
            words = "follows another line than the one that stands before it."
        self._doubt("missing", line.number, f"it is {_which(line)}, and {words}", lambda: gap.is_explained)

    def _check_opened(self, line: LedgerLine) -> None:
        saw = read_opened(line)
        if saw is None or saw.number < self.first:
            return
        chain = self._chains.get(saw.writer)
        if chain is not None and (chain.n > saw.n or chain.head() == (saw.n, saw.mac, saw.number)):
            return
        words = (
            f"its writer began when line {saw.number} was the last, number {saw.n} of the writer {saw.writer}, and "
            "that is not where it was."
        )
        self._doubt("missing", line.number, words, lambda: self._before > saw.number)

    def _read_mark(self, line: LedgerLine) -> None:
        mark = read_trimmed(line)
        self._before = max(self._before, mark.before)
        self._cuts.update(mark.cut)
        for writer, cut in mark.cut.items():
            for gap in self._chains[writer].gaps if writer in self._chains else ():
                gap.compare(cut)
        if mark.wrong:
            listed = ", ".join(map(str, mark.wrong))
            words = f"lines before {mark.before} were trimmed; of them {listed} were wrong, or missing."
            self._add("trimmed", line.number, words)

    # Unknown keys.

    def _note_keyless(self, line: LedgerLine) -> None:
        noted = self._keyless.setdefault(line.writer, _Keyless(line.key, line.number, line.number))
        if noted.key != line.key:
            self._add(
                "changed",
                line.number,
                f"it names the key {line.key}, and lines of its writer before it the key {noted.key}. A writer has one "
                "key, so one of these was changed, or forged.",
            )
        noted.count, noted.last = noted.count + 1, line.number

    def _report_keyless(self) -> None:
        """A writer has one key: if it is known for some of its lines, the key id in the others is forged."""
        missing: dict[str, _Keyless] = {}
        for writer, noted in self._keyless.items():
            if writer in self._sealed_writers:
                lines = "it" if noted.count == 1 else f"from here to line {noted.last}, {noted.count}"
                words = (
                    f"{lines} of the writer {writer[:MAX_NAME_LENGTH]} named the key {noted.key}, which is not "
                    "here, and the others of that writer are sealed with one that is. A writer has one key, so "
                    "the name is forged."
                )
                self._add("changed", noted.first, words)
                continue
            id = noted.key if noted.key in missing or len(missing) < MAX_UNKNOWN_KEYS else "of another name"
            all_of_key = missing.setdefault(id, _Keyless(id, noted.first, noted.last))
            all_of_key.count += noted.count
            all_of_key.first = min(all_of_key.first, noted.first)
            all_of_key.last = max(all_of_key.last, noted.last)
        for id, noted in missing.items():
            self._add(
                "keyless",
                noted.first,
                f"from here to line {noted.last}, {noted.count} are sealed with the key {id}, which is not here: put "
                "it behind the others to verify them. If none of your servers ever had it, they are forged.",
            )

    # Heads.

    def _compare_with_head(self, line: LedgerLine) -> None:
        wanted = self._wanted.get(line.writer)
        if wanted is None or wanted.n != line.n:
            return
        if wanted.mac != line.mac:
            self._add("changed", line.number, "the head has another line in its place.")
        elif wanted.number != line.number:
            self._add("moved", line.number, f"it was line {wanted.number} when the head was made.")
        del self._wanted[line.writer]

    def _check_heads(self, heads: Heads) -> None:
        if not heads.is_genuine(self._ring):
            self._add("head", None, "The head itself was changed: its seal does not fit what it says.")
            return
        if self.last < heads.last:
            words = f"The ledger ends with line {self.last}, and had {heads.last} when the head was made."
            self._add("tail", None, words)
        for writer, wanted in self._wanted.items():
            self._report_missing(writer, wanted)

    def _report_missing(self, writer: str, wanted: Head) -> None:
        """The head names a line that was not found."""
        cut, chain = self._cuts.get(writer), self._chains.get(writer)
        if wanted.number < self._before and (cut is None or cut.n >= wanted.n):
            return
        there = max(cut.n if cut else 0, chain.n if chain else 0)
        if not there:
            words = f"The writer {writer} is gone, with its {wanted.n} lines up to line {wanted.number}."
        elif there < wanted.n:
            words = f"The writer {writer} had {wanted.n} lines when the head was made, and {there} are left."
        else:
            words = f"Line {wanted.number}, number {wanted.n} of the writer {writer}, is gone, and the head knows it."
        self._add("tail", None, words)

    # Problems.

    def _doubt(self, kind: Wrong, number: int, words: str, is_explained: Callable[[], bool]) -> None:
        if len(self._doubts) < MAX_DOUBTS:
            self._doubts.append((LedgerProblem(kind=kind, number=number, words=words), is_explained))
        else:
            self._add(kind, number, words)

    def _add(self, kind: Wrong, number: int | None, words: str) -> None:
        self.problem_count += 1
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(LedgerProblem(kind=kind, number=number, words=words))


def _which(line: LedgerLine) -> str:
    return f"number {line.n} of the writer {line.writer[:MAX_NAME_LENGTH]}"
