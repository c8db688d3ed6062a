"""Whether a ledger is as it was written: one reading from the first line to the last, which remembers where each chain
stands and nothing else. Pure: lines are handed to it.

What looks like a hole may be the work of retention, whose mark stands further down; so holes are doubts until the end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from askback.ledger.chain import LedgerLine, read_line
from askback.ledger.codec import UnreadableLine
from askback.ledger.heads import Head, Heads
from askback.ledger.keys import LedgerKeyRing
from askback.ledger.marks import read_opened, read_trimmed
from askback.ledger.report import LedgerProblem, ProblemLog, Report, Wrong
from askback.ledger.seal import SealStatus, judge_seal
from askback.ledger.standing import Chain, Jump

MAX_DOUBTS = 10_000
"""Holes whose explanation is waited for; further ones count as holes."""

MAX_UNKNOWN_KEYS = 20
"""Unknown keys that are told one by one."""

MAX_NAME_LENGTH = 16
"""Letters of a writer or a key, as we name them; whoever forges a line may write more."""


FORGED: dict[SealStatus, str] = {
    "changed": "its seal does not fit what it says: changed, or forged.",
    "renamed": "it is sealed with a key that is here, and names another one: the name is forged.",
    "unnamed": "it names a key as no key of a ledger is named: the name is forged.",
}
"""What a line shows by itself, in words."""


class _Doubt(NamedTuple):
    problem: LedgerProblem
    is_explained: Callable[[], bool]


@dataclass(slots=True)
class _Sealed:
    """Lines with a key that is not here."""

    key: str
    count: int
    first: int
    last: int

    def join(self, other: "_Sealed") -> None:
        self.count += other.count
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)


class LedgerChecker:
    """Takes the lines one after the other; then it `reports`."""

    def __init__(self, ring: LedgerKeyRing, heads: Heads | None = None) -> None:
        self._ring, self._heads = ring, heads
        self._findings = ProblemLog()
        self._doubts: list[_Doubt] = []
        self._chains: dict[str, Chain] = {}
        self._cuts: dict[str, Head] = {}
        self._before = 0
        self._keyless: dict[str, _Sealed] = {}
        self._sealed_writers: set[str] = set()
        self._marks = {"opened": self._check_opened, "trimmed": self._read_mark}
        self._wanted = {} if heads is None else dict(heads.writers)
        self.first = self.last = self._count = 0

    @property
    def problems(self) -> int:
        """How many are certain by now."""
        return self._findings.count

    def heads(self) -> dict[str, Head]:
        """Where every chain stands by now."""
        return {writer: chain.head() for writer, chain in self._chains.items()}

    def take(self, number: int, raw: bytes) -> LedgerLine | None:
        """The next line; None if no key of ours sealed it."""
        self._step_to(number)
        try:
            line = read_line(number, raw)
        except UnreadableLine as error:
            self._findings.add("foreign", number, f"this is no line of the ledger ({error}).")
            return None
        verdict = judge_seal(line, self._ring)
        if verdict in FORGED:
            self._findings.add("changed", number, FORGED[verdict])
            if (chain := self._chains.get(line.writer)) is not None and line.n == chain.n + 1:
                chain.advance(line)  # so that this is told once
            return None
        self._place(line)
        if verdict == "keyless":
            self._note_keyless(line)
            return None
        self._sealed_writers.add(line.writer)
        if line.kind in self._marks:
            self._heed(line)
        return line

    def report(self) -> Report:
        """After the last line."""
        for doubt in self._doubts:
            if not doubt.is_explained():
                self._add(doubt.problem)
        self._tell_keyless()
        self._compare()
        return Report(
            first=self.first,
            last=self.last,
            lines=self._count,
            writers=len(self._chains),
            problems=self._findings.kept,
            count=self._findings.count,
            head_at=None if self._heads is None else self._heads.at,
        )

    # One line.

    def _step_to(self, number: int) -> None:
        expected, self.last = self.last + 1, number
        self.first = self.first or number
        self._count += 1
        if number == expected:
            return
        if expected == 1:
            problem = _problem("cut", number, "the ledger begins here, and no mark says that it was trimmed.")
        elif number == expected + 1:
            problem = _problem("missing", expected, "it is missing.")
        else:
            problem = _problem("missing", expected, f"from here to line {number - 1} all are missing.")
        self._doubt(problem, lambda: self._before >= number)

    def _place(self, line: LedgerLine) -> None:
        chain = self._chains.setdefault(line.writer, Chain())
        if line.n <= chain.n:
            self._place_late(chain, line)
        elif line.n == chain.n + 1 and line.previous == chain.mac:
            self._check_place(chain, line)
            chain.advance(line)
        else:
            self._jump(chain, line)
            chain.advance(line)
        self._meet_head(line)

    def _place_late(self, chain: Chain, line: LedgerLine) -> None:
        """No writer writes a line twice, nor two of one number: it belongs further up, or was put where another was."""
        jump = next((jump for jump in chain.jumps if jump.since < line.n < jump.n), None)
        if jump is not None and not jump.is_trimmed:
            jump.came_later += 1
            self._findings.add(
                "moved", line.number, f"it is {_which(line)}, and stands behind one that came later."
            )
        else:
            self._findings.add(
                "copied", line.number, f"it is {_which(line)} once more: nobody writes one twice."
            )

    def _check_place(self, chain: Chain, line: LedgerLine) -> None:
        """Lines of one append stand one behind the other, and the next append knows where the last one stood."""
        if line.step:
            stands = line.last == chain.last and line.number - 1 == chain.number
        else:
            stands = line.last == chain.number or (line.n == 1 and not line.last)
        if not stands:
            self._findings.add(
                "moved",
                line.number,
                f"it is {_which(line)}, and the one before it stands elsewhere than when this was written.",
            )

    def _jump(self, chain: Chain, line: LedgerLine) -> None:
        jump = Jump(chain.n, line.n, line.previous)
        if (cut := self._cuts.get(line.writer)) is not None:
            jump.compare(cut)
        chain.jumps.append(jump)
        if line.n == chain.n + 1:
            words = f"it is {_which(line)}, and follows another line than the one that stands before it."
        else:
            missing = _span(chain.n + 1, line.n - 1)
            words = f"it is {_which(line)}, and {missing} of that writer should stand before it."
        self._doubt(_problem("missing", line.number, words), lambda: jump.is_explained)

    def _heed(self, line: LedgerLine) -> None:
        """What the ledger says of itself, sealed with a key of ours: nothing else explains a hole."""
        try:
            self._marks[line.kind](line)
        except UnreadableLine as error:
            self._findings.add(
                "foreign", line.number, f"a newer Askback may have written it ({error}): upgrade here."
            )

    def _check_opened(self, line: LedgerLine) -> None:
        saw = read_opened(line)
        if saw is None or saw.number < self.first:
            return
        chain = self._chains.get(saw.writer)
        if chain is not None and chain.n > saw.n:
            return
        if chain is not None and chain.head() == Head(saw.n, saw.mac, saw.number):
            return
        words = (
            f"its writer began when line {saw.number} was the last, number {saw.n} of the writer {saw.writer}, and "
            "that is not where it was."
        )
        self._doubt(_problem("missing", line.number, words), lambda: self._before > saw.number)

    def _read_mark(self, line: LedgerLine) -> None:
        mark = read_trimmed(line)
        self._before = max(self._before, mark.before)
        self._cuts.update(mark.cut)
        for writer, cut in mark.cut.items():
            for jump in self._chains[writer].jumps if writer in self._chains else ():
                jump.compare(cut)
        if mark.wrong:
            listed = ", ".join(map(str, mark.wrong))
            self._findings.add(
                "trimmed",
                line.number,
                f"lines before {mark.before} were trimmed; of them {listed} were wrong, or missing.",
            )

    # Keys that are not here.

    def _note_keyless(self, line: LedgerLine) -> None:
        noted = self._keyless.setdefault(line.writer, _Sealed(line.key, 0, line.number, line.number))
        if noted.key != line.key:
            self._findings.add(
                "changed",
                line.number,
                f"it names the key {line.key}, and lines of its writer before it the key {noted.key}. A writer has one "
                "key, so one of these was changed, or forged.",
            )
        noted.count, noted.last = noted.count + 1, line.number

    def _tell_keyless(self) -> None:
        """A writer has one key: where it is here for some of the lines, the others do not name it truly."""
        missing: dict[str, _Sealed] = {}
        for writer, noted in self._keyless.items():
            if writer in self._sealed_writers:
                words = (
                    f"{_lines(noted)} of the writer {writer[:MAX_NAME_LENGTH]} named the key {noted.key}, which is not "
                    "here, and the others of that writer are sealed with one that is. A writer has one key, so "
                    "the name is forged."
                )
                self._findings.add("changed", noted.first, words)
                continue
            id = noted.key if noted.key in missing or len(missing) < MAX_UNKNOWN_KEYS else "of another name"
            missing.setdefault(id, _Sealed(id, 0, noted.first, noted.last)).join(noted)
        for id, noted in missing.items():
            self._findings.add(
                "keyless",
                noted.first,
                f"from here to line {noted.last}, {noted.count} are sealed with the key {id}, which is not here: put "
                "it behind the others to verify them. If none of your servers ever had it, they are forged.",
            )

    # Heads.

    def _meet_head(self, line: LedgerLine) -> None:
        wanted = self._wanted.get(line.writer)
        if wanted is None or wanted.n != line.n:
            return
        if wanted.mac != line.mac:
            self._findings.add("changed", line.number, "the head has another line in its place.")
        elif wanted.number != line.number:
            self._findings.add("moved", line.number, f"it was line {wanted.number} when the head was made.")
        del self._wanted[line.writer]

    def _compare(self) -> None:
        heads = self._heads
        if heads is None:
            return
        if not heads.is_genuine(self._ring):
            self._findings.add(
                "head", None, "The head itself was changed: its seal does not fit what it says."
            )
            return
        if self.last < heads.last:
            self._findings.add(
                "tail",
                None,
                f"The ledger ends with line {self.last}, and had {heads.last} when the head was made.",
            )
        for writer, wanted in self._wanted.items():
            self._miss(writer, wanted)

    def _miss(self, writer: str, wanted: Head) -> None:
        """A line that the head knows was not met."""
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
        self._findings.add("tail", None, words)

    # Doubts.

    def _doubt(self, problem: LedgerProblem, is_explained: Callable[[], bool]) -> None:
        if len(self._doubts) < MAX_DOUBTS:
            self._doubts.append(_Doubt(problem, is_explained))
        else:
            self._add(problem)

    def _add(self, problem: LedgerProblem) -> None:
        self._findings.add(problem.kind, problem.number, problem.words)


def _problem(kind: Wrong, number: int, words: str) -> LedgerProblem:
    return LedgerProblem(kind=kind, number=number, words=words)


def _which(line: LedgerLine) -> str:
    return f"number {line.n} of the writer {line.writer[:MAX_NAME_LENGTH]}"


def _lines(noted: _Sealed) -> str:
    return "it" if noted.count == 1 else f"from here to line {noted.last}, {noted.count}"


def _span(first: int, last: int) -> str:
    return f"number {first}" if first == last else f"numbers {first} to {last}"
