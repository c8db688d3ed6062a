"""The verbs of a store, each one script in Redis and one round trip.

A command that is sent again, because the connection broke before its answer came, takes effect once: each call has a
token of its own, by which its script recognizes it.
"""

import time
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

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
from askback.stores.redis.connections import RedisConnections
from askback.stores.redis.keys import decode_pair, encode_owner, encode_pair, read_value, time_to_live
from askback.stores.redis.subscriber import LOOK_INTERVAL, Waits

EPOCH_LIFE = 1.0
"""Seconds after which the epoch is asked for again: a conversation that begins with a stale one is refused."""

ANSWER_LIFE = 30_000
"""Milliseconds that an answer is kept for a command that is sent again, which happens at once or never."""

BATCH_SIZE = 500
"""Keys that a sweep or a count looks at in one script, so that others are served in between."""

KINDS = ("claim", "settled", "spent")


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
        self._connections = RedisConnections(self._address, lease=self._lease)
        self._keys = self._connections.keys
        self._run, self._do = self._connections.run, self._connections.do
        weakref.finalize(self, self._connections.close_soon)

    def __repr__(self) -> str:
        return f"<RedisStore {self._address.name} prefix={self._address.prefix!r}>"

    async def epoch(self) -> str:
        epoch = self._connections.epoch
        if not epoch.is_as_of(EPOCH_LIFE):
            epoch.hear(await self._run("look", [self._keys.epoch], new_id()))
        return epoch.name

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
        row = self._keys.claim(key)
        attempt = partial(self._try_claim, key, row, turn, digest, until, takeover, epoch)
        found = await attempt(None)
        if not isinstance(found, Waits):
            return found

        async def look() -> Verdict | Waits:
            nonlocal found
            assert isinstance(found, Waits)
            found = await attempt(found)
            return found

        try:
            return await self._connections.wait_for(row, look)
        except BaseException:
            if isinstance(found, Granted):  # cancelled as it left the subscriber
                self._connections.leases.abandon(found.token, row)
            raise

    async def _try_claim(
        self,
        key: str,
        row: bytes,
        turn: int,
        digest: str,
        until: float,
        takeover: bool,
        epoch: str,
        before: Waits | None,
    ) -> Verdict | Waits:
        """Once. Without an answer it is unknown whether the claim was granted: so it is abandoned."""
        leases, token, now = self._connections.leases, new_id(), self._clock()
        runner = ""
        if before is not None:
            epoch, runner = epoch or before.epoch, before.runner
        try:
            said: list[Any] = await self._run(
                "claim",
                [row, self._keys.epoch, self._keys.withdrawn(token)],
                repr(now),
                turn,
                digest,
                repr(until),
                "1" if takeover else "",
                token,
                epoch,
                int(1000 * self._lease),
                time_to_live(until, now, at_least=3 * self._lease),
                "" if before is None else "1",
                runner if leases.holds(runner) else "",
            )
        except BaseException:
            leases.abandon(token, row)
            raise
        self._connections.epoch.hear(said[1])
        if said[0] == b"granted":
            leases.hold(token, row)
            return Granted(key, token, said[2])
        return _verdict(said)

    async def record(self, claim: Granted, result: bytes) -> bool:
        self._connections.leases.drop(claim.token)  # first: if this fails, nothing runs it any more
        return await self._run("record", [self._keys.claim(claim.key)], claim.token, result) == 1

    async def note(self, claim: Granted, noted: bytes) -> bool:
        return await self._run("note", [self._keys.claim(claim.key)], claim.token, noted) == 1

    async def release(self, claim: Granted) -> None:
        leases, row = self._connections.leases, self._keys.claim(claim.key)
        leases.drop(claim.token)
        try:
            await self._run("release", [row, self._keys.withdrawn(claim.token)], claim.token, "")
        except BaseException:
            leases.abandon(claim.token, row)  # as soon as Redis is back
            raise

    # Settle, and spend.

    async def settle(self, key: str, value: bytes, *, until: float) -> bytes:
        now = self._clock()
        stands = await self._run(
            "settle", [self._keys.settled(key)], repr(now), repr(until), value, time_to_live(until, now)
        )
        return value if stands is None else stands

    async def wait(self, key: str, *, seconds: float | None = None) -> bytes | None:
        topic = self._keys.settled(key)

        async def look() -> bytes | Waits:
            value = read_value(await self._do(lambda redis: redis.get(topic)), self._clock())
            return Waits(LOOK_INTERVAL) if value is None else value

        value = await look()
        if not isinstance(value, Waits):
            return value
        with anyio.move_on_after(seconds):
            return await self._connections.wait_for(topic, look)
        return None

    async def spend(self, key: str, *, until: float) -> bool:
        now = self._clock()
        spent = await self._run(
            "spend",
            [self._keys.spent(key)],
            repr(now),
            repr(until),
            new_id(),
            time_to_live(until, now),
        )
        return spent == 1

    # Vault and ledger.

    async def get(self, owner: str, name: str) -> bytes | None:
        row = self._keys.vault + encode_pair(owner, name)
        return read_value(await self._do(lambda redis: redis.get(row)), self._clock())

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        now = self._clock()
        row = self._keys.vault, encode_pair(owner, name), repr(now)
        await self._run("put", self._shelf, *row, value, *_kept(until, now))

    async def put_capped(self, owner: str, name: str, value: bytes, *, until: float, cap: Cap) -> int:
        now = self._clock()
        row = self._keys.vault, encode_pair(owner, name), repr(now), value, *_kept(until, now)
        limits = cap.weight, cap.max_of_holder, cap.max_in_all
        return int(await self._run("put_capped", self._shelf, *row, cap.kind, cap.holder, *limits))

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
        first, last = encode_owner(prefix), encode_owner(prefix) + b"\xff"
        start = b"[" + first
        if after is not None and (behind := encode_pair(*after)) >= first:
            start = b"(" + behind
        found = await self._run("rows", self._shelf, repr(self._clock()), start, b"(" + last, limit)
        return [decode_pair(member) for member in found]

    async def append(self, *lines: bytes) -> int:
        keys = [self._keys.ledger, self._keys.answered(new_id())]
        return int(await self._run("append", keys, ANSWER_LIFE, *lines))

    async def read(self, *, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        start = f"({max(after, 0)}-0"
        found = await self._do(lambda redis: redis.xrange(self._keys.ledger, start, "+", limit))
        return [(int(number.partition(b"-")[0]), fields[b"line"]) for number, fields in found]

    async def trim(self, *, before: int) -> int:
        return int(await self._run("trim", [self._keys.ledger], before))

    @property
    def _shelf(self) -> Sequence[bytes]:
        return [self._keys.rows, self._keys.due]

    async def _change(
        self, owner: str, name: str, former: bytes, deed: str, value: bytes, until: float | None
    ) -> bool:
        now = self._clock()
        keys = [*self._shelf, self._keys.answered(new_id())]
        row = self._keys.vault, encode_pair(owner, name), repr(now), ANSWER_LIFE
        return await self._run("replace", keys, *row, former, deed, value, *_kept(until, now)) == 1

    # Time.

    async def sweep(self) -> int:
        """Redis forgets by itself as well, a little later than our clock says."""
        total, _left = await self._tally(forgets=True)
        while gone := await self._run("tidy", self._shelf, self._keys.vault, repr(self._clock()), BATCH_SIZE):
            total += gone
        return total

    async def count(self) -> int:
        """Looks at each key, so it takes its time where there are many."""
        _over, left = await self._tally(forgets=False)
        now = repr(self._clock())
        shelved = await self._do(lambda redis: redis.zcard(self._keys.rows))
        return left + shelved - await self._do(lambda redis: redis.zcount(self._keys.due, "-inf", now))

    async def _tally(self, *, forgets: bool) -> tuple[int, int]:
        """How many claims, settled and spent keys are over, and how many are not."""
        total_over = left = 0
        for kind in KINDS:
            seen: set[bytes] = set()
            scan: Any = {"cursor": 0, "match": self._keys.pattern(kind), "count": BATCH_SIZE}
            while True:
                scan["cursor"], part = await self._do(lambda redis, scan=scan: redis.scan(**scan))
                fresh = [key for key in dict.fromkeys(part) if key not in seen]
                seen.update(fresh)
                claims = len(fresh) if kind == "claim" else 0
                over, gone = await self._run(
                    "tally", fresh, repr(self._clock()), claims, "1" if forgets else ""
                )
                total_over += over
                left += len(fresh) - over - gone
                if not scan["cursor"]:
                    break
        return total_over, left

    async def close(self) -> None:
        """Calls that still wait get an error; what is being run here is taken over when its lease has passed."""
        await self._connections.close()


def _verdict(said: Sequence[Any]) -> Verdict | Waits:
    match said:
        case [b"finished", _, bytes() as result]:
            return Finished(result)
        case [b"waits", bytes() as epoch, int() as left, bytes() as runner]:
            return Waits(max(left / 1000, 0.05), epoch.decode(), runner.decode())
        case [b"died", *_]:
            return RunnerDied()
        case [b"changed", *_]:
            return EpochChanged()
        case _:
            return Rejected()


def _kept(until: float | None, now: float) -> tuple[str, Argument]:
    """For good where no time is given."""
    return ("", "") if until is None else (repr(until), time_to_live(until, now))
