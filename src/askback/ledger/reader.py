"""Reads lines from a store: all, the last, those of one call, those of guarded runs. Whether they are genuine is not
checked. Guarded runs are read from entries alone, which come in order, and some of them twice.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from askback.ledger.chain import LedgerLine, read_line
from askback.ledger.entries import LedgerEntry
from askback.ledger.keys import UnreadableLine
from askback.model.store import Store

PAGE = 500
"""Lines of one read: some hundred kilobytes."""

REPEATED = frozenset({"asked", "shown", "answered", "expired", "settled", "spent", "guarded"})
"""Events that a worker records again when it takes over a round, or a call when it learns how a visit ended. A refusal
is never such a copy."""


def as_bytes(found: object) -> bytes:
    """A line as bytes, also if somebody else wrote another type to the store."""
    return bytes(found) if isinstance(found, bytes | bytearray) else str(found).encode("utf-8", "replace")


async def read_numbered(store: Store, *, after: int = 0) -> AsyncGenerator[tuple[int, bytes]]:
    """All lines after this number, also those that are added while reading."""
    while page := await store.read(after=after, limit=PAGE):
        for number, raw in page:
            yield number, as_bytes(raw)
        after = page[-1][0]


async def read_lines(store: Store, *, after: int = 0) -> AsyncGenerator[LedgerLine]:
    """All readable lines after this number; `Ledger.verify` reports the others."""
    async for number, raw in read_numbered(store, after=after):
        try:
            yield read_line(number, raw)
        except UnreadableLine:
            continue


async def last_line(store: Store, *, near: int = 1) -> tuple[int, bytes] | None:
    """The last line, searched for from a number that is near it, because a store can only read forward."""
    page = await store.read(after=near - 1, limit=1)
    if not page:
        return await last_line(store) if near > 1 else None
    found, step = page[0], 1
    while page := await store.read(after=found[0] + step - 1, limit=1):
        found, step = page[0], step * 2
    upper = found[0] + step - 1
    while found[0] < upper:
        middle = (found[0] + upper) // 2
        if page := await store.read(after=middle, limit=1):
            found = page[0]
        else:
            upper = middle
    return found


async def calls_of(store: Store, name: str) -> set[str]:
    """The calls whose id, or the id of one of whose questions, begins so."""
    found: set[str] = set()
    async for line in read_lines(store):
        entry = entry_of(line)
        if entry is not None and (entry.call.startswith(name) or (entry.question or "").startswith(name)):
            found.add(entry.call)
    return found


async def read_call(store: Store, call: str) -> list[tuple[LedgerLine, LedgerEntry]]:
    """The entries of one call in order, without copies."""
    story: list[tuple[LedgerLine, LedgerEntry]] = []
    seen: set[object] = set()
    async for line in read_lines(store):
        entry = entry_of(line)
        if entry is None or entry.call != call:
            continue
        said = (entry.action, entry.digest, entry.reason, entry.word)
        copied = (entry.event, entry.place, entry.question, *said)
        identity = copied if entry.event in REPEATED else line.raw
        if identity not in seen:
            seen.add(identity)
            story.append((line, entry))
    return story


def entry_of(line: LedgerLine) -> LedgerEntry | None:
    """The entry of a line; None if it has none, or one that this version cannot read."""
    try:
        return line.entry()
    except UnreadableLine:
        return None


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
