"""What guards stood before: asked with which facts, decided how and by whom, and what then ran. Told from entries
alone, which come in their order, and some of them twice."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from askback.ledger.entries import LedgerEntry

PLACE = "guard-"
"""How the place of a guard's question begins; no author's key does."""

Ending = Literal["ran", "raised", "did not run", "no end on record"]

ENDINGS: Mapping[str | None, Ending] = {"ran": "ran", "raised": "raised", "did not run": "did not run"}
"""By the reason of a guard's last line, which has no other."""

NOT_DECIDED = "not decided"
"""Asked, and nothing more is on record."""

DECISION_GONE = "no decision on record"
"""Only its end is: old lines were trimmed."""


@dataclass(slots=True, kw_only=True)
class GuardedRun:
    """One guarded run, as far as it is on record."""

    first: LedgerEntry
    """The decision; the question, where there is none yet."""
    numbers: list[int]
    """Of its lines."""
    asked: LedgerEntry | None = None
    answered: LedgerEntry | None = None
    decided: LedgerEntry | None = None
    ended: LedgerEntry | None = None

    @property
    def guard(self) -> str:
        """Its name."""
        return (self.first.place or "").removeprefix(PLACE).rpartition(":")[0]

    @property
    def is_approved(self) -> bool:
        """By a person, an earlier approval, or the operator."""
        return self.decided is not None and self.decided.reason is None

    @property
    def decision(self) -> str:
        """By which rule it may run, or why it may not."""
        if self.decided is None:
            return NOT_DECIDED if self.ended is None else DECISION_GONE
        return self.decided.reason or self.decided.rule or "approved"

    @property
    def then(self) -> Ending:
        """Without a line that says so, what was approved may have been cut short, or wait for another answer."""
        if self.ended is not None:
            return ENDINGS[self.ended.reason]
        return "no end on record" if self.is_approved else "did not run"

    @property
    def facts(self) -> Mapping[str, Any]:
        return (self.decided and self.decided.facts) or {}

    @property
    def message(self) -> str | None:
        """As the person saw it, where somebody was asked."""
        return (self.asked and self.asked.message) or self.first.message

    @property
    def channel(self) -> str | None:
        """The way the answer came, or the question went."""
        return next((one.channel for one in (self.answered, self.asked) if one and one.channel), None)

    @property
    def word(self) -> str | None:
        """On whose it stands."""
        return (self.answered and self.answered.word) or (self.decided and self.decided.word)

    @property
    def policy(self) -> str | None:
        """Which rule of a policy answered."""
        return self.answered.rule if self.answered is not None else None


@dataclass(slots=True)
class GuardedRuns:
    """All guarded runs of a ledger; `take` its entries one after the other."""

    _runs: list[GuardedRun] = field(default_factory=list[GuardedRun])
    _latest: dict[tuple[str, str], GuardedRun] = field(default_factory=dict[tuple[str, str], GuardedRun])

    def take(self, number: int, entry: LedgerEntry) -> bool:
        """The next entry; whether it is of a guard, which most are not."""
        if entry.place is None or not (entry.event == "guarded" or entry.place.startswith(PLACE)):
            return False
        run = self._run_of(entry)
        if run is not None:
            run.numbers.append(number)
        return run is not None

    def __iter__(self) -> Iterator[GuardedRun]:
        """In the order in which they began."""
        return iter(self._runs)

    def _run_of(self, entry: LedgerEntry) -> GuardedRun | None:
        latest = self._latest.get(_key(entry))
        match entry.event:
            case "asked":
                run = latest if latest is not None and latest.decided is None else self._begin(entry)
                run.asked = entry
            case "answered":
                run = latest
                if run is not None and run.decided is None:
                    run.answered = entry
            case "guarded" if entry.reason in ENDINGS:
                run = latest if latest is not None else self._begin(entry)
                run.ended = entry
            case "guarded":
                run = latest if latest is not None and _goes_on(latest, entry) else self._begin(entry)
                run.first = run.decided = entry
            case _:
                run = latest
        return run

    def _begin(self, entry: LedgerEntry) -> GuardedRun:
        run = GuardedRun(first=entry, numbers=[])
        self._runs.append(run)
        self._latest[_key(entry)] = run
        return run


def guarded_runs(entries: Iterable[tuple[int, LedgerEntry]]) -> list[GuardedRun]:
    """Of numbered entries."""
    guards = GuardedRuns()
    for number, entry in entries:
        guards.take(number, entry)
    return list(guards)


def _key(entry: LedgerEntry) -> tuple[str, str]:
    return entry.call, entry.place or ""


def _goes_on(run: GuardedRun, decision: LedgerEntry) -> bool:
    """Whether that decision is the run's own: its first, or the same once more, by whoever has taken over."""
    before = run.decided
    is_same = before is not None and (before.rule, before.reason) == (decision.rule, decision.reason)
    return run.ended is None and (before is None or is_same)
