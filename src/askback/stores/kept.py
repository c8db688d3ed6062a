"""What the store in memory keeps, and who waits for it."""

from collections import deque
from math import inf
from typing import NamedTuple, Protocol, TypeVar

import anyio

from askback.model.store import Verdict


class Waiter:
    """Somebody who waits for a run to end."""

    __slots__ = ("event", "takeover", "until", "verdict")

    def __init__(self, until: float, takeover: bool) -> None:
        self.event = anyio.Event()
        self.until, self.takeover = until, takeover
        self.verdict: Verdict | None = None

    def wake(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.event.set()


class Row:
    """One turn of a key: being run first, at rest later."""

    __slots__ = ("digest", "is_dead", "noted", "result", "token", "turn", "until", "waiters")

    def __init__(self, turn: int, digest: str, token: str, until: float) -> None:
        self.turn, self.digest, self.token, self.until = turn, digest, token, until
        self.noted = b""
        self.waiters: deque[Waiter] | None = None
        self.result: bytes | None = None
        """Where a row at rest has none, a later turn came while it was being run, or its runner is gone."""
        self.is_dead = False
        """Its runner is gone, with its loop or with a note: it may be taken over."""

    def overtake(self) -> None:
        """A later turn has come: nobody takes this one over any more."""
        self.is_dead, self.noted = False, b""


class Kept(NamedTuple):
    """A value and its time."""

    value: bytes
    until: float


class Bell:
    """Everybody who waits for one key to be settled."""

    __slots__ = ("event", "value", "waiting")

    def __init__(self) -> None:
        self.event = anyio.Event()
        self.value: bytes | None = None
        self.waiting = 0


class Expiring(Protocol):
    @property
    def until(self) -> float: ...


Key = TypeVar("Key")
Value = TypeVar("Value", bound=Expiring)


def drop_expired(table: dict[Key, Value], now: float) -> float:
    """Gives the time at which the next one expires."""
    earliest = inf
    gone: list[Key] = []
    for key, row in table.items():
        if row.until <= now:
            gone.append(key)
        elif row.until < earliest:
            earliest = row.until
    for key in gone:
        del table[key]
    return earliest


def wake_all(row: Row, verdict: Verdict) -> None:
    waiters, row.waiters = row.waiters, None
    for waiter in waiters or ():
        waiter.wake(verdict)
