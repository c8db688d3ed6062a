"""Where the questions of one server come in: read, judged, counted, paced, put in line, and noted."""

import time
from collections.abc import Iterable
from typing import Any

import anyio

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client.answer_check import check_answer
from askback.client.answered import AnswerRecord, OnAnswer, record_answer
from askback.client.call import Sleep
from askback.client.consent.shared import Sites, remember_site, sites_before
from askback.client.duplicates import DuplicateQuestions
from askback.client.limits import Clock, QuestionLimits, QuestionTally, TokenBucket
from askback.client.person import Asked, Asker, Turn, VisitAsked
from askback.client.person_queue import PersonQueue
from askback.client.reading import prepare_question
from askback.protocol.client.questions import IncomingQuestion, IncomingVisit

ALL_DECLINED = "declined all from this server"
"""On whose word an answer stands that nobody was shown the question of."""


class Intake:
    """One server's questions on their way to a line."""

    def __init__(
        self,
        line: PersonQueue,
        *,
        asker: Asker,
        limits: QuestionLimits,
        sites: Sites | None = None,
        clock: Clock = time.monotonic,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self.line, self.asker, self.limits = line, asker, limits
        self.answered: list[AnswerRecord] = []
        self.copies = DuplicateQuestions(clock)
        self._sites, self._sleep = sites, sleep
        self._bucket = TokenBucket(limits, clock)
        self._declines_all = False

    @property
    def _server(self) -> str:
        """Under what its visits are remembered: a label is a word that several servers may share."""
        return self.asker.identity or self.asker.label

    async def read(
        self, words: IncomingQuestion, *, purposes: tuple[str, ...], key: str | None = None
    ) -> Asked:
        """The question as this person can be shown it."""
        before: frozenset[str] | None = None
        if self._sites is not None and isinstance(words, IncomingVisit):
            before = await sites_before(self._sites, self._server)
        return prepare_question(words, asker=self.asker, purposes=purposes, key=key, before=before)

    async def put(self, turn: Turn, tally: QuestionTally, noted: Iterable[OnAnswer] = ()) -> Answer[Any]:
        """The person's answer, fitting and noted; raises where this server asks too much."""
        declined = await self.admit(turn, tally)
        answer = await self._ask(turn, tally) if declined is None else declined
        if turn.gone is None:
            await self.note(turn.asked, answer, by=turn.by, noted=noted)
        return answer

    async def admit(self, turn: Turn, tally: QuestionTally) -> Answer[Any] | None:
        """Count and pace what a person is to see; the answer, where they have said that they want to see no more."""
        turn.number = tally.count(turn.asked)
        if (declined := self._declined_beforehand(turn)) is None:
            await self._sleep(self._bucket.take())
        return declined

    async def _ask(self, turn: Turn, tally: QuestionTally) -> Answer[Any]:
        answer = await self.line.put(turn, beforehand=lambda: self._declined_beforehand(turn), call=tally)
        self._declines_all = self._declines_all or turn.declines_all
        # What was typed into a question that is withdrawn stays here.
        return Cancelled() if turn.gone is not None else check_answer(turn.asked, answer)

    def _declined_beforehand(self, turn: Turn) -> Answer[Any] | None:
        if not self._declines_all:
            return None
        turn.by = ALL_DECLINED
        return Declined()

    async def note(
        self, asked: Asked, answer: Answer[Any], *, by: str, noted: Iterable[OnAnswer] = ()
    ) -> None:
        """Write down what came of a question, and where the person has agreed to go."""
        one = record_answer(asked, answer, by=by)
        for hear in (self.answered.append, *noted):
            hear(one)
        if self._sites is not None and isinstance(asked, VisitAsked) and isinstance(answer, Accepted):
            await remember_site(self._sites, self._server, asked.verdict.domain)
