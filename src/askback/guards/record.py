"""What a guarded run leaves on record: how it was decided, and how it came back. Each once per call, however often its
body is replayed."""

from collections.abc import Mapping
from typing import Any, Literal

from askback.model.events import CallEvent, describe_guard_decision, describe_guard_outcome
from askback.model.journal import Action
from askback.runtime.conversation import Conversation

Facts = Mapping[str, Any]
Ending = Literal["ran", "raised", "did not run"]


class GuardRecord:
    """Of all guards before one run, in one pass."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._approved: list[str] = []

    def record_approval(
        self,
        place: str,
        message: str,
        facts: Facts,
        rule: str,
        *,
        word: str | None,
        action: Action | None = "accept",
    ) -> None:
        """This guard lets it run."""
        self._approved.append(place)
        self._decided(
            rule,
            describe_guard_decision(place, message=message, facts=facts, word=word, action=action, rule=rule),
        )

    def record_refusal(
        self,
        place: str,
        message: str,
        facts: Facts,
        reason: str,
        *,
        word: str | None = "server",
        action: Action | None = None,
    ) -> None:
        """This guard does not, and so those before it have said yes in vain."""
        self._decided(
            reason,
            describe_guard_decision(
                place, message=message, facts=facts, word=word, action=action, reason=reason
            ),
        )

    async def write(self) -> None:
        """What was agreed to is on record before it is done."""
        witness = self._conversation.setting.witness
        if self._approved and witness is not None:
            await witness.flush()

    def record_end(self, ending: Ending) -> None:
        """What was guarded is over."""
        for place in self._approved:
            decision, *ended = self._conversation.noted(place)
            if not ended:
                self._tell([decision, ending], describe_guard_outcome(place, ending))

    def _decided(self, decision: str, happening: CallEvent) -> None:
        noted = self._conversation.noted(happening.place or "")
        if noted is None or noted[0] != decision:
            self._tell([decision], happening)

    def _tell(self, note: list[str], happening: CallEvent) -> None:
        self._conversation.note(happening.place or "", note)
        witness = self._conversation.setting.witness
        if witness is not None:
            witness.emit(happening)
