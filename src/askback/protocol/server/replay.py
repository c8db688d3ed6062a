"""Asks over push, then lets the body run again from the top, as the rounds era would.

For tests: what a body does differently on its second run shows on every revision, not only on the newest.
"""

from collections.abc import Mapping, Sequence

import anyio

from askback.model.journal import Arrival, Journal
from askback.model.visit import Ending
from askback.protocol.server.push import PushCarrier
from askback.runtime.carrier import Carrier, Ended, OutgoingQuestion, Pause


class ReplayCarrier(Carrier):
    """A push carrier that keeps what arrives for the next pass."""

    grace = None
    comes_back = True

    def __init__(self, push: PushCarrier) -> None:
        self._push = push
        self.question_id = push.question_id
        self.arrived: dict[str, Arrival] = {}
        self._turn: anyio.Lock | None = None

    async def deliver(self, questions: Sequence[OutgoingQuestion]) -> Mapping[str, Arrival] | None:
        self._turn = self._turn or anyio.Lock(fast_acquire=True)
        async with self._turn:
            if not self.arrived:  # one answer, then the body runs again; tasks that wait here ask then
                self.arrived.update(await self._push.deliver(questions))
        return None

    def require_visits(self) -> None:
        self._push.require_visits()

    async def end_of(self, id: str, ended: Ended, *, seconds: float) -> Ending | Pause:
        return await self._push.end_of(id, ended, seconds=seconds)

    def move_into(self, journal: Journal) -> None:
        """Hand over what arrived, as `inputResponses` would."""
        journal.arrived.update(self.arrived)
        self.arrived.clear()
