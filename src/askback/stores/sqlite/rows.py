"""The verbs of a store as SQL. Knows no thread and no loop: each call does its work at once, in one transaction."""

import sqlite3
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any, Literal, NamedTuple

from askback.model.store import Cap, EpochChanged, Finished, Granted, Rejected, RunnerDied, Verdict
from askback.stores.sqlite import vault
from askback.stores.sqlite.file import File

FEW = 64
"""Expired rows forgotten by the way, per table and call: under a millisecond."""

MANY = 1_000
"""Expired rows forgotten in one transaction of a sweep, so that others can write in between."""

TO_BE_SEEN = 60.0
"""Seconds that those have who wait, where what they wait for was over before it was done."""

REST = 1.0
"""Seconds between two looks for expired rows, when the last one found few."""


class Signal(Enum):
    """Not a verdict yet."""

    WAITS = "somebody alive is at it"
    TAKES = "nobody is, so take it"


Waits = Literal[Signal.WAITS]
WAITS: Waits = Signal.WAITS


class Asked(NamedTuple):
    """A claim as it was asked for, with the token it would get."""

    key: str
    turn: int
    digest: str
    until: float
    takeover: bool
    token: str
    epoch: str
    at: float
    """By the clock. What a waiter has waited for is not over before he has seen it, so for him time stands still."""


class Row(NamedTuple):
    """A row of claims: what was recorded last (turn -1: nothing yet), and what is being run (token None: nothing)."""

    until: float
    turn: int
    digest: str
    result: bytes | None
    run_turn: int | None
    run_digest: str | None
    token: str | None
    alive_until: float | None
    noted: bytes


BEGIN = """
INSERT INTO claims (key, look_at, until, turn, digest, run_turn, run_digest, token, alive_until, noted)
VALUES (:key, :until, :until, -1, '', :run_turn, :run_digest, :token, :alive_until, x'')
ON CONFLICT (key) DO UPDATE SET
    until = max(until, excluded.until), run_turn = excluded.run_turn, run_digest = excluded.run_digest,
    token = excluded.token, alive_until = excluded.alive_until
WHERE token IS NULL AND turn < excluded.run_turn
"""
GO_ON = """
UPDATE claims SET until = max(until, :until), run_turn = :run_turn, run_digest = :run_digest, token = :token,
    alive_until = :alive_until
WHERE key = :key AND token IS NULL AND turn < :run_turn
"""
"""The same for a key that is known: a third cheaper where it fits."""

LOOK = """
SELECT until, turn, digest, result, run_turn, run_digest, token, alive_until, noted FROM claims WHERE key = ?
"""
TAKE = """
INSERT OR REPLACE INTO claims VALUES
    (:key, :until, :until, :turn, :digest, :result, :run_turn, :run_digest, :token, :alive_until, :noted)
"""
NOTE = "UPDATE claims SET noted = ? WHERE key = ? AND token = ?"
NOBODY = "run_turn = NULL, run_digest = NULL, token = NULL, alive_until = NULL, noted = x''"
RECORD = f"""
UPDATE claims SET turn = run_turn, digest = run_digest, result = ?, {NOBODY} WHERE key = ? AND token = ? AND until > ?
"""
RECORD_LATE = f"""
UPDATE claims SET turn = run_turn, digest = run_digest, result = ?, look_at = ?, {NOBODY}
WHERE key = ? AND token = ?
"""
"""It took longer than its result lasts: only those who wait for it see it yet."""

RELEASE = (
    "DELETE FROM claims WHERE key = ? AND token = ? AND noted = x'' AND turn = -1",
    f"UPDATE claims SET {NOBODY} WHERE key = ? AND token = ? AND noted = x''",
    "UPDATE claims SET token = '', alive_until = 0 WHERE key = ? AND token = ?",
)
"""The first that fits: nothing was recorded before; something was; there is a note, so its runner counts as dead."""

