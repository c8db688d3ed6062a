"""What a connection hears besides its results, brought before the person: rounds, pushed questions, demanded visits."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Generator, Iterable, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import anyio.abc
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND

from askback.answers import Accepted, Answer, Cancelled
from askback.client.call import ClientCall
from askback.client.demanded_visits import DemandedVisits, VisitCompletions
from askback.client.duplicates import GivenAnswer
from askback.client.intake import Intake
from askback.client.limits import Sleep
from askback.client.person import Mode, Turn, VisitAsked, VisitReply
from askback.errors import NotUnderstood
from askback.protocol.client.dispatcher import Exchange
from askback.protocol.client.questions import (
    NOT_ANSWERED,
    NOT_PUSHED,
    UNDECLARED,
    UNREADABLE,
    IncomingQuestion,
    IncomingRound,
    IncomingVisit,
    mode_of,
    read_question,
)
from askback.protocol.revisions import NOUN

Delegate = Callable[[str, Any], Awaitable[Any]]
"""The reply to a request that no person is asked: sampling, roots."""

_CALL: ContextVar[ClientCall] = ContextVar("askback_client_call")
"""Whose request this is: the session between us and the wire has no room to say so."""

MEANS: dict[VisitReply, Answer[Any] | None] = {"done": Accepted(None), "cancel": Cancelled(), "again": None}
"""What the server hears of a person's word on a visit that it asks for once more; nothing yet where they open it."""


