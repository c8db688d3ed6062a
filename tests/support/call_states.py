"""The state of each call, computed from the entries of its ledger alone: the ledger can tell afterwards how far a call
got. Entries come in order, and some of them twice."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from askback.ledger.entries import LedgerEntry

OPEN, REFUSED, EXPIRED, SETTLED, FAILED, DONE = "open", "refused", "expired", "settled", "failed", "done"


@dataclass(slots=True)
class CallState:
    """One call, as far as it got."""

    call: str
    target: str | None = None
    questions: dict[str, str] = field(default_factory=dict[str, str])
    """By place: `open`, `accept`, `decline`, `cancel`, `refused` or `expired`; of a visit, `settled` or `failed`."""
    digests: dict[str, str] = field(default_factory=dict[str, str])
    """Of what was answered there last."""
    effects: dict[str, str] = field(default_factory=dict[str, str])
    """By key: `done`, `interrupted` or `retried`."""
    _seen: set[str] = field(default_factory=set[str], repr=False)

    def take(self, entry: LedgerEntry) -> None:
        """The next entry of this call."""
        self.target = self.target or entry.target
        if entry.place is None:
            return
        match entry.event:
            case "asked":
                self._ask(entry.place, entry.question)
            case "answered":
                self.questions[entry.place] = entry.action or REFUSED
                self.digests |= {} if entry.digest is None else {entry.place: entry.digest}
            case "refused":
                self.questions[entry.place] = REFUSED
            case "expired":
                self.questions[entry.place] = EXPIRED
            case "settled":
                self.questions[entry.place] = FAILED if entry.reason else SETTLED
            case "spent":
                self.effects[entry.place] = entry.reason or DONE
            case "shown" | "guarded":
                pass

    def _ask(self, place: str, question: str | None) -> None:
        if question is None or question not in self._seen:  # else it was put on record by two
            self.questions[place] = OPEN
        self._seen |= set() if question is None else {question}


def replay(entries: Iterable[LedgerEntry]) -> dict[str, CallState]:
    """All calls by their ids. What was refused before it belonged to a call belongs to none of them."""
    calls: dict[str, CallState] = {}
    for entry in entries:
        if entry.call:
            calls.setdefault(entry.call, CallState(entry.call)).take(entry)
    return calls
