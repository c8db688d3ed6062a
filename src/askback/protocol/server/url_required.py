"""Visits of the push era without a back channel: the call ends with an error that lists them, and is made again."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import URL_ELICITATION_REQUIRED

from askback.errors import CannotAsk
from askback.model.journal import Arrival
from askback.model.question import Visit
from askback.model.visit import Ending
from askback.protocol.elicitation import render_question
from askback.protocol.revisions import Modes, Revision, require_mode
from askback.protocol.server.push import PushCarrier
from askback.runtime.carrier import Carrier, Ended, OutgoingQuestion, Pause

DEMAND = "This call needs the user to visit a page first. When they have done so, make the same call again."


class UrlRequiredCarrier(Carrier):
    """Collects the visits of one call; forms, where there is a way back, go the usual way."""

    comes_back = True

    def __init__(
        self, push: PushCarrier, *, revision: Revision, modes: Modes, hold: float, is_caller_known: bool
    ) -> None:
        self._push, self._revision, self._modes = push, revision, modes
        self.question_id, self.grace = push.question_id, hold
        self._is_caller_known = is_caller_known
        self.questions: dict[str, OutgoingQuestion] = {}

    async def deliver(self, questions: Sequence[OutgoingQuestion]) -> Mapping[str, Arrival] | None:
        if not isinstance(questions[0].question, Visit):
            return await self._push.deliver(questions)
        self.questions.update({outgoing.place: outgoing for outgoing in questions})
        return None

    def require_visits(self) -> None:
        require_mode("url", self._revision, self._modes)
        if not self._is_caller_known:
            raise CannotAsk(
                mode="url",
                reason="This connection has no way back to the client, and the caller is unknown: when the call comes "
                "again, it could not be told from a stranger's.",
                advice="Its operator can add authorization to the server, name the caller with Askback(caller=...), or "
                "serve these clients with sessions and event streams.",
            )

    async def end_of(self, id: str, ended: Ended, *, seconds: float) -> Ending | Pause:
        # Never reached with a visit of this call: this carrier does not hear of consent.
        return Pause.GIVE_UP

    def demand(self) -> MCPError:
        """All visits that this call needs, as far as it came (R79)."""
        listed = [self._listed(outgoing) for outgoing in self.questions.values()]
        return MCPError(URL_ELICITATION_REQUIRED, DEMAND, {"elicitations": listed})

    def _listed(self, outgoing: OutgoingQuestion) -> dict[str, Any]:
        visit = outgoing.question
        assert isinstance(visit, Visit)
        return {**render_question(visit, outgoing.message, self._revision), "elicitationId": visit.id}
