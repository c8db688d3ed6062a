"""The ledger of a server: an operator makes it, the server writes to it, and it can be read and verified."""

import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Collection
from datetime import timedelta

from anyio.lowlevel import RunVar

from askback.errors import OperatorError, StoreUnavailable
from askback.ledger.chain import LedgerLine, LineRecord
from askback.ledger.checker import LedgerChecker, Report
from askback.ledger.entries import LedgerEntry, encode_entry
from askback.ledger.heads import Heads, seal_heads
from askback.ledger.keys import Keys, LedgerKeyRing
from askback.ledger.reader import read_lines, read_numbered
from askback.ledger.retention import Retention
from askback.ledger.writer import LedgerWriter
from askback.model.store import Store
from askback.stores import open_store

logger = logging.getLogger("askback")


class Ledger:
    """Everything that is asked and answered, in a store, as chains that show whether somebody changed them.

    Args:
        store: where the lines are kept, as in `Askback(store=...)`; it may be the server's own store.
        keys: as in `Askback(keys=...)`, the newest first. The first key seals new lines; all of them verify old ones.
        keep: how long lines are kept; None for ever. Older lines are removed about once an hour.
        answers: tools and prompts by name, and resources by URI, whose answers are kept word for word. For all others
            only a digest is kept.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        store: Store | str,
        keys: Keys,
        *,
        keep: timedelta | None = timedelta(days=400),
        answers: Collection[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        if isinstance(answers, str):
            raise OperatorError(f"Ledger(answers=...) is a list, also of one: answers=[{answers!r}].")
        if keep is not None and keep <= timedelta():
            raise OperatorError(f"Ledger(keep={keep}) would keep nothing. Give a time, or None to keep all.")
        self.store = open_store(store, clock=clock)
        self.answers = frozenset(answers)
        self._ring = LedgerKeyRing(keys)
        self._clock = clock
        self._retention = None if keep is None else self._make_retention(keep)
        self._writers: RunVar[LedgerWriter] = RunVar("askback ledger writer")

    async def write(self, *entries: LedgerEntry) -> None:
        """Return when the entries are in the store, in this order; raises `StoreUnavailable` if they may not be."""
        if not entries:
            return
        writer = self._writer()
        await writer.write(*(LineRecord("entry", encode_entry(entry)) for entry in entries))
        if self._retention is not None and self._retention.is_due:
            try:
                await self._retention.trim_in_turn(writer)
            except StoreUnavailable as error:  # the entries are in the store, so nothing is lost
                logger.warning("old ledger lines were not trimmed; it will be tried again: %s", error.message)

    def digest_of(self, content: object, *, call: str, place: str | None) -> str:
        """A keyed digest of an answer, for `LedgerEntry.digest`. It is bound to the call and the question, so that a
        reader without the key cannot guess the answer, nor see that two people gave the same one."""
        return self._ring.first.digest_of(content, call=call, place=place)

    def entries(self, after: int = 0) -> AsyncIterator[LedgerLine]:
        """The lines after this number, unverified."""
        return read_lines(self.store, after=after)

    async def verify(self, heads: Heads | None = None) -> Report:
        """Read all lines and report what is wrong. Earlier heads also show whether the end was cut off."""
        return (await self._check(heads)).report()

    async def heads(self) -> Heads:
        """Where each chain ends now, sealed. Keep it in a place that a writer to the store cannot change."""
        checker = await self._check()
        report = checker.report()
        if not report.is_sound:
            raise OperatorError(
                f"No head was made: the ledger does not verify ({report.problems[0]}). `askback ledger verify` "
                "lists all."
            )
        return seal_heads(checker.heads(), last=report.last, at=self._clock(), key=self._ring.first)

    async def trim(self, keep: timedelta) -> int:
        """Remove all older lines now; gives how many there were."""
        retention, total, is_more = self._make_retention(keep), 0, True
        while is_more:
            count, is_more = await retention.trim_batch(self._writer())
            total += count
        return total

    async def close(self) -> None:
        """Close the store."""
        await self.store.close()

    def _make_retention(self, keep: timedelta) -> Retention:
        return Retention(self.store, self._ring, keep=keep.total_seconds(), clock=self._clock)

    def _writer(self) -> LedgerWriter:
        """The writer of this event loop in this process; a forked process has its own chain."""
        writer = self._writers.get(None)
        if writer is None or writer.process != os.getpid():
            writer = LedgerWriter(self.store, self._ring.first, clock=self._clock)
            self._writers.set(writer)
        return writer

    async def _check(self, heads: Heads | None = None) -> LedgerChecker:
        checker = LedgerChecker(self._ring, heads)
        async for number, raw in read_numbered(self.store):
            checker.take(number, raw)
        return checker
