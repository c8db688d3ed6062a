"""The ledger as an operator gives it to a server, and as whoever looks into it reads it."""

import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Collection
from datetime import timedelta

from anyio.lowlevel import RunVar

from askback.errors import OperatorError, StoreUnavailable
from askback.ledger.chain import LedgerLine, LineRecord
from askback.ledger.entries import LedgerEntry, encode_entry
from askback.ledger.heads import Heads, seal_heads
from askback.ledger.keys import Keys, LedgerKeyRing
from askback.ledger.reader import read_lines, read_numbered
from askback.ledger.report import Report
from askback.ledger.retention import Retention
from askback.ledger.verify import LedgerChecker
from askback.ledger.writer import LedgerWriter
from askback.model.store import Store
from askback.stores import open_store

logger = logging.getLogger("askback")


class Ledger:
    """Everything that is asked and answered, in a store, as chains that show whether somebody changed them.

    Args:
        store: where the lines are kept, as `Askback(store=...)` has it; other things may be kept there too.
        keys: the same as `Askback(keys=...)`, the newest first. The first seals new lines, and all of them verify.
        keep: how long lines stay; None for ever. Older ones go about once an hour, by themselves.
        answers: names of tools and prompts, and URIs of resources, whose answers are kept word for word. Of all others
            there is only a digest.
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
        self._retention = None if keep is None else self._keeping(keep)
        self._writers: RunVar[LedgerWriter] = RunVar("askback ledger writer")

    async def write(self, *entries: LedgerEntry) -> None:
        """Until they are in the store, in this order; raises `StoreUnavailable` where they may not be."""
        if not entries:
            return
        writer = self._writer()
        await writer.write(*(LineRecord("entry", encode_entry(entry)) for entry in entries))
        if self._retention is not None and self._retention.is_due:
            await self._look(self._retention, writer)

    def digest_of(self, content: object, *, call: str, place: str | None) -> str:
        """Of an answer, for `Entry.digest`: the same for the same answer to the same question of a call, and for no
        other, so that nobody without the key can guess it, or tell from their own "yes" who else has said so."""
        return self._ring.first.digest_of(content, call=call, place=place)

    def entries(self, after: int = 0) -> AsyncIterator[LedgerLine]:
        """The lines behind that number, unverified."""
        return read_lines(self.store, after=after)

    async def verify(self, heads: Heads | None = None) -> Report:
        """Read all of it, and tell what is wrong; with heads from before, also whether its end is still there."""
        return (await self._check(heads)).report()

    async def heads(self) -> Heads:
        """Where it ends now. Keep them where nobody reaches who can write to the store."""
        checker = await self._check()
        report = checker.report()
        if not report.is_sound:
            raise OperatorError(
                f"No head was made: the ledger does not verify ({report.problems[0]}). `askback ledger verify` tells "
                "the rest."
            )
        return seal_heads(checker.heads(), last=report.last, at=self._clock(), key=self._ring.first)

    async def trim(self, keep: timedelta) -> int:
        """Let all lines go that are older, at once, and say how many those were."""
        retention, total = self._keeping(keep), 0
        while (step := await retention.step(self._writer())).lines:
            total += step.lines
            if not step.is_more:
                break
        return total

    async def close(self) -> None:
        """Give back what the store holds open."""
        await self.store.close()

    def _keeping(self, keep: timedelta) -> Retention:
        return Retention(self.store, self._ring, keep=keep.total_seconds(), clock=self._clock)

    def _writer(self) -> LedgerWriter:
        """Of this event loop in this process: one that was forked has a chain of its own."""
        writer = self._writers.get(None)
        if writer is None or writer.process != os.getpid():
            writer = LedgerWriter(self.store, self._ring.first, clock=self._clock)
            self._writers.set(writer)
        return writer

    async def _look(self, retention: Retention, writer: LedgerWriter) -> None:
        try:
            await retention.look(writer)
        except StoreUnavailable as error:  # the entries are in, so nothing is lost with it
            logger.warning(
                "old lines of the ledger were not trimmed, which is tried again: %s", error.message
            )

    async def _check(self, heads: Heads | None = None) -> LedgerChecker:
        checker = LedgerChecker(self._ring, heads)
        async for number, raw in read_numbered(self.store):
            checker.take(number, raw)
        return checker
