"""Quotas: how many rows of one kind a caller and a server may have in the store."""

import logging
import time
from dataclasses import dataclass

from askback.model.store import Cap

logger = logging.getLogger("askback")

WARNING_INTERVAL = 3600.0
"""Seconds between two warnings that rows were dropped: a caller who fills the store must not fill the log."""

DROPPED = (
    "%s of the server %r were dropped to make room for newer ones: a caller may have %s, and all together %s. Those "
    "who come back for them are told to call again. If these are people and not one busy client, %s."
)


@dataclass(slots=True)
class RowQuota:
    """The caps of one kind of rows of one server. Unknown callers share half of all rows."""

    kind: str
    server: str
    max_of_caller: int
    max_in_all: int
    advice: str
    """What the operator can do about it."""
    _warned_at: float | None = None

    def cap(self, holder: str, *, kind: str = "", weight: int = 1) -> Cap:
        """The cap for a row of this holder; empty for unknown callers."""
        most = self.max_of_caller if holder else max(self.max_in_all // 2, 1)
        return Cap(f"{kind or self.kind}/{self.server}", holder, most, self.max_in_all, weight)

    def report(self, dropped: int) -> None:
        """Say in the log that rows were dropped, the first time and once in a while."""
        now = time.monotonic()
        if dropped and (self._warned_at is None or now - self._warned_at >= WARNING_INTERVAL):
            self._warned_at = now
            logger.warning(DROPPED, self.kind, self.server, self.max_of_caller, self.max_in_all, self.advice)
