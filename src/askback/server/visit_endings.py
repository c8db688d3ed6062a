"""Ends visits from outside a call: the application settles them, and clients without a waiting call are notified."""

import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from mcp.server.session import ServerSession

from askback.model.visit import Ending, VisitAborted, VisitKind, VisitSettled
from askback.runtime.visits import VisitStore, digest_of, is_alike
from askback.server.audit import Audit

logger = logging.getLogger("askback")

MAX_WAITING_CLIENTS = 10_000
"""Clients to be told of an end that no call waits for; the oldest is forgotten first, and comes and asks."""


class _Waiting(NamedTuple):
    """A client that waits to hear of one visit."""

    id: str
    session: ServerSession
    until: float


class VisitEndings:
    """Ends visits, and tells the client that was asked, and no other (R80)."""

    audit: Audit | None = None

    def __init__(self, visits: VisitStore, *, clock: Callable[[], float]) -> None:
        self._visits, self._clock = visits, clock
        self._to_tell: OrderedDict[str, _Waiting] = OrderedDict()

    def notify_when_ended(self, id: str, session: ServerSession, until: float) -> None:
        """Tell this client when the visit ends."""
        waiting, now = self._to_tell, self._clock()
        waiting[digest_of(id)] = _Waiting(id, session, until)
        while waiting and (len(waiting) > MAX_WAITING_CLIENTS or next(iter(waiting.values())).until < now):
            waiting.popitem(last=False)

    async def settle(self, id: str, result: Any) -> bool:
        return await self._end_elsewhere(id, VisitSettled(result))

    async def fail(self, id: str, reason: str) -> bool:
        return await self._end_elsewhere(id, VisitAborted(reason))

    async def _end_elsewhere(self, id: str, ending: Ending) -> bool:
        """The application knows of its own pages alone: what is done on ours, they say themselves."""
        return is_alike(await self.end(digest_of(id), ending, kind="elsewhere"), ending)

    async def end(self, name: str, ending: Ending, *, kind: VisitKind | None = None) -> Ending:
        """The end that stands, which is the first."""
        stands = await self._visits.end(name, ending, kind=kind)
        if self.audit is not None and is_alike(stands, ending):
            visiting = await self._visits.find_by_digest(name)
            if visiting is not None:
                await self.audit.record_visit_end(visiting, stands)
        if (waiting := self._to_tell.pop(name, None)) is not None:
            try:
                await waiting.session.send_elicit_complete(waiting.id)
            except Exception:
                logger.info("a client could not be told that its visit has ended", exc_info=True)
        return stands
