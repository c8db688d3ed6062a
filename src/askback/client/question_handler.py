"""What a connection receives besides results, brought before the person: rounds, pushed questions, demanded visits."""

from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import anyio
import anyio.abc
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND

from askback.answers import Answer, Cancelled
from askback.client.call import ClientCall, LeftAtQuestions
from askback.client.duplicates import GivenAnswer
from askback.client.intake import Intake
from askback.client.limits import Sleep
from askback.client.person import Mode, Turn
from askback.client.question_flow import QuestionFlow
from askback.errors import NotUnderstood
from askback.protocol.client.dispatcher import Exchange
from askback.protocol.client.questions import (
    NOT_ANSWERED,
    NOT_PUSHED,
    UNDECLARED,
    UNREADABLE,
    IncomingQuestion,
    IncomingRound,
    mode_of,
    read_question,
)
from askback.protocol.revisions import NOUN

Delegate = Callable[[str, Any], Awaitable[Any]]
"""The reply to a request that no person is asked: sampling, roots."""

_CALL: ContextVar[ClientCall] = ContextVar("askback_client_call")
"""Which call a request belongs to: the SDK's session between us and the wire cannot carry it."""


class QuestionHandler(QuestionFlow):
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
        """`idle` owns what the server asks while no call is under way."""
        super().__init__(intake)
        self.modes: Collection[Mode] = frozenset()
        """What may be asked here; known once the revision is."""
        self.takes_pushed = True
        self.is_closed = False
        """Whether the connection has ended: nothing comes any more, and nothing can be asked for."""
        self._idle, self._tasks, self._delegate, self._sleep = idle, tasks, delegate, sleep
        self._calls: list[ClientCall] = []

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
        """The result that the rounds lead to. They are bounded in time, by `ClientCall.pause`, and not in number."""
        call = _CALL.get()
        first = params if call.resumed is None else call.resumed[0].answer_params(params, call.resumed[1])
        found = await self._send(call, exchange, first)
        while isinstance(found, IncomingRound):
            replies = await self._reply(call, found)
            await call.pause(self._sleep, has_asked=bool(replies))
            found = await self._send(call, exchange, found.answer_params(params, replies))
        return found

    async def _reply(self, call: ClientCall, asking: IncomingRound) -> dict[str, Any]:
        """All replies of a round, in its order. Callbacks come first: if one fails, a person has typed nothing."""
        found: dict[str, Any] = {}
        for key, request in asking.requests.items():
            if asking.question(key) is None:
                call.tally.count_request()
                with call.watch.person(), call.on_our_side():
                    found[key] = await self._delegate(key, request)
        if call.stops and len(found) < len(asking.requests):
            raise LeftAtQuestions(asking, found)
        # One after another: a person reads one question at a time (R70).
        return {
            key: found[key] if key in found else await self._reply_of_person(call, asking, key)
            for key in asking.requests
        }

    async def _reply_of_person(self, call: ClientCall, asking: IncomingRound, key: str) -> dict[str, Any]:
        words = asking.question(key)
        assert words is not None
        turn = Turn(await self._intake.read(words, purposes=(call.purpose,), key=key))
        with self._intake.line.behind(call.tally, asking.questions_after(key)):
            given = await self._intake.copies.once(words, partial(self._answer, call, turn), calls=(call,))
        return given.reply()

    async def pushed(self, params: Any, withdrawn: anyio.Event) -> dict[str, Any]:
        if not self.takes_pushed:
            raise MCPError(METHOD_NOT_FOUND, NOT_PUSHED)
        try:
            words = read_question(params)
        except NotUnderstood as error:
            raise MCPError(INVALID_PARAMS, UNREADABLE) from error
        if mode_of(words) not in self.modes:
            raise MCPError(INVALID_PARAMS, UNDECLARED)
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
        """The answer for the `calls` that have not ended while this question waited; if all have, it is not shown."""
        async with self._next_of(calls[-1]):
            if not (waiting := _under_way(calls)):
                return GivenAnswer(Cancelled())
            turn = Turn(await self._intake.read(words, purposes=tuple(call.purpose for call in waiting)))
            newest, *others = reversed(waiting)
            return GivenAnswer(await self._put(newest, turn, withdrawn=withdrawn, beside=others), turn)

    def finished(self, id: str) -> None:
        self._completions.finish(id)

    def heard(self) -> None:
        for call in self._calls:
            call.watch.touch()

    def closed(self) -> None:
        self.is_closed = True
        self._completions.close()
        for call in (*self._calls, self._idle):
            call.withdraw_all()

    def abandon(self) -> None:
        """The program that made the calls has left the connection."""
        for call in (*self._calls, self._idle):
            call.abandon()

    async def _send(
        self, call: ClientCall, exchange: Exchange, params: Mapping[str, Any]
    ) -> dict[str, Any] | IncomingRound:
        """The server's result or round. A round is checked as a whole before the first question is put: nobody is to
        type into a round that cannot be answered (R51)."""
        once = partial(exchange, params, call.report_progress)
        makes_visits = "url" in self.modes and not call.stops
        found = await (self._call_after_visits(call, once) if makes_visits else once())
        if isinstance(found, IncomingRound):
            for words in [found.question(key) for key in found.requests]:
                if words is not None and mode_of(words) not in self.modes:
                    noun = NOUN[mode_of(words)]
                    raise NotUnderstood(f"it asked for a {noun}, which this client did not declare")
        return found

    async def _put(
        self,
        call: ClientCall,
        turn: Turn,
        *,
        withdrawn: anyio.Event | None = None,
        beside: Collection[ClientCall] = (),
    ) -> Answer[Any]:
        put = partial(self._intake.put, noted=[one.noted for one in (call, *beside)])
        return await call.ask(turn, put, self._tasks, withdrawn=withdrawn, beside=beside)


def _under_way(calls: Iterable[ClientCall]) -> list[ClientCall]:
    """Without calls whose result is there and that only wait until the person has left a question."""
    return [call for call in calls if not call.is_over]
