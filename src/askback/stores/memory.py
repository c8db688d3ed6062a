"""A store in this process's memory: the default for conversations. It is gone with the process.

All of it happens on one event loop, so nothing is locked: between two awaits nothing else runs.
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

from askback.errors import OperatorError, StoreUnavailable
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
from askback.stores.kept import Evicted, Kept, KeptTurn, Settlement, Waiter, drop_expired

SWEEP_INTERVAL = 60.0
"""Seconds between two looks for expired rows, which are not seen any more meanwhile."""

MAX_EVICTED = 250_000
"""Claims whose results had to go, and that are refused until they expire: some 50 MB, or 70 claims per second."""

FULL = f"{MAX_EVICTED} results had to go, and have to be remembered until they expire"

LARGER = 'Give the server a store on disk: store="sqlite:///askback.db".'

TWO_LOOPS = (
    "This MemoryStore is in use on another event loop, where somebody is running or waiting, and could not be woken "
    'from here. Give each loop a store of its own, or give both store="sqlite:///askback.db".'
)


class MemoryStore:
    """Keeps at most `max_results` results and as many lines of the ledger. The oldest go first, and a run never does.

    A claim whose result had to go is refused until it expires. Where more of these come together than can be
    remembered, new keys get `StoreUnavailable` until some expire: nothing runs twice.
    """

    reach: Reach = "process"

    def __init__(self, *, max_results: int = 10_000, clock: Callable[[], float] = time.time) -> None:
        if max_results < 1:
            raise OperatorError(
                f"MemoryStore(max_results={max_results}) could keep nothing. Give it room for 1 result or more."
            )
        self._max_results = max_results
        self._clock = clock
        self._tokens = count(1)
        self._running: dict[str, KeptTurn] = {}
        # An earlier turn stays here while a later one is being run: a release leaves it as it was.
        self._resting: OrderedDict[str, KeptTurn] = OrderedDict()
        self._evicted: dict[str, Evicted] = {}
        self._settled: dict[str, Kept] = {}
        self._waiting: dict[str, Settlement] = {}
        self._used: dict[str, Kept] = {}
        self._vault: dict[tuple[str, str], Kept] = {}
        self._capped = CappedRows()
        self._ledger: deque[bytes] = deque(maxlen=max_results)
        self._lines = 0
        self._loop: object = None
        self._sweep_at = -inf

    async def epoch(self) -> str:
        """It cannot tell: a process that began anew knows of no other before it."""
        return ""

    # KeptTurn once.

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
        elif (evicted := self._evicted.get(key)) is not None and evicted.until > now:
            if evicted.turn >= turn:
                return Rejected()
        elif len(self._evicted) >= MAX_EVICTED:
            raise StoreUnavailable(store="memory", problem=FULL, advice=LARGER)
        return self._begin(key, turn, digest, until)

    async def record(self, claim: Granted, result: bytes) -> bool:
        self._require_loop()
        row = self._running.get(claim.key)
        if row is None or row.token != claim.token:
            return False
        row.result, row.noted = result, b""
        self._lay_down(claim.key, row)
        if row.waiters:
            row.wake_all(Finished(result))
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
        self._running[key] = KeptTurn(turn, digest, token, until)
        return Granted(key, token)

    def _judge(
        self, past: KeptTurn, key: str, turn: int, digest: str, until: float, takeover: bool
    ) -> Verdict:
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

    def _take_over(self, row: KeptTurn, key: str, until: float) -> Granted:
        row.is_dead, row.token, row.until = False, str(next(self._tokens)), until
        return Granted(key, row.token, row.noted)

    async def _meet(
        self, row: KeptTurn, key: str, turn: int, digest: str, until: float, takeover: bool
    ) -> Verdict:
        """Somebody is running this key."""
        if turn > row.turn:
            row.overtake()
            self._lay_down(key, row)
            row.wake_all(Rejected())
            return self._begin(key, turn, digest, until)
        if turn < row.turn or digest != row.digest:
            return Rejected()
        return await self._wait_for(row, Waiter(until, takeover))

    async def _wait_for(self, row: KeptTurn, waiter: Waiter) -> Verdict:
        row.waiters.append(waiter)
        try:
            await waiter.event.wait()
        except BaseException:
            if isinstance(waiter.verdict, Granted):
                self._hand_on(waiter.verdict)
            elif waiter.verdict is None:
                row.waiters.remove(waiter)
            raise
        assert waiter.verdict is not None
        return waiter.verdict

    def _hand_on(self, claim: Granted) -> None:
        row = self._running.get(claim.key)
        if row is None or row.token != claim.token:
            return
        while row.waiters:
            waiter = row.waiters.pop(0)
            if waiter.takeover or not row.noted:
                waiter.wake(self._take_over(row, claim.key, waiter.until))
                return
            waiter.wake(RunnerDied())
        if row.noted:
            row.is_dead = True
            self._lay_down(claim.key, row)
        else:
            del self._running[claim.key]

    def _lay_down(self, key: str, row: KeptTurn) -> None:
        """It is no longer being run."""
        del self._running[key]
        resting = self._resting
        resting.pop(key, None)
        resting[key] = row
        while len(resting) > self._max_results:
            oldest, evicted = resting.popitem(last=False)
            if evicted.until > self._clock():
                before = self._evicted.get(oldest, evicted)
                self._evicted[oldest] = Evicted(evicted.turn, max(evicted.until, before.until))

    # Settle, and spend.

    async def settle(self, key: str, value: bytes, *, until: float) -> bytes:
        now = self._enter()
        settled = self._settled.get(key)
        if settled is not None and settled.until > now:
            return settled.value
        self._settled[key] = Kept(value, until)
        settlement = self._waiting.get(key)
        if settlement is not None and settlement.value is None:
            settlement.value = value
            settlement.event.set()
        return value

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        now = self._enter()
        settled = self._settled.get(key)
        if settled is not None and settled.until > now:
            return settled.value
        settlement = self._waiting.get(key)
        if settlement is None or settlement.value is not None:
            settlement = self._waiting[key] = Settlement()
        settlement.waiting += 1
        try:
            with anyio.move_on_after(seconds):
                await settlement.event.wait()
        finally:
            settlement.waiting -= 1
            if not settlement.waiting and self._waiting.get(key) is settlement:
                del self._waiting[key]
        return settlement.value

    async def spend(self, key: str, *, until: float) -> bool:
        now = self._enter()
        used = self._used.get(key)
        if used is not None and used.until > now:
            return False
        self._used[key] = Kept(b"", until)
        return True

    # Vault and ledger.

    async def get(self, owner: str, name: str) -> bytes | None:
        now = self._enter()
        kept = self._vault.get((owner, name))
        return kept.value if kept is not None and kept.until > now else None

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        self._enter()
        self._vault[owner, name] = Kept(value, inf if until is None else until)

    async def put_capped(self, owner: str, name: str, value: bytes, *, until: float, cap: Cap) -> int:
        self._forget(self._clock())  # what has expired does not count
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
        if now >= self._sweep_at:
            self._forget(now)
        return now

    def _size(self) -> int:
        # A key may be in both: the turn that is being run, and the one before.
        claims = len(self._resting) + sum(key not in self._resting for key in self._running)
        return claims + len(self._settled) + len(self._used) + len(self._vault)

    def _forget(self, now: float) -> int:
        before = self._size()
        for table in (self._settled, self._used, self._vault, self._resting, self._evicted):
            drop_expired(table, now)
        self._capped.keep_only(self._vault)
        self._sweep_at = now + SWEEP_INTERVAL
        return before - self._size()

    # Loops.

    def _require_loop(self) -> None:
        try:
            here: object = asyncio.get_running_loop()
        except RuntimeError:
            here = anyio.lowlevel.current_token()
        if here is not self._loop:
            self._move_to(here)

    def _move_to(self, here: object) -> None:
        """From the loop before, if all that was running or waiting there is gone with it."""
        if (self._running or self._waiting) and here != self._loop:
            if not (isinstance(self._loop, asyncio.AbstractEventLoop) and self._loop.is_closed()):
                raise OperatorError(TWO_LOOPS)
            self._waiting.clear()
            for key, row in list(self._running.items()):
                row.is_dead = True
                row.waiters.clear()
                self._lay_down(key, row)
        self._loop = here
