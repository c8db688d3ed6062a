"""Which worker each session lives with, remembered after the first lookup.

A session lives and dies with one worker, so a route is right until that worker says that it has no such session. What
is remembered needs no store: an answer finds its worker while the store stands still.
"""

import logging
from collections import OrderedDict

from askback.errors import StoreUnavailable
from askback.server.forwarding.directory import SessionDirectory, WorkerLocation

logger = logging.getLogger("askback")

MAX_ROUTES = 10_000
"""Of other workers' sessions; the one that was not used for longest is forgotten first, and looked up again."""


class Routes:
    """The routes of one server in this process."""

    def __init__(self, register: SessionDirectory) -> None:
        self._register = register
        self._owners: OrderedDict[str, WorkerLocation] = OrderedDict()

    def has(self, id: str) -> bool:
        """Whether this session was looked up before, and is still remembered."""
        return id in self._owners

    async def find(self, id: str) -> WorkerLocation | None:
        """Raises `StoreUnavailable` for a session that was never looked up before."""
        owner = self._owners.get(id) or await self._register.find(id)
        if owner is not None:
            self._owners[id] = owner
            self._owners.move_to_end(id)
        if len(self._owners) > MAX_ROUTES:
            self._owners.popitem(last=False)
        return owner

    async def has_ended(self, owner: WorkerLocation) -> bool:
        """Whether a silent worker has not said of late that it lives. Without the store nobody knows: then it lives."""
        try:
            return not await self._register.is_alive(owner.worker)
        except StoreUnavailable:
            return False

    async def forget(self, id: str, owner: WorkerLocation) -> None:
        """The session has ended; a row that the store cannot delete now expires by itself."""
        self._owners.pop(id, None)
        try:
            await self._register.remove(id, owner)
        except StoreUnavailable:
            logger.info("the row of a session that has ended could not be deleted; it expires", exc_info=True)
