"""A store in this process's memory: the default for conversations. It is gone with the process.

All of it happens on one event loop, so nothing is locked: between two awaits nobody else is at it.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from heapq import nsmallest
from itertools import count, islice
from math import inf

import anyio
import anyio.lowlevel

from askback.errors import OperatorError
from askback.model.store import (
    Cap,
    EpochChanged,
    Finished,
    Granted,
    Reach,
    Rejected,
    RunnerDied,
    Verdict,
)
from askback.stores.caps import CappedRows
from askback.stores.kept import Bell, Kept, Row, Waiter, drop_expired, wake_all
from askback.stores.spent import Spent

REST = 0.001
"""Seconds per row between two looks at all rows: so looking takes a fixed, tiny share of the time."""

SHARE = 200
"""One in so many results goes at a time, in a store that keeps so many: one by one they would take twice as long."""

TWO_LOOPS = (
    "This MemoryStore is in use on another event loop, where somebody is running or waiting, and could not be woken "
    'from here. Give each loop a store of its own, or give both store="sqlite:///askback.db".'
)


class MemoryStore:
    """Keeps at most `most` results and as many lines of the ledger; the oldest go first, what is being run never.

    A claim whose result had to go is refused until it expires: see `askback.stores.spent`.
    """

    reach: Reach = "process"

    def __init__(self, *, max_results: int = 10_000, clock: Callable[[], float] = time.time) -> None:
        if max_results < 1:
            raise OperatorError(
                f"MemoryStore(most={max_results}) could keep nothing. Give it room for 1 result or more."
            )
        self._most = max_results
        self._clock = clock
        self._tokens = count(1)
        self._running: dict[str, Row] = {}
        # An earlier turn stays here while a later one is being run: a release leaves it as it was.
        self._resting: OrderedDict[str, Row] = OrderedDict()
        self._evicted = Spent()
        self._settled: dict[str, Kept] = {}
        self._bells: dict[str, Bell] = {}
        self._used: dict[str, Kept] = {}
        self._vault: dict[tuple[str, str], Kept] = {}
        self._capped = CappedRows()
        self._ledger: deque[bytes] = deque(maxlen=max_results)
        self._lines = 0
        self._loop: object = None
        self._due = inf
        self._rested = 0.0

    async def epoch(self) -> str:
        """It cannot tell: a process that began anew knows of no other before it."""
        return ""

    # Run once.

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
        now = self._enter()
        if epoch:  # of another store: this one gives none
            return EpochChanged()
        row = self._running.get(key)
        if row is not None:
            return await self._meet(row, key, turn, digest, until, takeover)
        past = self._resting.get(key)
        if past is not None and past.until > now:
            if past.turn >= turn:
                return self._judge(past, key, turn, digest, until, takeover)
            past.overtake()
        elif self._evicted.holds(key, turn):
            return Rejected()
        return self._begin(key, turn, digest, until)

    async def record(self, claim: Granted, result: bytes) -> bool:
        self._require_loop()
        row = self._running.get(claim.key)
        if row is None or row.token != claim.token:
            return False
        row.result, row.noted = result, b""
        self._lay_down(claim.key, row)
        if row.waiters is not None:
            wake_all(row, Finished(result))
        return True

    async def note(self, claim: Granted, noted: bytes) -> bool:
        self._require_loop()
        row = self._running.get(claim.key)
        if row is None or row.token != claim.token:
            return False
        row.noted = noted
        return True

    async def release(self, claim: Granted) -> None:
        self._require_loop()
        self._hand_on(claim)

    def _begin(self, key: str, turn: int, digest: str, until: float) -> Granted:
        token = str(next(self._tokens))
        self._running[key] = Row(turn, digest, token, until)
        return Granted(key, token)

    def _judge(self, past: Row, key: str, turn: int, digest: str, until: float, takeover: bool) -> Verdict:
        """What a row at rest says to its own turn, or an earlier one."""
        if past.turn != turn or past.digest != digest:
            return Rejected()
        if past.result is not None:
            return Finished(past.result)
        if not past.is_dead:
            return Rejected()
        if not takeover:
            return RunnerDied()
        self._running[key] = self._resting.pop(key)
        return self._take_over(past, key, until)

    def _take_over(self, row: Row, key: str, until: float) -> Granted:
        row.is_dead, row.token, row.until = False, str(next(self._tokens)), until
        return Granted(key, row.token, row.noted)

    async def _meet(
        self, row: Row, key: str, turn: int, digest: str, until: float, takeover: bool
    ) -> Verdict:
        """Somebody is running this key."""
        if turn > row.turn:
            row.overtake()
            self._lay_down(key, row)
            wake_all(row, Rejected())
            return self._begin(key, turn, digest, until)
        if turn < row.turn or digest != row.digest:
            return Rejected()
        return await self._wait_for(row, Waiter(until, takeover))

    async def _wait_for(self, row: Row, waiter: Waiter) -> Verdict:
        waiters = row.waiters = row.waiters or deque()
        waiters.append(waiter)
        try:
            await waiter.event.wait()
        except BaseException:
            if isinstance(waiter.verdict, Granted):
                self._hand_on(waiter.verdict)
            elif waiter.verdict is None:
                waiters.remove(waiter)
            raise
        assert waiter.verdict is not None
        return waiter.verdict

    def _hand_on(self, claim: Granted) -> None:
        row = self._running.get(claim.key)
        if row is None or row.token != claim.token:
            return
        while row.waiters:
            waiter = row.waiters.popleft()
            if waiter.takeover or not row.noted:
                waiter.wake(self._take_over(row, claim.key, waiter.until))
                return
            waiter.wake(RunnerDied())
        if row.noted:
            row.is_dead = True
            self._lay_down(claim.key, row)
        else:
            del self._running[claim.key]

    def _lay_down(self, key: str, row: Row) -> None:
        """It is no longer being run."""
        del self._running[key]
        resting = self._resting
        resting.pop(key, None)
        resting[key] = row
        self._expect(row.until)
        if len(resting) >= self._most:
            self._make_room()

    def _make_room(self) -> None:
        now = self._clock()
        if len(self._resting) > self._most:
            for _ in range(max(1, self._most // SHARE)):
                key, row = self._resting.popitem(last=False)
                if row.until > now:
                    self._evicted.add(key, row.turn, until=row.until, now=now)
        elif (until := next(reversed(self._resting.values())).until) > now:
            # Full, and not yet over: take the memory now, so that a full store does not grow.
            self._evicted.make_room(until=until, now=now)

    # Settle, and spend.

    async def settle(self, key: str, value: bytes, *, until: float) -> bytes:
        now = self._enter()
        settled = self._settled.get(key)
        if settled is not None and settled.until > now:
            return settled.value
        self._settled[key] = Kept(value, until)
        self._expect(until)
        bell = self._bells.get(key)
        if bell is not None and bell.value is None:
            bell.value = value
            bell.event.set()
        return value

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        now = self._enter()
        settled = self._settled.get(key)
        if settled is not None and settled.until > now:
            return settled.value
        bell = self._bells.get(key)
        if bell is None or bell.value is not None:
            bell = self._bells[key] = Bell()
        bell.waiting += 1
        try:
            with anyio.move_on_after(seconds):
                await bell.event.wait()
        finally:
            bell.waiting -= 1
            if not bell.waiting and self._bells.get(key) is bell:
                del self._bells[key]
        return bell.value

    async def spend(self, key: str, *, until: float) -> bool:
        now = self._enter()
        used = self._used.get(key)
        if used is not None and used.until > now:
            return False
        self._used[key] = Kept(b"", until)
        self._expect(until)
        return True

    # Vault and ledger.

    async def get(self, owner: str, name: str) -> bytes | None:
        now = self._enter()
        kept = self._vault.get((owner, name))
        return kept.value if kept is not None and kept.until > now else None

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        self._enter()
        kept = Kept(value, inf if until is None else until)
        self._vault[owner, name] = kept
        self._expect(kept.until)

    async def put_capped(self, owner: str, name: str, value: bytes, *, until: float, cap: Cap) -> int:
        await self.put(owner, name, value, until=until)
        dropped = self._capped.add((owner, name), cap)
        for pair in dropped:
            self._vault.pop(pair, None)
        return len(dropped)

    async def delete(self, owner: str, name: str) -> bool:
        now = self._enter()
        kept = self._vault.pop((owner, name), None)
        self._capped.remove((owner, name))
        return kept is not None and kept.until > now

    async def replace(
        self, owner: str, name: str, former: bytes, value: bytes | None, *, until: float | None = None
    ) -> bool:
        if await self.get(owner, name) != former:
            return False
        if value is None:
            return await self.delete(owner, name)
        await self.put(owner, name, value, until=until)
        return True

    async def rows(
        self, *, prefix: str, after: tuple[str, str] | None = None, limit: int = 100
    ) -> list[tuple[str, str]]:
        now = self._enter()
        kept = (pair for pair, row in self._vault.items() if pair[0].startswith(prefix) and row.until > now)
        return nsmallest(limit, (pair for pair in kept if after is None or pair > after))

    async def append(self, *lines: bytes) -> int:
        self._enter()
        self._ledger.extend(lines)
        self._lines += len(lines)
        return self._lines

    async def read(self, *, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        self._enter()
        gone = self._lines - len(self._ledger)
        start = max(after - gone, 0)
        return list(enumerate(islice(self._ledger, start, start + limit), gone + start + 1))

    async def trim(self, *, before: int) -> int:
        self._enter()
        gone = self._lines - len(self._ledger)
        count = max(0, min(before - 1, self._lines - 1) - gone)
        for _ in range(count):
            self._ledger.popleft()
        return count

    # Time.

    async def sweep(self) -> int:
        return self._forget(self._clock())

    async def count(self) -> int:
        self._forget(self._clock())
        return self._size()

    async def close(self) -> None:
        """Nothing is held open; what is kept is kept."""

    def _enter(self) -> float:
        self._require_loop()
        now = self._clock()
        if now >= self._due:
            self._forget(now)
        return now

    def _expect(self, until: float) -> None:
        if until < self._due:
            self._due = max(until, self._rested)

    def _size(self) -> int:
        # A key may be in both: the turn that is being run, and the one before.
        claims = len(self._resting) + sum(key not in self._resting for key in self._running)
        return claims + len(self._settled) + len(self._used) + len(self._vault)

    def _forget(self, now: float) -> int:
        before = self._size()
        kept = (
            drop_expired(self._settled, now),
            drop_expired(self._used, now),
            drop_expired(self._vault, now),
        )
        self._capped.keep_only(self._vault)
        earliest = min(drop_expired(self._resting, now), self._evicted.forget(now), *kept)
        after = self._size()
        self._rested = now + after * REST
        self._due = max(earliest, self._rested)
        return before - after

    # Loops.

    def _require_loop(self) -> None:
        try:
            here: object = asyncio.get_running_loop()
        except RuntimeError:
            here = anyio.lowlevel.current_token()
        if here is not self._loop:
            self._move_to(here)

    def _move_to(self, here: object) -> None:
        """From the loop before; whoever was running or waiting there must be gone with it."""
        if (self._running or self._bells) and here != self._loop:
            if not (isinstance(self._loop, asyncio.AbstractEventLoop) and self._loop.is_closed()):
                raise OperatorError(TWO_LOOPS)
            self._bells.clear()
            for key, row in list(self._running.items()):
                row.is_dead, row.waiters = True, None
                self._lay_down(key, row)
        self._loop = here
