"""How visits end from outside a call: the application says so, and clients that nobody waits for are told."""

import logging
from collections import OrderedDict
from typing import Any

from mcp.server.session import ServerSession

from askback.visits import Ending, Failed, Settled, Visits, digest_of

logger = logging.getLogger("askback")

MOST_TOLD = 10_000
"""Clients to be told of an end that no call waits for; the oldest is forgotten first, and comes and asks."""


class Ends:
    """Ends visits, and tells the client that was asked, and no other (R80)."""

    def __init__(self, visits: Visits) -> None:
        self._visits = visits
        self._to_tell: OrderedDict[str, tuple[str, ServerSession]] = OrderedDict()

    def tell_end_of(self, id: str, session: ServerSession) -> None:
        """Tell this client when the visit ends."""
        self._to_tell[digest_of(id)] = id, session
        if len(self._to_tell) > MOST_TOLD:
            self._to_tell.popitem(last=False)

    async def settle(self, id: str, result: Any) -> bool:
        ending = Settled(result)
        return await self.end(digest_of(id), ending) == ending

    async def fail(self, id: str, reason: str) -> bool:
        ending = Failed(reason)
        return await self.end(digest_of(id), ending) == ending

    async def end(self, name: str, ending: Ending) -> Ending:
        """The end that stands, which is the first."""
        stands = await self._visits.end(name, ending)
        if (to_tell := self._to_tell.pop(name, None)) is not None:
            id, session = to_tell
            try:
                await session.send_elicit_complete(id)
            except Exception:
                logger.info("a client could not be told that its visit has ended", exc_info=True)
        return stands
