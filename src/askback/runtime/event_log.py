"""The events of one call: listeners hear each at once, and the ledger has them before anybody acts on them."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence

import anyio

from askback.errors import StoreUnavailable
from askback.model.events import CallEvent
from askback.model.journal import Journal

logger = logging.getLogger("askback")

CANCELLED_FLUSH_TIMEOUT = 1.0
"""Seconds for writing the events of a call that is being cancelled."""

TimedEvent = tuple[float, CallEvent]


class EventLog:
    """Collects the events of one call and writes them together."""

    def __init__(
        self,
        journal: Journal,
        *,
        notify: Callable[[Journal, CallEvent], None],
        write: Callable[[Journal, Sequence[TimedEvent]], Awaitable[None]] | None,
        clock: Callable[[], float],
        in_rounds: bool,
    ) -> None:
        """`write` puts events into the ledger; None where there is no ledger."""
        self.journal = journal
        self._notify, self._write, self._clock, self._in_rounds = notify, write, clock, in_rounds
        self._pending: list[TimedEvent] = []
        self._writing = anyio.Lock(fast_acquire=True)
        self._has_question = False

    def begin_round(self, journal: Journal) -> None:
        """A later round of a conversation that has asked before."""
        self.journal, self._has_question = journal, True

    def emit(self, event: CallEvent) -> None:
        """Tell listeners now, and keep the event for the ledger."""
        self._notify(self.journal, event)
        if self._write is not None:
            now = self._clock()
            self._pending.append((now if event.at is None else min(event.at, now), event))
            # A call that only runs effects is not put on record: nobody was asked.
            self._has_question = self._has_question or event.event != "spent"

    async def checkpoint(self) -> None:
        """Write before the body acts on an answer: on the push era. A round is written with its end or its effects."""
        if not self._in_rounds:
            await self.flush()

    async def flush(self) -> None:
        """Returns when all events are in the ledger; raises `StoreUnavailable` where they cannot be written."""
        if self._write is None:
            return
        async with self._writing:  # another task may be writing events that this one relies on
            if self._pending and self._has_question:
                pending, self._pending = self._pending, []
                try:
                    await self._write(self.journal, pending)
                except BaseException:
                    self._pending[:0] = pending  # a line that is written twice counts once
                    raise

    async def flush_cancelled(self) -> None:
        """Write what a call leaves that is being cancelled, within a second."""
        try:
            with anyio.move_on_after(CANCELLED_FLUSH_TIMEOUT, shield=True):
                await self.flush()
        except StoreUnavailable:
            logger.exception("the events of a cancelled call could not be written to the ledger")


def emit_all(log: EventLog | None, events: Iterable[CallEvent]) -> None:
    """Emit these; nothing is computed where there is no log."""
    if log is not None:
        for event in events:
            log.emit(event)
