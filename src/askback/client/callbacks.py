"""Callbacks for hosts that keep a client of their own: the SDK's `Client`, or FastMCP's."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar, cast

from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ElicitCompleteNotification,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
)

from askback.answers import Answer
from askback.client.call import ClientCall
from askback.client.consent import Sites
from askback.client.intake import Intake
from askback.client.limits import LIMITS, QuestionLimits, QuestionTally
from askback.client.person import AnswerRecord, Asker, Person, PersonQueue, Turn
from askback.client.question_handler import QuestionFlow
from askback.errors import AskbackError
from askback.protocol.client import (
    NOT_ANSWERED,
    UNDECLARED,
    mode_of,
    read_question,
)

T = TypeVar("T")

_VISITING: ContextVar[tuple["ElicitationCallbacks", ClientCall]] = ContextVar("askback_client_visiting")
"""Which callbacks make a call in `visiting`, and the call. In rounds a client calls back from tasks of that call, where
this is set; in the push era it calls back from a task of the connection, where it is not."""


class ElicitationCallbacks(QuestionFlow):
    """One server's questions for a client that somebody else made; give its methods where the client takes them.

    answers = ElicitationCallbacks(TerminalPerson(), label="pizzeria")
    async with Client(url, elicitation_callback=answers.sdk, message_handler=answers.notice) as client:
        result = await answers.visiting(lambda: client.call_tool("order", {"pizza": "Margherita"}))

    These clients always declare forms and links; a question that the person cannot be shown is refused. The callback
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
            person: who answers; a `PersonQueue` where several clients share one person.
            label: what the person calls this server.
            host: the host of its address, where it has one.
            purpose: what the questions are for, in your own words.
            limits: what the person is spared. Without a driver nobody sees where a call ends, so its caps are for
                the connection.
            sites: where this person's visits are remembered.
        """
        line = person if isinstance(person, PersonQueue) else PersonQueue(person)
        super().__init__(Intake(line, asker=Asker(label=label, host=host), limits=limits, sites=sites))
        self._purpose, self._tally = purpose, QuestionTally(limits)

    @property
    def answered(self) -> list[AnswerRecord]:
        """Every question so far that got an answer, in order, and on whose word it stands."""
        return self._intake.answered

    async def sdk(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        """For the SDK: `Client(..., elicitation_callback=answers.sdk)`."""
        words = read_question(params.model_dump(by_alias=True, exclude_none=True))
        if mode_of(words) not in self._intake.line.modes:
            return ErrorData(code=INVALID_PARAMS, message=UNDECLARED)
        callbacks, call = _VISITING.get((None, None))
        if call is None or callbacks is not self:
            call = self._new_call()
        try:
            turn = Turn(await self._intake.read(words, purposes=(self._purpose,)))
            given = await self._intake.copies.once(words, partial(self._answer, call, turn))
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
            self.completions.finish(message.params.elicitation_id)

    async def visiting(self, make: Callable[[], Awaitable[T]]) -> T:
        """Make a call; where the server demands visits first, let the person make them and call again.

        Inside `visiting`, a link that comes back in a later round is waited for, and not opened a second time.
        """
        if "url" not in self._intake.line.modes:
            return await make()
        call = self._new_call()
        token = _VISITING.set((self, call))
        try:
            return await self._call_after_visits(call, make)
        finally:
            _VISITING.reset(token)

    def _new_call(self) -> ClientCall:
        return ClientCall(self._purpose, limits=self._intake.limits, tally=self._tally)

    async def _put(self, call: ClientCall, turn: Turn) -> Answer[Any]:
        return await self._intake.put(turn, call.tally)