RENEW = "UPDATE claims SET alive_until = ? WHERE key = ? AND token = ?"

SETTLE = """
INSERT INTO settled (key, value, until) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until WHERE until <= ?
"""
SPEND = """
INSERT INTO spent (key, until) VALUES (?, ?)
ON CONFLICT (key) DO UPDATE SET until = excluded.until WHERE until <= ?
"""

TABLES = {
    "claims": "until <= :now AND (token IS NULL OR alive_until <= :wall)",
    "settled": "until <= :now",
    "spent": "until <= :now",
    "vault": "until <= :now",
}
"""When a row has expired; what is being run by somebody alive has not."""

DUE = {"claims": "look_at <= :now"} | dict.fromkeys(("settled", "spent", "vault"), "until <= :now")
"""What an index finds at once."""

ANY_DUE = "SELECT " + " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {due})" for table, due in DUE.items())
PUT_OFF = """
UPDATE claims SET look_at = until WHERE rowid IN (
    SELECT rowid FROM claims WHERE look_at <= :now AND until > :now LIMIT :most)
"""
COUNT = "SELECT " + " + ".join(
    f"(SELECT count(*) FROM {table} WHERE ({over}) IS NOT TRUE)" for table, over in TABLES.items()
)
FORGET = [
    f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE {DUE[table]} AND ({over}) LIMIT :most)"
    for table, over in TABLES.items()
]


