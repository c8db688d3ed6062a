"""The rows of the store in memory, and who waits for them."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import anyio

from askback.model.store import Verdict


@dataclass(slots=True)
class Waiter:
    """A claim that waits for a run to end."""

    until: float
    takeover: bool
    event: anyio.Event = field(default_factory=anyio.Event)
    verdict: Verdict | None = None

    def wake(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.event.set()


@dataclass(slots=True)
class KeptTurn:
    """One turn of a key: being run first, at rest later."""

    turn: int
    digest: str
    token: str
    until: float
    noted: bytes = b""
    waiters: list[Waiter] = field(default_factory=list[Waiter])
    result: bytes | None = None
    """None at rest: a later turn came while it was being run, or its runner is gone."""
    is_dead: bool = False
    """Its runner is gone, with its loop or with a note: it may be taken over."""

    def overtake(self) -> None:
        """A later turn has come: this one is not taken over any more."""
        self.is_dead, self.noted = False, b""

    def wake_all(self, verdict: Verdict) -> None:
        while self.waiters:
            self.waiters.pop(0).wake(verdict)


class Evicted(NamedTuple):
    """The last turn of a key whose result had to go."""

    turn: int
    until: float


class Kept(NamedTuple):
    """A value and its time."""

    value: bytes
    until: float


@dataclass(slots=True)
class Settlement:
    """All who wait for one key to be settled."""

    event: anyio.Event = field(default_factory=anyio.Event)
    value: bytes | None = None
    waiting: int = 0


def drop_expired(table: dict[Any, Any], now: float) -> None:
    for key in [key for key, row in table.items() if row.until <= now]:
        del table[key]
