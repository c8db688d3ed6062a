"""Where the questions of one server come in: read, judged, counted, paced, put in line, and noted."""

import time
from collections.abc import Iterable
from typing import Any

import anyio

from askback.answer import Accepted, Answer, Cancelled, Declined
from askback.client.answered import Answered, Noted, answered
from askback.client.calls import Sleep
from askback.client.consent.shared import Sites, remember_site, sites_before
from askback.client.copies import Copies
from askback.client.fitting import fitting
from askback.client.line import Line
from askback.client.pacing import Bucket, Clock, Limits, Tally
from askback.client.person import Asked, Asker, Turn, VisitAsked
from askback.client.reading import read_asked
from askback.wire.asked import VisitWords, Words

ALL_DECLINED = "declined all from this server"
"""On whose word an answer stands that nobody was shown the question of."""


class Intake:
    """One server's questions on their way to a line."""

    def __init__(
        self,
        line: Line,
        *,
        asker: Asker,
        limits: Limits,
        sites: Sites | None = None,
        clock: Clock = time.monotonic,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self.line, self.asker, self.limits = line, asker, limits
        self.answered: list[Answered] = []
        self.copies = Copies(clock)
        self._sites, self._sleep = sites, sleep
        self._bucket = Bucket(limits, clock)
        self._declines_all = False

    @property
    def _server(self) -> str:
        """Under what its visits are remembered: a label is a word that several servers may share."""
        return self.asker.identity or self.asker.label

    async def read(self, words: Words, *, purposes: tuple[str, ...], key: str | None = None) -> Asked:
        """The question as this person can be shown it."""
        before: frozenset[str] | None = None
        if self._sites is not None and isinstance(words, VisitWords):
            before = await sites_before(self._sites, self._server)
        return read_asked(words, asker=self.asker, purposes=purposes, key=key, before=before)

    async def put(self, turn: Turn, tally: Tally, noted: Iterable[Noted] = ()) -> Answer[Any]:
        """The person's answer, fitting and noted; raises where this server asks too much."""
        declined = await self.admit(turn, tally)
        answer = await self._ask(turn, tally) if declined is None else declined
        if turn.gone is None:
            await self.note(turn.asked, answer, by=turn.by, noted=noted)
        return answer

    async def admit(self, turn: Turn, tally: Tally) -> Answer[Any] | None:
        """Count and pace what a person is to see; the answer, where they have said that they want to see no more."""
        turn.number = tally.count(turn.asked)
        if (declined := self._declined_beforehand(turn)) is None:
            await self._sleep(self._bucket.take())
        return declined

    async def _ask(self, turn: Turn, tally: Tally) -> Answer[Any]:
        answer = await self.line.put(turn, beforehand=lambda: self._declined_beforehand(turn), call=tally)
        self._declines_all = self._declines_all or turn.declines_all
        # What was typed into a question that is withdrawn stays here.
        return Cancelled() if turn.gone is not None else fitting(turn.asked, answer)

    def _declined_beforehand(self, turn: Turn) -> Answer[Any] | None:
        if not self._declines_all:
            return None
        turn.by = ALL_DECLINED
        return Declined()

    async def note(self, asked: Asked, answer: Answer[Any], *, by: str, noted: Iterable[Noted] = ()) -> None:
        """Write down what came of a question, and where the person has agreed to go."""
        one = answered(asked, answer, by=by)
        for hear in (self.answered.append, *noted):
            hear(one)
        if self._sites is not None and isinstance(asked, VisitAsked) and isinstance(answer, Accepted):
            await remember_site(self._sites, self._server, asked.verdict.domain)
