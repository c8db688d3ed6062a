"""The push era: the question is a request to the client, and the body waits in its `await`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import anyio
from mcp.shared.exceptions import MCPError

from askback.errors import CannotAsk
from askback.model.events import CallEvent, EventRecorder
from askback.model.journal import Arrival, LateReply
from askback.model.question import Question, Visit
from askback.model.visit import Ending
from askback.protocol.elicitation import ELICIT, ELICIT_COMPLETE
from askback.protocol.question_ids import QUESTION_META_KEY, add_id
from askback.protocol.replies import read_reply
from askback.protocol.revisions import INSTEAD, NOUN, CanShow, Era, Mode, Revision, require_mode
from askback.protocol.server.question_events import describe_pushed_question
from askback.runtime.carrier import Ended, OutgoingQuestion, Pause
from askback.schema.dialect import render

MAX_ERROR_TEXT = 200
"""How much of a client's own error text we repeat."""


class BackChannel(Protocol):
    """The way back to the client that made the call."""

    @property
    def can_send_request(self) -> bool: ...

    async def send_raw_request(self, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]: ...

    async def notify(self, method: str, params: Mapping[str, Any] | None) -> None: ...

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Nothing where the client did not ask to hear of it."""
        ...


class PendingQuestions:
    """Those of one server that are out. A worker that ends closes them: nobody could answer them any more."""

    def __init__(self) -> None:
        self.are_closed = False
        self._waits: set[anyio.CancelScope] = set()

    def close(self) -> None:
        """End each in its body, and let no other go out. May repeat."""
        self.are_closed = True
        for wait in self._waits:
            wait.cancel()

    def open(self) -> None:
        self.are_closed = False

    def wait(self, seconds: float) -> anyio.CancelScope:
        """Ends what runs in it after so many seconds, and when these are closed. Hand it back with `end`."""
        wait = anyio.CancelScope(deadline=anyio.current_time() + seconds)
        self._waits.add(wait)
        return wait

    def end(self, wait: anyio.CancelScope) -> None:
        self._waits.discard(wait)


class PushCarrier:
    """Sends one question at a time, in the order they were asked."""

    grace: float | None = None
    comes_back = False
    waits: Callable[[], AbstractContextManager[None]] = nullcontext
    """Held for as long as a question is out."""

    def __init__(
        self,
        *,
        revision: Revision,
        can_show: CanShow,
        channel: BackChannel,
        questions: PendingQuestions,
        think_time: float,
        witness: EventRecorder | None = None,
    ) -> None:
        self._revision, self._can_show, self._channel = revision, can_show, channel
        self._questions, self._think_time = questions, think_time
        self._witness = witness
        self._turn: anyio.Lock | None = None
        self._told: set[str] = set()

    async def deliver(self, showings: Sequence[OutgoingQuestion]) -> Mapping[str, Arrival]:
        first = showings[0]
        self._require(mode_of(first.question))
        self._turn = self._turn or anyio.Lock(fast_acquire=True)
        async with self._turn:
            with self.waits():
                return {first.place: await self._ask(first)}

    def require_visits(self) -> None:
        self._require("url")

    async def end_of(self, id: str, ended: Ended, *, seconds: float) -> Ending | Pause:
        ending = await ended(seconds)
        if ending is None:
            return Pause.TIME_OVER
        if id not in self._told:  # a body that runs again meets the same end again
            self._told.add(id)
            await self._channel.notify(ELICIT_COMPLETE, {"elicitationId": id})
        return ending

    def _require(self, mode: Mode) -> None:
        if self._revision.era is not Era.SILENT:
            self._require_channel(mode)
        require_mode(mode, self._revision, self._can_show)

    async def _ask(self, showing: OutgoingQuestion) -> Arrival:
        params = self._params(showing)
        if self._witness is not None:
            self._witness.emit(describe_pushed_question(showing, params))
            await self._witness.flush()  # not of the person's time
        if not self._questions.are_closed:
            # Nothing tells that a client is gone for good, so no question waits for ever.
            wait = self._questions.wait(self._think_time if showing.seconds is None else showing.seconds)
            try:
                with wait:
                    return await self._exchange(showing, params)
            finally:
                self._questions.end(wait)
        if self._questions.are_closed:
            raise self._stopped(showing)
        return LateReply()

    def _stopped(self, showing: OutgoingQuestion) -> CannotAsk:
        if self._witness is not None:
            self._witness.emit(_unanswered(showing, "the worker that asked was stopped"))
        return CannotAsk(
            mode=mode_of(showing.question),
            reason="The worker that asked is being stopped, and no answer would reach it any more.",
            advice="Call again: another worker will ask, or this server when it is back.",
        )

    async def _exchange(self, showing: OutgoingQuestion, params: Mapping[str, Any]) -> Arrival:
        try:
            return read_reply(await self._channel.send_raw_request(ELICIT, params))
        except MCPError as error:
            if self._witness is not None:
                self._witness.emit(_unanswered(showing, f"the client answered with error {error.code}"))
            raise _failed(error, mode_of(showing.question)) from error

    def _params(self, showing: OutgoingQuestion) -> dict[str, Any]:
        question = showing.question
        params = render_question(question, showing.message, self._revision)
        if isinstance(question, Visit):
            params["elicitationId"] = question.id
        params["_meta"] = add_id(question.meta, showing.id, key=QUESTION_META_KEY)
        return params

    def _require_channel(self, mode: Mode) -> None:
        if not self._channel.can_send_request:
            raise CannotAsk(
                mode=mode,
                reason="This connection has no way back to the client: on the 2025 revisions, stateless HTTP and "
                "JSON responses carry no questions.",
                advice="Serve these clients with sessions and event streams, or let them speak 2026-07-28; "
                f"{INSTEAD[mode]}",
            )


def render_question(question: Question, message: str, revision: Revision) -> dict[str, Any]:
    """The question in the words that this revision has for it."""
    if isinstance(question, Visit):
        return {"mode": "url", "message": message, "url": question.url}
    params: dict[str, Any] = {"mode": "form"} if revision.says_mode else {}
    params["message"] = message
    params["requestedSchema"] = render(question.fieldset, revision.dialect)
    return params


def mode_of(question: Question) -> Mode:
    """What a client must be able to show for this."""
    return "url" if isinstance(question, Visit) else "form"


def _unanswered(showing: OutgoingQuestion, reason: str) -> CallEvent:
    return CallEvent(event="refused", place=showing.place, question=showing.id, reason=reason)


def _failed(error: MCPError, mode: Mode) -> CannotAsk:
    text = error.message if len(error.message) <= MAX_ERROR_TEXT else error.message[:MAX_ERROR_TEXT] + "…"
    return CannotAsk(
        mode=mode,
        reason=f"The client declared {NOUN[mode]}s but answered the question with error {error.code} ({text!r}).",
        advice=f"Its author must mend that; {INSTEAD[mode]}",
    )
