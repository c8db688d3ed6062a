"""Ids of conversations: unique among all workers, each with the epoch of the store in which it began."""

import logging
from collections.abc import Callable
from secrets import token_hex

import anyio

from askback.errors import StoreUnavailable
from askback.model.journal import Journal
from askback.model.store import Store

logger = logging.getLogger("askback")

LOST = (
    "The store has another epoch than before: it was restarted, flushed or replaced, and lost what it knew. Calls that "
    "began before are refused, and for a while each effect with within= is refused once, so that somebody finds out "
    "whether it happened. Give Redis a file that it writes before it answers (appendfsync always)."
)

LOSSES = "askback/losses"
"""Owner of the rows in which workers tell each other of a loss, by the epoch that came after it."""

LOSS_KEPT = 7 * 86_400.0
"""Seconds for which a loss is known, and who was told of it; few effects last longer."""

LOOK = 10.0
"""Seconds between two checks of a worker without calls: all workers may be replaced, one by one, soon after a loss."""


class ConversationIds:
    """Assigns an id when a call first leaves the process or is first put on record; most calls never need one.

    Keeps the last epoch of the store that this process has seen, and when an epoch was lost.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float]) -> None:
        self._store, self.clock = store, clock
        self._epoch = ""
        self._lost_at: float | None = None

    async def assign(self, journal: Journal) -> Journal:
        """Give the journal an id if it has none; returns the journal."""
        if not journal.conversation:
            number, epoch = token_hex(12), await self.epoch()
            journal.conversation = f"{number}/{epoch}" if epoch else number
        return journal

    async def epoch(self) -> str:
        """The epoch of the store as it is now; empty where the store cannot tell."""
        epoch = await self._store.epoch()
        await self.note_epoch(epoch)
        return epoch

    async def watch_epoch(self) -> None:
        """Look for the epoch again and again, so that a worker without calls knows which one was lost."""
        while True:
            try:
                await self.epoch()
            except StoreUnavailable:
                logger.debug("the store could not be asked for its epoch", exc_info=True)
            await anyio.sleep(LOOK)

    async def note_epoch(self, epoch: str) -> None:
        """The store has this epoch now."""
        former, self._epoch = self._epoch, epoch or self._epoch
        if former and former != self._epoch:
            await self._learn_of_loss(self._epoch)

    async def note_loss(self) -> None:
        """A conversation came back with an epoch that is no more; a process that began later learns it so."""
        epoch = await self.epoch()
        if self._lost_at is None:
            await self._learn_of_loss(epoch)

    async def lost_at(self) -> float | None:
        """When a worker learned that the store had lost an epoch; None where none of them knows of a loss."""
        if self._lost_at is None and self._epoch:
            self._lost_at = await self._told_loss(self._epoch)
        return self._lost_at

    async def _learn_of_loss(self, epoch: str) -> None:
        """Known here at once, and to all workers as soon as the store takes it."""
        self._lost_at = now = self.clock()
        logger.warning(LOST)
        if not epoch:
            return  # of a store that cannot tell
        try:
            if (earlier := await self._told_loss(epoch)) is not None:
                self._lost_at = earlier
            else:
                await self._store.put(LOSSES, epoch, repr(now).encode(), until=now + LOSS_KEPT)
        except StoreUnavailable:
            logger.warning("other workers could not be told that the store lost an epoch", exc_info=True)

    async def _told_loss(self, epoch: str) -> float | None:
        told = await self._store.get(LOSSES, epoch)
        return None if told is None else float(told)