class QuestionHandler:
    """The listener of one connection: several calls may be under way, and one person answers."""

    def __init__(
        self,
        intake: Intake,
        idle: ClientCall,
        *,
        tasks: anyio.abc.TaskGroup,
        delegate: Delegate,
        sleep: Sleep,
    ) -> None:
        self.modes: Collection[Mode] = frozenset()
        """What may be asked here; known once the revision is."""
        self.takes_pushed = True
        self.is_closed = False
        """Whether the connection has ended: nothing comes any more, and nothing can be asked for."""
        self._intake, self._idle, self._tasks = intake, idle, tasks
        self._delegate, self._sleep = delegate, sleep
        self._calls: list[ClientCall] = []
        self._finishing = VisitCompletions()

    @contextmanager
    def making(self, call: ClientCall) -> Generator[None]:
        """For as long as the block runs, requests of this task belong to `call`."""
        token = _CALL.set(call)
        self._calls.append(call)
        try:
            yield
        finally:
            self._calls.remove(call)
            _CALL.reset(token)

    async def converse(self, params: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
        call = _CALL.get()
        return await call.way(
            params,
            send=partial(self._send, call, exchange),
            fulfil=partial(self._fulfil, call),
            again=partial(call.again, self._sleep),
        )

    async def pushed(self, params: Any, withdrawn: anyio.Event) -> dict[str, Any]:
        if not self.takes_pushed:
            raise MCPError(METHOD_NOT_FOUND, NOT_PUSHED)
        words = self._readable(params)
        calls = _under_way(self._calls) or [self._idle]
        # The wire does not say which of several calls asks: none of them is to run out of time.
        with ExitStack() as stack:
            for call in calls:
                stack.enter_context(call.watch.person())
            try:
                ask = partial(self._ask_in_turn, calls, words, withdrawn)
                return (await self._intake.copies.once(words, ask, calls=calls)).reply()
            except Exception as error:
                for call in calls:
                    call.fail(error)
                raise MCPError(INTERNAL_ERROR, NOT_ANSWERED) from error

    async def _ask_in_turn(
        self, calls: list[ClientCall], words: IncomingQuestion, withdrawn: anyio.Event
    ) -> GivenAnswer:
        """For those of `calls` that have not ended while this question waited; for none, nobody is shown it."""
        async with self._next_of(calls[-1]):
            if not (waiting := _under_way(calls)):
                return GivenAnswer(Cancelled())
            turn = Turn(await self._intake.read(words, purposes=tuple(call.purpose for call in waiting)))
            newest, *others = reversed(waiting)
            return GivenAnswer(await self._ask(newest, turn, withdrawn=withdrawn, beside=others), turn)

    def finished(self, name: str) -> None:
        self._finishing.finished(name)

    def heard(self) -> None:
        for call in self._calls:
            call.watch.touch()

    def closed(self) -> None:
        self.is_closed = True
        self._finishing.closed()
        for call in (*self._calls, self._idle):
            call.withdraw_all()

    def abandon(self) -> None:
        """Whoever made the calls has left."""
        for call in (*self._calls, self._idle):
            call.abandon()

    def _readable(self, params: Any) -> IncomingQuestion:
        try:
            words = read_question(params)
        except NotUnderstood as error:
            raise MCPError(INVALID_PARAMS, UNREADABLE) from error
        if mode_of(words) not in self.modes:
            raise MCPError(INVALID_PARAMS, UNDECLARED)
        return words

    async def _send(
        self, call: ClientCall, exchange: Exchange, params: Mapping[str, Any]
    ) -> dict[str, Any] | IncomingRound:
        """What the server says to this; a round in it is known to be readable, and declared, as a whole."""
        once = partial(exchange, params, call.progressed)
        visits = "url" in self.modes and not call.is_left_at_questions
        found = await (self._demands(call).through(once) if visits else once())
        if isinstance(found, IncomingRound):
            self._require_declared(found)
        return found

    def _demands(self, call: ClientCall) -> DemandedVisits:
        return DemandedVisits(
            ask=partial(self._ask_visit, call),
            wait=partial(self._wait, call),
            finishing=self._finishing,
            most=self._intake.limits.visits,
        )

    def _require_declared(self, asking: IncomingRound) -> None:
        """Every question, before the first is put: nobody is to type into a round that cannot be answered (R51)."""
        for words in [asking.question(key) for key in asking.requests]:
            if words is not None and mode_of(words) not in self.modes:
                raise NotUnderstood(
                    f"it asked for a {NOUN[mode_of(words)]}, which this client did not declare"
                )

    async def _fulfil(self, call: ClientCall, asking: IncomingRound, key: str) -> Any:
        words = asking.question(key)
        if words is None:
            call.tally.count_request()
            with call.watch.person(), call.on_our_side():
                return await self._delegate(key, asking.requests[key])
        asked = await self._intake.read(words, purposes=(call.purpose,), key=key)
        with self._intake.line.behind(call.tally, asking.questions_after(key)):
            ask = partial(self._answered, call, Turn(asked))
            return (await self._intake.copies.once(words, ask, calls=(call,))).reply()

    async def _answered(self, call: ClientCall, turn: Turn) -> GivenAnswer:
        answer = await self._visited(call, turn)
        return GivenAnswer(await self._ask(call, turn) if answer is None else answer, turn)

    async def _visited(self, call: ClientCall, turn: Turn) -> Answer[Any] | None:
        """A link that was opened in this call comes again: the server asks whether it is done yet, and so do we."""
        asked = turn.asked
        if not isinstance(asked, VisitAsked) or asked.url not in call.consented:
            return None
        with call.watch.person():
            declined = await self._intake.admit(turn, call.tally)
            answer = await self._said(call, asked) if declined is None else declined
        if answer is not None:
            with call.on_our_side():
                await self._intake.note(asked, answer, by=turn.by, noted=[call.noted])
        return answer

    async def _said(self, call: ClientCall, asked: VisitAsked) -> Answer[Any] | None:
        with self._finishing.expecting(asked.id) as finished:
            return MEANS[await self._wait(call, asked, finished)]

    @asynccontextmanager
    async def _next_of(self, call: ClientCall) -> AsyncGenerator[None]:
        """One after another; whoever is asked meanwhile sees how many wait."""
        with self._intake.line.behind(call.tally):
            await call.turn.acquire()
        try:
            yield
        finally:
            call.turn.release()

    async def _ask_visit(
        self, call: ClientCall, words: IncomingVisit
    ) -> tuple[VisitAsked, Answer[Any] | None]:
        asked = await self._intake.read(words, purposes=(call.purpose,))
        assert isinstance(asked, VisitAsked)
        turn = Turn(replace(asked, is_demanded=True))
        async with self._next_of(call):
            answer = await self._ask(call, turn)
        return asked, answer if turn.gone is None else None

    async def _ask(
        self,
        call: ClientCall,
        turn: Turn,
        *,
        withdrawn: anyio.Event | None = None,
        beside: Collection[ClientCall] = (),
    ) -> Answer[Any]:
        put = partial(self._intake.put, noted=[one.noted for one in (call, *beside)])
        answer = await call.ask(turn, put, self._tasks, withdrawn=withdrawn, beside=beside)
        if isinstance(turn.asked, VisitAsked) and isinstance(answer, Accepted):
            call.consented.add(turn.asked.url)
        return answer

    async def _wait(self, call: ClientCall, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        with call.watch.person(), call.on_our_side():
            word = await self._intake.line.wait(asked, finished)
        if word == "again":
            call.tally.forgive(asked)
        return word


def _under_way(calls: Iterable[ClientCall]) -> list[ClientCall]:
    """Without those whose result is there and that only wait until the person has left a question."""
    return [call for call in calls if not call.is_over]
