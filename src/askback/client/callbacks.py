"""For hosts that keep a client of their own: the SDK's `Client`, or FastMCP's. The same person, the same care."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

import anyio
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ElicitCompleteNotification,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
)

from askback.answers import Accepted, Answer
from askback.client.consent import Sites
from askback.client.demanded_visits import DemandedVisits, VisitCompletions
from askback.client.duplicates import GivenAnswer
from askback.client.intake import Intake
from askback.client.limits import LIMITS, QuestionLimits, QuestionTally
from askback.client.person import AnswerRecord, Asked, Asker, Person, Turn, VisitAsked, VisitReply
from askback.client.person_queue import PersonQueue
from askback.client.question_handler import MEANS
from askback.errors import AskbackError
from askback.protocol.client.questions import (
    NOT_ANSWERED,
    UNDECLARED,
    IncomingForm,
    IncomingQuestion,
    IncomingVisit,
    mode_of,
    without_id,
)

T = TypeVar("T")

_OPENED: ContextVar[tuple["ElicitationCallbacks", set[str]]] = ContextVar("askback_client_opened")
"""Who makes a call in `visiting`, and the links that were opened in it. In rounds a client calls back from tasks of
that call and says nothing else about it; on the push era it does so from a task of the connection, without this."""


class ElicitationCallbacks:
    """One server's questions for a client that somebody else made; give its methods where the client takes them.

    answers = Answering(TerminalPerson(), label="pizzeria")
    async with Client(url, elicitation_callback=answers.sdk, message_handler=answers.notice) as client:
        result = await answers.visiting(lambda: client.call_tool("order", {"pizza": "Margherita"}))

    These clients declare forms and links whatever the person can be shown; what they cannot is refused. The callback
    ends with its connection, and what a person was typing then goes with it: a `Driver` waits until they leave.
    """

    def __init__(
        self,
        person: Person | PersonQueue,
        *,
        label: str,
        host: str | None = None,
        purpose: str = "this connection",
        limits: QuestionLimits = LIMITS,
        sites: Sites | None = None,
    ) -> None:
        """
        Args:
            person: who answers; a `Line` where several clients share one person.
            label: what the person calls this server.
            host: the host of its address, where it has one.
            purpose: what the questions are for, in your own words.
            limits: what the person is spared. Without a driver nobody sees where a call ends, so its caps are for
                the connection.
            sites: where this person's visits are remembered.
        """
        line = person if isinstance(person, PersonQueue) else PersonQueue(person)
        self._intake = Intake(line, asker=Asker(label=label, host=host), limits=limits, sites=sites)
        self._purpose, self._limits = purpose, limits
        self._tally, self._finishing = QuestionTally(limits), VisitCompletions()

    @property
    def answered(self) -> list[AnswerRecord]:
        """Every question so far that got an answer, in order, and on whose word it stands."""
        return self._intake.answered

    async def sdk(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        """For the SDK: `Client(..., elicitation_callback=answers.sdk)`."""
        words = _words(params)
        if mode_of(words) not in self._intake.line.modes:
            return ErrorData(code=INVALID_PARAMS, message=UNDECLARED)
        try:
            given = await self._intake.copies.once(words, partial(self._answered, words))
        except AskbackError:
            return ErrorData(code=INTERNAL_ERROR, message=NOT_ANSWERED)
        return ElicitResult.model_validate(given.reply())

    async def fastmcp(
        self, message: str, response_type: Any, params: ElicitRequestParams, context: Any
    ) -> ElicitResult:
        """For FastMCP: `Client(..., elicitation_handler=answers.fastmcp)`. What it raises becomes the error."""
        # FastMCP before 4.1 takes any other result for the content of a yes, also a no. It calls us, so it is there.
        from fastmcp.client.elicitation import ElicitResult as OwnResult

        reply = await self.sdk(cast("ClientRequestContext", context), params)
        if isinstance(reply, ErrorData):
            raise AskbackError(reply.message)
        return OwnResult[Any].model_validate(reply.model_dump(by_alias=True, exclude_none=True))

    async def notice(self, message: IncomingMessage) -> None:
        """For both: `Client(..., message_handler=answers.notice)`. Hears that a visit is finished."""
        if isinstance(message, ElicitCompleteNotification):
            self._finishing.finished(message.params.elicitation_id)

    async def visiting(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call; where the server demands visits first, let the person make them and call again.

        In here a link that comes back in a later round is waited for, and not consented to and opened anew.
        """
        if "url" not in self._intake.line.modes:
            return await call()
        demands = DemandedVisits(
            ask=self._ask_visit, wait=self._wait, finishing=self._finishing, most=self._limits.visits
        )
        token = _OPENED.set((self, set()))
        try:
            return await demands.through(call)
        finally:
            _OPENED.reset(token)

    @property
    def _opened(self) -> set[str]:
        """Of the call that this is part of; of none, where that is not known."""
        caller, opened = _OPENED.get((None, set[str]()))
        return opened if caller is self else set()

    async def _read(self, words: IncomingQuestion) -> Asked:
        return await self._intake.read(words, purposes=(self._purpose,))

    async def _answered(self, words: IncomingQuestion) -> GivenAnswer:
        turn = Turn(await self._read(words))
        answer = await self._visited(turn)
        return GivenAnswer(await self._ask(turn) if answer is None else answer, turn)

    async def _visited(self, turn: Turn) -> Answer[Any] | None:
        """A link that was opened in this call comes again: the server asks whether it is done yet, and so do we."""
        asked = turn.asked
        if not isinstance(asked, VisitAsked) or asked.url not in self._opened:
            return None
        declined = await self._intake.admit(turn, self._tally)
        answer = await self._said(asked) if declined is None else declined
        if answer is not None:
            await self._intake.note(asked, answer, by=turn.by)
        return answer

    async def _said(self, asked: VisitAsked) -> Answer[Any] | None:
        with self._finishing.expecting(asked.id) as finished:
            return MEANS[await self._wait(asked, finished)]

    async def _ask(self, turn: Turn) -> Answer[Any]:
        answer, asked = await self._intake.put(turn, self._tally), turn.asked
        if isinstance(asked, VisitAsked) and isinstance(answer, Accepted):
            self._opened.add(asked.url)
        return answer

    async def _ask_visit(self, words: IncomingVisit) -> tuple[VisitAsked, Answer[Any]]:
        asked = await self._read(words)
        assert isinstance(asked, VisitAsked)
        return asked, await self._ask(Turn(replace(asked, is_demanded=True)))

    async def _wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        word = await self._intake.line.wait(asked, finished)
        if word == "again":
            self._tally.forgive(asked)
        return word


def _words(params: ElicitRequestParams) -> IncomingQuestion:
    meta, question = without_id(dict(params.meta) if params.meta else None)
    if isinstance(params, ElicitRequestFormParams):
        schema = params.requested_schema
        return IncomingForm(message=params.message, schema=schema, meta=meta, question=question)
    id = params.elicitation_id
    return IncomingVisit(message=params.message, url=params.url, id=id, meta=meta, question=question)
