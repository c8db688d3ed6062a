"""Names of conversations: each is one of a kind among all workers, and says which epoch of the store knows of it."""

import logging
from collections.abc import Callable

from askback.journal.entries import Journal, conversation_id
from askback.stores.protocol import Store
from askback.unique import unique_name

logger = logging.getLogger("askback")

LOST = (
    "The store has another epoch than before: it was restarted, flushed or replaced, and lost what it knew. Calls that "
    "began before are refused, and for a while each effect with within= is refused once, so that somebody finds out "
    "whether it happened. Give Redis a file that it writes before it answers (appendfsync always)."
)


class Names:
    """Gives them out when a call first leaves the process, or is first told of; most calls never need one.

    Knows the epoch of the store that this process heard of last, and when it heard that one was lost.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float]) -> None:
        self._store, self.clock = store, clock
        self._epoch = ""
        self.lost_at: float | None = None
        """When this process learned that the store had lost an epoch; None where it knows of no loss."""

    async def named(self, journal: Journal) -> Journal:
        """The same journal with an id."""
        if not journal.conversation:
            journal.conversation = conversation_id(unique_name(), epoch=await self.epoch())
        return journal

    async def epoch(self) -> str:
        """The epoch of the store as it is now; empty where the store cannot tell."""
        epoch = await self._store.epoch()
        self.hear(epoch)
        return epoch

    def hear(self, epoch: str) -> None:
        """The store has this epoch now."""
        former, self._epoch = self._epoch, epoch or self._epoch
        if former and former != self._epoch:
            self.lost_at = self.clock()
            logger.warning(LOST)

    def hear_of_loss(self) -> None:
        """A conversation came back with an epoch that is no more; a process that began later learns it so."""
        if self.lost_at is None:
            self.lost_at = self.clock()
            logger.warning(LOST)
