"""Puts on record the rounds that the boundary refuses: forged, too late, or sealed for another caller or call."""

import json
import time
from collections.abc import Callable

from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError

from askback.model.journal_codec import UnreadableJournal, decode, is_ours
from askback.protocol.server.rounds import is_refused_state, state_in
from askback.server.audit import Audit
from askback.server.hosts.boundary import Context

FORGED = "a state that was not sealed here"
LATE = "a state whose time is over"
ELSEWHERE = "the state of another call or caller"


class RefusedStateAudit:
    """Sits outside the boundary, which has one sentence for every reason; the record has the reason."""

    def __init__(self, audit: Audit, open_state: Callable[[str], bytes]) -> None:
        self._audit, self._open = audit, open_state

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        try:
            return await call_next(ctx)
        except MCPError as error:
            if is_refused_state(error):
                await self._audit.record_refused_request(ctx, *self._why(state_in(ctx.params)))
            raise

    def _why(self, state: str) -> tuple[str, str]:
        """And of which call it is the state, where we have sealed it."""
        try:
            claims = json.loads(self._open(state))
            until, inner = float(claims["exp"]), str(claims["s"])
        except Exception:  # noqa: BLE001 - whatever a codec raises
            return FORGED, ""
        # By the boundary's own clock, which tests cannot set.
        return LATE if until <= time.time() else ELSEWHERE, _call_in(inner)


def _call_in(state: str) -> str:
    try:
        return decode(state).conversation if is_ours(state) else ""
    except UnreadableJournal:  # or one that is kept in the store
        return ""
