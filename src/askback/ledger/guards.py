"""Guarded runs as the ledger recorded them: asked with which facts, decided how and by whom, and what then ran. Read
from entries alone, which come in order, and some of them twice."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from askback.ledger.entries import LedgerEntry

PLACE = "guard-"
"""The place of a guard's question begins so; the key of an author's question cannot."""

Ending = Literal["ran", "raised", "did not run", "no end on record"]

ENDINGS: Mapping[str | None, Ending] = {"ran": "ran", "raised": "raised", "did not run": "did not run"}
"""By the reason in the last line of a run."""

NOT_DECIDED = "not decided"
"""It was asked, and nothing more was recorded."""

DECISION_GONE = "no decision on record"
"""Only its end is left: old lines were trimmed."""


@dataclass(slots=True, kw_only=True)
class RecordedRun:
    """One guarded run, as far as it was recorded."""

    first: LedgerEntry
    """The decision, or the question if there is none yet."""
    numbers: list[int]
    """Line numbers."""
    asked: LedgerEntry | None = None
    answered: LedgerEntry | None = None
    decided: LedgerEntry | None = None
    ended: LedgerEntry | None = None

    @property
    def guard(self) -> str:
        """The guard's name."""
        return (self.first.place or "").removeprefix(PLACE).rpartition(":")[0]

    @property
    def is_approved(self) -> bool:
        """Whether a person, an earlier approval or the operator approved it."""
        return self.decided is not None and self.decided.reason is None

    @property
    def decision(self) -> str:
        """The rule by which it may run, or the reason why it may not."""
        if self.decided is None:
            return NOT_DECIDED if self.ended is None else DECISION_GONE
        return self.decided.reason or self.decided.rule or "approved"

    @property
    def then(self) -> Ending:
        """What followed. An approved run without a last line was cut short, or waits for another answer."""
        if self.ended is not None:
            return ENDINGS[self.ended.reason]
        return "no end on record" if self.is_approved else "did not run"

    @property
    def facts(self) -> Mapping[str, Any]:
        return (self.decided and self.decided.facts) or {}

    @property
    def message(self) -> str | None:
        """The question as the person saw it, if somebody was asked."""
        return (self.asked and self.asked.message) or self.first.message

    @property
    def channel(self) -> str | None:
        """How the answer came, or the question was sent."""
        return next((one.channel for one in (self.answered, self.asked) if one and one.channel), None)

    @property
    def word(self) -> str | None:
        """On whose word the answer stands."""
        return (self.answered and self.answered.word) or (self.decided and self.decided.word)

    @property
    def policy(self) -> str | None:
        """The rule of a policy that answered."""
        return self.answered.rule if self.answered is not None else None


@dataclass(slots=True)
class RecordedRuns:
    """All guarded runs of a ledger, in the order in which they began; `take` its entries one after the other."""

    _runs: list[RecordedRun] = field(default_factory=list[RecordedRun])
    _latest: dict[tuple[str, str], RecordedRun] = field(default_factory=dict[tuple[str, str], RecordedRun])

    def take(self, number: int, entry: LedgerEntry) -> bool:
        """Add the next entry; whether it belongs to a guarded run."""
        if entry.place is None or not (entry.event == "guarded" or entry.place.startswith(PLACE)):
            return False
        run = self._latest.get((entry.call, entry.place))
        if run is None or _begins_another(run, entry):
            if entry.event not in {"asked", "guarded"}:
                return False
            run = RecordedRun(first=entry, numbers=[])
            self._runs.append(run)
            self._latest[entry.call, entry.place] = run
        run.numbers.append(number)
        match entry.event:
            case "asked":
                run.asked = entry
            case "answered" if run.decided is None:
                run.answered = entry
            case "guarded" if entry.reason in ENDINGS:
                run.ended = entry
            case "guarded":
                run.first = run.decided = entry
            case _:
                pass
        return True

    def __iter__(self) -> Iterator[RecordedRun]:
        return iter(self._runs)


def _begins_another(run: RecordedRun, entry: LedgerEntry) -> bool:
    """Whether the entry begins another run at the same place. A worker that takes a call over repeats its decision."""
    before = run.decided
    if entry.event == "asked":
        return before is not None
    if entry.event != "guarded" or entry.reason in ENDINGS:
        return False
    is_copy = before is None or (before.rule, before.reason) == (entry.rule, entry.reason)
    return run.ended is not None or not is_copy
