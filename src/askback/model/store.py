"""What a store promises. Knows no implementation, and not what the rows are for.

Every verb is atomic: it happens wholly or not at all. Of several calls at once, one wins and the others learn it. A
store that cannot be reached raises `StoreUnavailable`, so its callers fail closed.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol


class Granted(NamedTuple):
    """The caller may run it, and then has to `record` or `release` it."""

    key: str
    token: str
    """Distinguishes this run from all others of the key, in every process."""
    noted: bytes = b""
    """What the run before had noted, if this one takes over."""


class Finished(NamedTuple):
    """It was run before with exactly these answers, and this is what it gave."""

    result: bytes


@dataclass(frozen=True, slots=True)
class Rejected:
    """Claimed with another digest, or an older turn, or spent so long ago that its result is gone."""


@dataclass(frozen=True, slots=True)
class RunnerDied:
    """Its runner died without a word, and it may not be tried again."""


@dataclass(frozen=True, slots=True)
class EpochChanged:
    """It began in an earlier epoch: the store has lost its memory since, and cannot tell whether it was run."""


Verdict = Granted | Finished | Rejected | RunnerDied | EpochChanged


class Cap(NamedTuple):
    """The most rows of one kind that are kept, for one holder and in all. Beyond that the oldest are dropped."""

    kind: str
    holder: str
    max_of_holder: int
    max_in_all: int
    weight: int = 1
    """What this row counts for, in the unit of the two limits: 1 where rows are counted, its length where bytes are."""


Reach = Literal["process", "machine", "network"]
"""Who shares what is kept: this process alone, all of one machine, or all that can connect."""


class Store(Protocol):
    """Times (`until`) are seconds since 1970: until then a row is kept, afterwards it is as if it never was."""

    @property
    def reach(self) -> Reach: ...

    async def epoch(self) -> str:
        """The name of what the store remembers, as it was at its last answer.

        A store that lost its memory, or some of it, has another epoch from then on. Empty for a store that cannot tell.
        """
        ...

    async def claim(
        self,
        key: str,
        *,
        turn: int = 0,
        digest: str = "",
        until: float,
        takeover: bool = True,
        epoch: str = "",
    ) -> Verdict:
        """Who may run this turn of `key`. Among any number of claims with one digest, one at a time is `Granted`.

        | what is kept under the key | verdict |
        |---|---|
        | nothing, or an earlier turn | `Granted` |
        | this turn with this digest, recorded | `Finished` |
        | this turn with this digest, being run | waits: `Finished` when recorded, `Granted` for one when released |
        | the same, and its runner died | `Granted`, or `RunnerDied` without `takeover` |
        | this turn with another digest, or a later turn | `Rejected`, at once |
        | whatever it is, if the store has another `epoch` than the one that is given | `EpochChanged`, at once |

        Turns count up from 0. A later turn takes a key over from an earlier one even while that is being run: its
        runner can no longer record, and its waiters get `Rejected`. A waiter may be cancelled at any time,
        also when it has just been given the claim: the next one gets it then. What is being run is not forgotten
        before its runner is done or dead, whatever `until` says.
        """
        ...

    async def record(self, claim: Granted, result: bytes) -> bool:
        """Keep what the run gave and wake all who wait for it; False, with nothing changed, if the claim was lost.

        If it cannot be kept, the claim is given up as if its runner had died, so that nobody waits for ever.
        """
        ...

    async def note(self, claim: Granted, noted: bytes) -> bool:
        """Keep how far the run has come, in place of what it noted before; False if the claim was lost.

        Whoever takes over gets it, and a turn with a note is never claimed with another digest, even when it was
        released: whoever ran it is then as good as dead.
        """
        ...

    async def release(self, claim: Granted) -> None:
        """Undo the claim, except for what was noted; one waiter takes over.

        What was recorded before stands. May repeat: a claim that was recorded, released or lost is left alone.
        """
        ...

    async def settle(self, key: str, value: bytes, *, until: float) -> bytes:
        """The first value stands; everybody gets that one, and all who wait for it are woken."""
        ...

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        """The settled value as soon as there is one; None if there is none after that time."""
        ...

    async def spend(self, key: str, *, until: float) -> bool:
        """True for the first, False for all others."""
        ...

    async def get(self, owner: str, name: str) -> bytes | None:
        """What was last put there."""
        ...

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        """Keep a value under its owner and name, in place of what was there; for good where no time is given."""
        ...

    async def put_capped(self, owner: str, name: str, value: bytes, *, until: float, cap: Cap) -> int:
        """Keep a value like `put`, and drop the oldest rows beyond the cap, of this holder first and then of all.

        Gives how many rows were dropped. The row that was put is not dropped, whatever it weighs. Put again, it keeps
        its place in the order and counts with its new weight. Rows that were deleted or have expired do not count.
        """
        ...

    async def delete(self, owner: str, name: str) -> bool:
        """Whether there was something to delete."""
        ...

    async def replace(
        self, owner: str, name: str, former: bytes, value: bytes | None, *, until: float | None = None
    ) -> bool:
        """Put a value in place of exactly `former`, or delete that where it is None; False, with nothing changed, if
        something else is there, or nothing."""
        ...

    async def rows(
        self, *, prefix: str, after: tuple[str, str] | None = None, limit: int = 100
    ) -> list[tuple[str, str]]:
        """Owner and name of what is kept for owners that begin with `prefix`, in order, behind `after`, so many."""
        ...

    async def append(self, *lines: bytes) -> int:
        """Write lines behind all others, one after the other, and give the number of the last.

        The first of all is 1, and there are no gaps: all of these are written, or none.
        """
        ...

    async def read(self, *, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        """The lines behind number `after` with their numbers, in order, at most so many."""
        ...

    async def trim(self, *, before: int) -> int:
        """Forget the lines below that number, and say how many that were. The last of all stays, so numbers go on."""
        ...

    async def sweep(self) -> int:
        """Forget what has expired, and say how many rows that were. Also happens by itself as calls come in."""
        ...

    async def count(self) -> int:
        """How many rows have not expired; lines of the ledger are not counted."""
        ...

    async def close(self) -> None:
        """Give back what is held open. May repeat; a later call opens it again."""
        ...
