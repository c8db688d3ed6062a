"""Names of conversations: each is one of a kind among all workers, and says which memory of the store knows of it."""

from askback.journal.entries import Journal, conversation_id
from askback.stores.protocol import Store
from askback.unique import unique_name


class Names:
    """Gives them out when a call first leaves the process, or is first told of; most calls never need one."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def named(self, journal: Journal) -> Journal:
        """The same journal with an id."""
        if not journal.conversation:
            journal.conversation = conversation_id(unique_name(), epoch=await self._store.epoch())
        return journal
