"""The verbs of a store, each one script in Redis and one round trip.

What is asked a second time, since the connection broke before it was answered, is done once: every call has a token of
its own, by which its script knows it again.
"""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, NamedTuple

import anyio

from askback.model.ids import new_id
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
from askback.stores.leases import LEASE, require_lease
from askback.stores.redis.address import Address, Argument
from askback.stores.redis.ears import LOOK_EACH
from askback.stores.redis.keys import begins, life, pair, unpair, value_in
from askback.stores.redis.switchboard import Switchboard, Waits

EPOCH_LASTS = 1.0
"""Seconds after which the memory's name is asked for again: a conversation that begins with a stale one is refused."""

REMEMBERED = 30_000
"""Milliseconds that an answer is kept for whoever asks again, which is at once or never."""

MANY = 500
"""Keys that a sweep or a count looks at in one script, so that others are served in between."""

KINDS = ("claim", "settled", "spent")


class Asked(NamedTuple):
    """A claim as it was asked for."""

    key: str
    turn: int
    digest: str
    until: float
    takeover: bool
    epoch: str


class RedisStore:
    """Opened with the first call, by any number of processes, threads and asyncio's event loops.

    `url` may carry `?prefix=`. What is being run says every third of `lease` seconds that it still is. A process that
    was killed says so no more, and when the lease has passed another may take over.
    """

    reach: Reach = "network"

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "askback",
        clock: Callable[[], float] = time.time,
        lease: float = LEASE,
    ) -> None:
        self._address = Address.parse(url, prefix=prefix)
        self._clock = clock
        self._lease = require_lease(lease, of="RedisStore")
        self._switchboard = Switchboard(self._address, lease=self._lease)
        self._keys = self._switchboard.keys

    def __repr__(self) -> str:
        return f"<RedisStore {self._address.name} prefix={self._address.prefix!r}>"

    async def epoch(self) -> str:
        if not self._switchboard.memory.is_as_of(EPOCH_LASTS):
            self._switchboard.memory.heard(await self._switchboard.run("look", [self._keys.memory], new_id()))
        return self._switchboard.memory.id

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
        asked = Asked(key, turn, digest, until, takeover, epoch)
        found = await self._try(asked, None)
        if not isinstance(found, Waits):
            return found

        async def look() -> Verdict | Waits:
            nonlocal found
            assert isinstance(found, Waits)
            found = await self._try(asked, found)
            return found

        try:
            return await self._switchboard.wait_for(self._keys.claim(key), look)
        except BaseException:
            if isinstance(found, Granted):  # cancelled as it left off listening
                self._switchboard.keeper.let_go(found.token)
                self._switchboard.keeper.withdraw(found.token, self._keys.claim(key))
            raise

    async def record(self, claim: Granted, result: bytes) -> bool:
        self._switchboard.keeper.let_go(claim.token)  # first: if this fails, nobody is left who runs it
        row = [self._keys.claim(claim.key)]
        recorded = await self._switchboard.run(
            "record", row, claim.token, result, "", again=(claim.token, result, "1")
        )
        return recorded == 1

    async def note(self, claim: Granted, noted: bytes) -> bool:
        return await self._switchboard.run("note", [self._keys.claim(claim.key)], claim.token, noted) == 1

    async def release(self, claim: Granted) -> None:
        keeper, row = self._switchboard.keeper, self._keys.claim(claim.key)
        keeper.let_go(claim.token)
        try:
            await self._switchboard.run("release", [row, self._keys.withdrawn(claim.token)], claim.token, "")
        except BaseException:
            keeper.withdraw(claim.token, row)  # as soon as Redis is back
            raise

    async def _try(self, asked: Asked, before: Waits | None) -> Verdict | Waits:
        """Once. Where no answer comes, nobody will know whether it was granted: so it is taken back."""
        keeper, token = self._switchboard.keeper, new_id()
        row, now = self._keys.claim(asked.key), self._clock()
        epoch, runner = (asked.epoch, "") if before is None else (asked.epoch or before.epoch, before.runner)
        try:
            said: list[Any] = await self._switchboard.run(
                "claim",
                [row, self._keys.memory, self._keys.withdrawn(token)],
                repr(now),
                asked.turn,
                asked.digest,
                repr(asked.until),
                "1" if asked.takeover else "",
                token,
                epoch,
                int(1000 * self._lease),
                life(asked.until, now, at_least=3 * self._lease),
                "" if before is None else "1",
                runner if runner and keeper.holds(runner) else "",
            )
        except BaseException:
            keeper.withdraw(token, row)
            raise
        self._switchboard.memory.heard(said[1])
        if said[0] == b"mine":
            keeper.hold(token, row)
            return Granted(asked.key, token, said[2])
        return _verdict(said)

    # Settle, and spend.

    async def settle(self, key: str, value: bytes, *, until: float) -> bytes:
        now = self._clock()
        stands = await self._switchboard.run(
            "settle", [self._keys.settled(key)], repr(now), repr(until), value, life(until, now)
        )
        return value if stands is None else stands

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        topic = self._keys.settled(key)

        async def look() -> bytes | Waits:
            value = value_in(await self._switchboard.ask("GET", topic), self._clock())
            return Waits(LOOK_EACH) if value is None else value

        value = await look()
        if not isinstance(value, Waits):
            return value
        with anyio.move_on_after(seconds):
            return await self._switchboard.wait_for(topic, look)
        return None

    async def spend(self, key: str, *, until: float) -> bool:
        now = self._clock()
        spent = await self._switchboard.run(
            "spend",
            [self._keys.spent(key)],
            repr(now),
            repr(until),
            new_id(),
            life(until, now),
        )
        return spent == 1

    # Vault and ledger.

    async def get(self, owner: str, name: str) -> bytes | None:
        return value_in(
            await self._switchboard.ask("GET", self._keys.vault + pair(owner, name)), self._clock()
        )

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        now = self._clock()
        row = self._keys.vault, pair(owner, name), repr(now)
        await self._switchboard.run("put", self._shelf, *row, value, *_kept(until, now))

    async def put_capped(self, owner: str, name: str, value: bytes, *, until: float, cap: Cap) -> int:
        now = self._clock()
        row = self._keys.vault, pair(owner, name), repr(now), value, *_kept(until, now)
        limits = cap.weight, cap.max_of_holder, cap.max_in_all
        return int(
            await self._switchboard.run("put_capped", self._shelf, *row, cap.kind, cap.holder, *limits)
        )

    async def delete(self, owner: str, name: str) -> bool:
        return await self._change(owner, name, b"", "delete", b"", None)

    async def replace(
        self, owner: str, name: str, former: bytes, value: bytes | None, *, until: float | None = None
    ) -> bool:
        deed = "delete" if value is None else "put"
        return await self._change(owner, name, b"=" + former, deed, value or b"", until)

    async def rows(
        self, *, prefix: str, after: tuple[str, str] | None = None, limit: int = 100
    ) -> list[tuple[str, str]]:
        first, last = begins(prefix), begins(prefix) + b"\xff"
        start = b"[" + first
        if after is not None and (behind := pair(*after)) >= first:
            start = b"(" + behind
        found = await self._switchboard.run(
            "rows", self._shelf, repr(self._clock()), start, b"(" + last, limit
        )
        return [unpair(member) for member in found]

    async def append(self, *lines: bytes) -> int:
        keys = [self._keys.ledger, self._keys.answered(new_id())]
        return int(await self._switchboard.run("append", keys, REMEMBERED, *lines))

    async def read(self, *, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        found = await self._switchboard.ask(
            "XRANGE", self._keys.ledger, f"({max(after, 0)}-0", "+", "COUNT", limit
        )
        return [(int(number.partition(b"-")[0]), line) for number, (_name, line) in found]

    async def trim(self, *, before: int) -> int:
        return int(await self._switchboard.run("trim", [self._keys.ledger], before))

    @property
    def _shelf(self) -> Sequence[bytes]:
        return [self._keys.rows, self._keys.due]

    async def _change(
        self, owner: str, name: str, former: bytes, deed: str, value: bytes, until: float | None
    ) -> bool:
        now = self._clock()
        keys = [*self._shelf, self._keys.answered(new_id())]
        row = self._keys.vault, pair(owner, name), repr(now), REMEMBERED
        return (
            await self._switchboard.run("replace", keys, *row, former, deed, value, *_kept(until, now)) == 1
        )

    # Time.

    async def sweep(self) -> int:
        """Redis forgets by itself as well, a little later than our clock says."""
        total = 0
        for kind in KINDS:
            async for part in self._scan(kind):
                over, _gone = await self._tally(kind, part, forgets=True)
                total += over
        while gone := await self._switchboard.run(
            "tidy", self._shelf, self._keys.vault, repr(self._clock()), MANY
        ):
            total += gone
        return total

    async def count(self) -> int:
        """Looks at each key, so it takes its time where there are many."""
        total = 0
        for kind in KINDS:
            seen: set[bytes] = set()
            async for part in self._scan(kind):
                fresh = [key for key in dict.fromkeys(part) if key not in seen]
                seen.update(fresh)
                over, gone = await self._tally(kind, fresh, forgets=False)
                total += len(fresh) - over - gone
        shelved = await self._switchboard.ask("ZCARD", self._keys.rows)
        return (
            total
            + shelved
            - await self._switchboard.ask("ZCOUNT", self._keys.due, "-inf", repr(self._clock()))
        )

    async def _tally(self, kind: str, keys: Sequence[bytes], *, forgets: bool) -> tuple[int, int]:
        claims = len(keys) if kind == "claim" else 0
        over, gone = await self._switchboard.run(
            "tally", keys, repr(self._clock()), claims, "1" if forgets else ""
        )
        return over, gone

    async def _scan(self, kind: str) -> AsyncIterator[list[bytes]]:
        cursor = b"0"
        while True:
            cursor, part = await self._switchboard.ask(
                "SCAN", cursor, "MATCH", self._keys.pattern(kind), "COUNT", MANY
            )
            if part:
                yield part
            if cursor == b"0":
                return

    async def close(self) -> None:
        """Those who still wait get an error; what is being run here is taken over when its lease has passed."""
        await self._switchboard.close()


def _verdict(said: Sequence[Any]) -> Verdict | Waits:
    match said:
        case [b"done", _, bytes() as result]:
            return Finished(result)
        case [b"waits", bytes() as epoch, int() as left, bytes() as runner]:
            return Waits(max(left / 1000, 0.05), epoch.decode(), runner.decode())
        case [b"lost", *_]:
            return RunnerDied()
        case [b"forgotten", *_]:
            return EpochChanged()
        case _:
            return Rejected()


def _kept(until: float | None, now: float) -> tuple[str, Argument]:
    """For good where no time is given."""
    return ("", "") if until is None else (repr(until), life(until, now))
