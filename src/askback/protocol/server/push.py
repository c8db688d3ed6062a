"""The push era: the question is a request to the client, and the body waits in its `await`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import anyio
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.exceptions import MCPError

from askback.errors import CannotAsk
from askback.model.events import CallEvent
from askback.model.journal import Arrival, LateReply
from askback.model.question import Visit
from askback.model.visit import Ending
from askback.protocol.elicitation import (
    ELICIT,
    ELICIT_COMPLETE,
    QUESTION_META_KEY,
    add_id,
    read_reply,
    render_question,
)
from askback.protocol.revisions import INSTEAD, NOUN, Era, Mode, Modes, Revision, cannot_show
from askback.protocol.server.events import describe_pushed_question
from askback.runtime.carrier import Carrier, Ended, OutgoingQuestion, Pause
from askback.runtime.event_log import EventLog

MAX_ERROR_TEXT = 200
"""How much of a client's own error text we repeat."""


class PendingQuestions:
    """The questions of one server that wait for an answer. A worker that stops closes them: nothing would reach it."""

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


class PushCarrier(Carrier):
    """Sends one question at a time, in the order they were asked."""

    grace = None
    comes_back = False
    waits: Callable[[], AbstractContextManager[None]] = nullcontext
    """Held for as long as a question is out."""

    def __init__(
        self,
        *,
        revision: Revision,
        modes: Modes,
        channel: DispatchContext[Any],
        question_id: Callable[[str, int], str],
        questions: PendingQuestions,
        think_time: float,
        events: EventLog | None = None,
    ) -> None:
        self._revision, self._modes, self._channel = revision, modes, channel
        self._questions, self._think_time = questions, think_time
        self._events = events
        self.question_id = question_id
        self._turn: anyio.Lock | None = None
        self._told: set[str] = set()

    async def deliver(self, questions: Sequence[OutgoingQuestion]) -> Mapping[str, Arrival]:
        first = questions[0]
        self._require(first.question.mode)
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
        if mode not in self._modes:
            raise cannot_show(mode, self._revision)

    async def _ask(self, outgoing: OutgoingQuestion) -> Arrival:
        params = self._params(outgoing)
        if self._events is not None:
            self._events.emit(describe_pushed_question(outgoing, params))
            await self._events.flush()  # not of the person's time
        if not self._questions.are_closed:
            # Nothing tells that a client is gone for good, so no question waits for ever.
            wait = self._questions.wait(self._think_time if outgoing.seconds is None else outgoing.seconds)
            try:
                with wait:
                    return await self._exchange(outgoing, params)
            finally:
                self._questions.end(wait)
        if self._questions.are_closed:
            raise self._stopped(outgoing)
        return LateReply()

    def _stopped(self, outgoing: OutgoingQuestion) -> CannotAsk:
        if self._events is not None:
            self._events.emit(_unanswered(outgoing, "the worker that asked was stopped"))
        return CannotAsk(
            mode=outgoing.question.mode,
            reason="The worker that asked is being stopped, and no answer would reach it any more.",
            advice="Call again: another worker will ask, or this server when it is back.",
        )

    async def _exchange(self, outgoing: OutgoingQuestion, params: Mapping[str, Any]) -> Arrival:
        try:
            return read_reply(await self._channel.send_raw_request(ELICIT, params))
        except MCPError as error:
            if self._events is not None:
                self._events.emit(_unanswered(outgoing, f"the client answered with error {error.code}"))
            raise _failed(error, outgoing.question.mode) from error

    def _params(self, outgoing: OutgoingQuestion) -> dict[str, Any]:
        question = outgoing.question
        params = render_question(question, outgoing.message, self._revision)
        if isinstance(question, Visit):
            params["elicitationId"] = question.id
        params["_meta"] = add_id(question.meta, outgoing.id, key=QUESTION_META_KEY)
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


def _unanswered(outgoing: OutgoingQuestion, reason: str) -> CallEvent:
    return CallEvent(event="refused", place=outgoing.place, question=outgoing.id, reason=reason)


def _failed(error: MCPError, mode: Mode) -> CannotAsk:
    text = error.message if len(error.message) <= MAX_ERROR_TEXT else error.message[:MAX_ERROR_TEXT] + "…"
    return CannotAsk(
        mode=mode,
        reason=f"The client declared {NOUN[mode]}s but answered the question with error {error.code} ({text!r}).",
        advice=f"Its author must mend that; {INSTEAD[mode]}",
    )
