"""Claims as rows: who runs a key, what was recorded, and which runs of this process have to renew their lease."""

import time
from enum import Enum
from typing import Any, NamedTuple

from askback.model.store import EpochChanged, Finished, Granted, Rejected, RunnerDied, Verdict
from askback.stores.requests import ClaimRequest
from askback.stores.sqlite.file import File

SEEN_WITHIN = 60.0
"""Seconds in which waiters can read a result that was recorded after the end of its time."""


class Pending(Enum):
    """What a job gives that has to wait."""

    PENDING = "there is no answer yet"


class ClaimRow(NamedTuple):
    """A row of the table: what was recorded last (turn -1: nothing yet) and what is being run (token None: nothing)."""

    until: float
    turn: int
    digest: str
    result: bytes | None
    run_turn: int | None
    run_digest: str | None
    token: str | None
    alive_until: float | None
    noted: bytes


LOOK = """
SELECT until, turn, digest, result, run_turn, run_digest, token, alive_until, noted FROM claims WHERE key = ?
"""
TAKE = """
INSERT OR REPLACE INTO claims VALUES
    (:key, :until, :until, :turn, :digest, :result, :run_turn, :run_digest, :token, :alive_until, :noted)
"""
NOTE = "UPDATE claims SET noted = ? WHERE key = ? AND token = ?"
NOT_RUNNING = "run_turn = NULL, run_digest = NULL, token = NULL, alive_until = NULL, noted = x''"
RECORD = f"""
UPDATE claims SET turn = run_turn, digest = run_digest, result = :result,
    look_at = CASE WHEN until > :now THEN look_at ELSE :now + {SEEN_WITHIN} END, {NOT_RUNNING}
WHERE key = :key AND token = :token
"""
RELEASE = (
    "DELETE FROM claims WHERE key = ? AND token = ? AND noted = x'' AND turn = -1",
    f"UPDATE claims SET {NOT_RUNNING} WHERE key = ? AND token = ? AND noted = x''",
    "UPDATE claims SET token = '', alive_until = 0 WHERE key = ? AND token = ?",
)
"""The first that fits: nothing was recorded before; something was; there is a note, so its runner counts as dead."""

RENEW = "UPDATE claims SET alive_until = ? WHERE key = ? AND token = ?"


class Claims:
    """The claims of one file. Leases go by the wall clock of the machine, which all processes share."""

    def __init__(self, file: File, *, lease: float) -> None:
        self.file = file
        self.held: dict[str, str] = {}
        """Key by token of what is being run through this store."""
        self._lease = lease

    def claim(self, asked: ClaimRequest) -> Verdict | Pending:
        """Looks before it writes, so that waiting takes no lock."""
        verdict = self._judge(self._look(asked), asked)
        if verdict is not None:
            return verdict
        with self.file.transaction():
            row = self._look(asked)
            verdict = self._judge(row, asked)
            if verdict is not None:
                return verdict
            noted = self._take(row, asked)
        self.held[asked.token] = asked.key
        return Granted(asked.key, asked.token, noted)

    def record(self, claim: Granted, result: bytes, now: float) -> bool:
        self.held.pop(claim.token, None)  # first: if this fails, the claim counts as given up
        values = {"result": result, "now": now, "key": claim.key, "token": claim.token}
        return self.file.execute(RECORD, values).rowcount == 1

    def release(self, key: str, token: str) -> None:
        self.held.pop(token, None)
        any(self.file.execute(statement, (key, token)).rowcount for statement in RELEASE)

    def withdraw(self, asked: ClaimRequest) -> None:
        """Release it, if it was granted."""
        if asked.token in self.held:
            self.release(asked.key, asked.token)

    def renew(self) -> None:
        """Renew the lease of all that is held. What was lost meanwhile is held no longer."""
        alive_until = time.time() + self._lease
        with self.file.transaction():
            for token, key in list(self.held.items()):
                if not self.file.execute(RENEW, (alive_until, key, token)).rowcount:
                    del self.held[token]

    def _look(self, asked: ClaimRequest) -> ClaimRow | None:
        found = self.file.execute(LOOK, (asked.key,)).fetchone()
        return None if found is None else ClaimRow._make(found)

    def _judge(self, row: ClaimRow | None, asked: ClaimRequest) -> Verdict | Pending | None:
        """None if the claim may be taken."""
        if asked.epoch and asked.epoch != self.file.epoch:
            return EpochChanged()
        if row is None or self._is_over(row, asked):
            return None
        latest = row.turn if row.run_turn is None else row.run_turn
        if asked.turn != latest:
            return None if asked.turn > latest else Rejected()
        if asked.digest != (row.digest if row.run_digest is None else row.run_digest):
            return Rejected()
        if row.token is None:
            return Rejected() if row.result is None else Finished(row.result)
        if self._is_dead(row):
            return None if asked.takeover else RunnerDied()
        return Pending.PENDING

    def _is_dead(self, row: ClaimRow) -> bool:
        """What is held here is alive, even if this machine slept through its lease."""
        return row.token not in self.held and (row.alive_until or 0.0) <= time.time()

    def _is_over(self, row: ClaimRow, asked: ClaimRequest) -> bool:
        return row.until <= asked.at and (row.token is None or self._is_dead(row))

    def _take(self, row: ClaimRow | None, asked: ClaimRequest) -> bytes:
        """Write the new run into the row; gives what the run before it had noted."""
        kept: dict[str, Any] = {"turn": -1, "digest": "", "result": None, "noted": b""}
        if row is not None and not self._is_over(row, asked):
            if row.run_turn is not None and row.run_turn < asked.turn:
                # Overtaken while it was being run: it is spent, and will have no result.
                kept |= {"turn": row.run_turn, "digest": row.run_digest or ""}
            else:
                kept = {"turn": row.turn, "digest": row.digest, "result": row.result, "noted": row.noted}
        run = {"run_turn": asked.turn, "run_digest": asked.digest, "token": asked.token}
        times = {
            "until": asked.until if row is None else max(asked.until, row.until),
            "alive_until": time.time() + self._lease,
        }
        self.file.execute(TAKE, {"key": asked.key, **kept, **run, **times})
        return kept["noted"]