class Rows:
    """`clock` says what has expired; the wall clock of the machine, which all processes share, who is alive."""

    def __init__(
        self, file: File, *, clock: Callable[[], float], lease: float, held: dict[str, str] | None = None
    ) -> None:
        self._file = file
        self._clock = clock
        self._lease = lease
        self._tidy_at = 0.0
        self.held: dict[str, str] = {} if held is None else held
        """Token and key of what is being run on this store's behalf."""

    def beside(self) -> "Rows":
        """The same over a connection of its own that waits for nobody."""
        return Rows(self._file.anew(patience=0.0), clock=self._clock, lease=self._lease, held=self.held)

    # Run once.

    def claim(self, asked: Asked) -> Verdict | Waits:
        """On the common road one statement: nobody was here, or an earlier turn is done."""
        is_known = asked.turn > 1
        connection = self._file.current() if is_known else self._file.connection()
        if asked.epoch and asked.epoch != self._file.epoch:
            return EpochChanged()
        begun = self._begun(asked)
        began = is_known and connection.execute(GO_ON, begun).rowcount
        if began or connection.execute(BEGIN, begun).rowcount:
            return self._granted(asked, b"")
        return self.claim_again(asked)

    def claim_again(self, asked: Asked) -> Verdict | Waits:
        """Looks before it writes, so that waiting takes no lock."""
        verdict = self._judge(self._look(asked.key), asked)
        if verdict is not Signal.TAKES:
            return verdict
        with self._transaction():
            row = self._look(asked.key)
            verdict = self._judge(row, asked)
            if verdict is not Signal.TAKES:
                return verdict
            noted = self._take(row, asked)
        return self._granted(asked, noted)

    def record(self, claim: Granted, result: bytes) -> bool:
        self.held.pop(claim.token, None)  # first: if this fails, nobody is left who runs it
        run, now = (claim.key, claim.token), self._clock()
        if self._file.current().execute(RECORD, (result, *run, now)).rowcount:
            return True
        return self._execute(RECORD_LATE, (result, now + TO_BE_SEEN, *run)).rowcount == 1

    def release(self, claim: Granted) -> None:
        self.held.pop(claim.token, None)
        any(self._execute(statement, (claim.key, claim.token)).rowcount for statement in RELEASE)

    def withdraw(self, claim: Granted) -> None:
        """Release it, if it was granted."""
        if claim.token in self.held:
            self.release(claim)

    def note(self, claim: Granted, noted: bytes) -> bool:
        return self._execute(NOTE, (noted, claim.key, claim.token)).rowcount == 1

    def renew(self) -> None:
        """Say that what is held is still being run; what was lost meanwhile is held no longer."""
        alive_until = time.time() + self._lease
        with self._transaction():
            for token, key in list(self.held.items()):
                if not self._execute(RENEW, (alive_until, key, token)).rowcount:
                    self.held.pop(token, None)  # it may have been recorded at this very moment

    def _begun(self, asked: Asked) -> dict[str, Any]:
        run = {"run_turn": asked.turn, "run_digest": asked.digest, "token": asked.token}
        return {"key": asked.key, "until": asked.until, **run, "alive_until": time.time() + self._lease}

    def _granted(self, asked: Asked, noted: bytes) -> Granted:
        self.held[asked.token] = asked.key
        return Granted(asked.key, asked.token, noted)

    def _look(self, key: str) -> Row | None:
        found = self._execute(LOOK, (key,)).fetchone()
        return None if found is None else Row._make(found)

    def _judge(self, row: Row | None, asked: Asked) -> Verdict | Signal:
        if row is None or self._is_over(row, asked):
            return Signal.TAKES
        latest = row.turn if row.run_turn is None else row.run_turn
        if asked.turn != latest:
            return Signal.TAKES if asked.turn > latest else Rejected()
        if asked.digest != (row.digest if row.run_digest is None else row.run_digest):
            return Rejected()
        if row.token is None:
            return Rejected() if row.result is None else Finished(row.result)
        if self._is_dead(row):
            return Signal.TAKES if asked.takeover else RunnerDied()
        return WAITS

    def _is_dead(self, row: Row) -> bool:
        """What is held here is alive, even if this machine slept through its lease."""
        return row.token not in self.held and (row.alive_until or 0.0) <= time.time()

    def _is_over(self, row: Row, asked: Asked) -> bool:
        return row.until <= asked.at and (row.token is None or self._is_dead(row))

    def _take(self, row: Row | None, asked: Asked) -> bytes:
        """Gives what the run before this one had noted."""
        turn, digest, result, noted = -1, "", None, b""
        if row is not None and not self._is_over(row, asked):
            turn, digest, result, noted = row.turn, row.digest, row.result, row.noted
            if row.run_turn is not None and row.run_turn < asked.turn:
                # Overtaken while it was being run: it is spent, and will have no result.
                turn, digest, result, noted = row.run_turn, row.run_digest or "", None, b""
        until = asked.until if row is None else max(asked.until, row.until)
        kept = {"until": until, "turn": turn, "digest": digest, "result": result, "noted": noted}
        self._execute(TAKE, {**self._begun(asked), **kept})
        return noted

    # Settle, and spend.

    def settle(self, key: str, value: bytes, until: float) -> bytes:
        while not self._execute(SETTLE, (key, value, until, self._clock())).rowcount:
            stands = self.settled(key)
            if stands is not None:  # else it expired just now
                return stands
        return value

    def settled(self, key: str) -> bytes | None:
        return self._value("SELECT value FROM settled WHERE key = ? AND until > ?", (key, self._clock()))

    def spend(self, key: str, until: float) -> bool:
        return self._execute(SPEND, (key, until, self._clock())).rowcount == 1

    # Vault and ledger.

    def get(self, owner: str, name: str) -> bytes | None:
        return self._value(
            "SELECT value FROM vault WHERE owner = ? AND name = ? AND (until IS NULL OR until > ?)",
            (owner, name, self._clock()),
        )

    def put(self, owner: str, name: str, value: bytes, until: float | None) -> None:
        self._execute(vault.PUT, (owner, name, value, until))

    def put_capped(self, owner: str, name: str, value: bytes, until: float, cap: Cap) -> int:
        row = {"owner": owner, "name": name, "value": value, "until": until}
        with self._transaction():
            self._execute(vault.EXPIRED, {"now": self._clock(), "most": FEW})
            return vault.put_capped(self._file.connection(), row, cap)

    def delete(self, owner: str, name: str) -> bool:
        deleted = self._execute(
            "DELETE FROM vault WHERE owner = ? AND name = ? AND (until IS NULL OR until > ?)",
            (owner, name, self._clock()),
        )
        return deleted.rowcount == 1

    def replace(self, owner: str, name: str, former: bytes, value: bytes | None, until: float | None) -> bool:
        row = {"owner": owner, "name": name, "former": former, "value": value, "until": until}
        statement = vault.REMOVE_FORMER if value is None else vault.REPLACE_FORMER
        return self._execute(statement, {**row, "now": self._clock()}).rowcount == 1

    def rows(self, prefix: str, after: tuple[str, str] | None, most: int) -> list[tuple[str, str]]:
        owner, name = after or ("", "")
        bounds = {"prefix": prefix, "owner": owner, "name": name, "now": self._clock(), "most": most}
        return self._execute(vault.LIST, bounds).fetchall()

    def append(self, lines: Sequence[bytes]) -> int:
        rows = ", ".join(["(?)"] * len(lines))
        return self._execute(f"INSERT INTO ledger (line) VALUES {rows}", tuple(lines)).lastrowid or 0

    def read(self, after: int, most: int) -> list[tuple[int, bytes]]:
        found = self._execute(
            "SELECT number, line FROM ledger WHERE number > ? ORDER BY number LIMIT ?", (after, most)
        )
        return found.fetchall()

    def trim(self, before: int) -> int:
        """The last line stays, or the next would have its number again."""
        return self._execute(
            "DELETE FROM ledger WHERE number < ? AND number < (SELECT max(number) FROM ledger)", (before,)
        ).rowcount

    def epoch(self) -> str:
        self._file.current()
        return self._file.epoch

    # Time.

    def sweep(self) -> int:
        total = 0
        while forgotten := self._forget(MANY):
            total += forgotten
        return total

    @property
    def is_untidy(self) -> bool:
        """Whether it is time to `tidy` again."""
        return self._clock() >= self._tidy_at

    def tidy(self) -> None:
        """A bounded part of what `sweep` does, now and then."""
        now = self._clock()
        if now >= self._tidy_at:
            is_any_due = bool(self._execute(ANY_DUE, self._times()).fetchone()[0])
            forgotten = self._forget(FEW) if is_any_due else 0
            self._tidy_at = now if forgotten >= FEW else now + REST

    def write_back(self) -> None:
        """Into the main file, as far as nobody reads what was there before."""
        self._execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def count(self) -> int:
        return int(self._execute(COUNT, self._times()).fetchone()[0])

    def _forget(self, most: int) -> int:
        bounded = self._times() | {"most": most}
        with self._transaction():
            self._execute(PUT_OFF, bounded)
            return sum(self._execute(statement, bounded).rowcount for statement in FORGET)

    def _times(self) -> dict[str, float]:
        return {"now": self._clock(), "wall": time.time()}

    # The file.

    def drop(self) -> None:
        """Close the file; the next verb opens it anew."""
        self._file.drop()

    def was_only_busy(self, error: Exception) -> bool:
        """Whether somebody else was writing, and nothing is left half done here."""
        name = str(getattr(error, "sqlite_errorname", ""))
        return name.startswith("SQLITE_BUSY") and not self._file.is_in_transaction

    def _execute(self, statement: str, values: Any = ()) -> sqlite3.Cursor:
        return self._file.connection().execute(statement, values)

    def _value(self, statement: str, values: tuple[Any, ...]) -> bytes | None:
        found = self._execute(statement, values).fetchone()
        return None if found is None else bytes(found[0])

    @contextmanager
    def _transaction(self) -> Generator[None]:
        """An error leaves it open: the connection is dropped then, and it with it."""
        self._execute("BEGIN IMMEDIATE")
        yield
        self._execute("COMMIT")
