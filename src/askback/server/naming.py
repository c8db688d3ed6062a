"""Names of conversations: each is one of a kind among all workers, and says which memory of the store knows of it."""

import os
import secrets
from itertools import count

from askback.journal.entries import Journal, conversation_id
from askback.stores.protocol import Store


class Names:
    """Gives them out when a call first leaves the process, or is first told of; most calls never need one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._mark = secrets.token_hex(8)
        self._numbers = count(1)

    async def named(self, journal: Journal) -> Journal:
        """The same journal with an id."""
        if not journal.conversation:
            # What differs comes first, for those who read the beginning alone. With the process: one that was forked
            # has our mark, and counts on from our number.
            number = f"{next(self._numbers):x}-{self._mark}-{os.getpid():x}"
            journal.conversation = conversation_id(number, epoch=await self._store.epoch())
        return journal
