"""Names of conversations: each is one of a kind among all workers, and says which memory of the store knows of it."""

import os
import secrets
from itertools import count

from askback.journal.entries import Journal, conversation_id
from askback.stores.protocol import Store

_NUMBERS = count(1)


class _Process:
    """Of this process alone: one that is forked off counts on from our number, and gets a mark of its own."""

    mark = secrets.token_hex(8)

    @classmethod
    def renew(cls) -> None:
        cls.mark = secrets.token_hex(8)


if hasattr(os, "register_at_fork"):  # where processes fork
    os.register_at_fork(after_in_child=_Process.renew)


class Names:
    """Gives them out when a call first leaves the process, or is first told of; most calls never need one."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def named(self, journal: Journal) -> Journal:
        """The same journal with an id."""
        if not journal.conversation:
            # What differs comes first, for those who read the beginning alone.
            number, epoch = f"{next(_NUMBERS):x}-{_Process.mark}", await self._store.epoch()
            journal.conversation = conversation_id(number, epoch=epoch) if epoch else number
        return journal
