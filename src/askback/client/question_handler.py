"""How questions of a server reach the person: of rounds, pushed ones, visits that a call demands."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Generator, Iterable, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import anyio.abc
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client.call import ClientCall, LeftAtQuestions
from askback.client.intake import GivenAnswer, Intake
from askback.client.labels import MAX_REPEATED_LENGTH
from askback.client.limits import Sleep
from askback.client.person import Mode, Turn, VisitAsked, VisitReply
from askback.errors import NotUnderstood, NotVisited, PeerError
from askback.protocol.client import (
    NOT_ANSWERED,
    NOT_PUSHED,
    UNDECLARED,
    UNREADABLE,
    Exchange,
    IncomingQuestion,
    IncomingRound,
    IncomingVisit,
    mode_of,
    read_demanded_visits,
    read_question,
)
from askback.protocol.revisions import NOUN

T = TypeVar("T")

ANSWERS: dict[VisitReply, Answer[Any] | None] = {"done": Accepted(None), "cancel": Cancelled(), "again": None}
"""What the server gets for a person's word on a visit that it asks for once more; None: they are asked once more."""


class VisitCompletions:
    """The visits that are waited for, until the server says that they are finished (R80)."""

    def __init__(self) -> None:
        self._awaited: dict[anyio.Event, str | None] = {}
        self._is_closed = False

    @contextmanager
    def expect(self, id: str | None) -> Generator[anyio.Event]:
        """The event that is set when this visit is finished. Without an id, no notification can mean the visit."""
        finished = anyio.Event()
        self._awaited[finished] = id
        if self._is_closed:
            finished.set()
        try:
            yield finished
        finally:
            del self._awaited[finished]

    def finish(self, id: str) -> None:
        """Ids that nothing waits for, unknown or long finished, are ignored."""
        for finished, awaited in self._awaited.items():
            if awaited == id:
                finished.set()

    def close(self) -> None:
        """The connection has ended: who waits, now or later, finds out how the visit went by calling again."""
        self._is_closed = True
        for finished in self._awaited:
            finished.set()


class QuestionFlow(ABC):
    """The questions of one server, for a driver's connection or for the callbacks of a client by others."""

    def __init__(self, intake: Intake) -> None:
        self._intake, self.completions = intake, VisitCompletions()

    @abstractmethod
    async def _put(self, call: ClientCall, turn: Turn) -> Answer[Any]:
        """Let the person answer."""

    async def _answer(self, call: ClientCall, turn: Turn) -> GivenAnswer:
        """The answer to a question of a round. A link that was opened in this call is not opened again: the server
        asks whether the person is done there, and so do we."""
        answer: Answer[Any] | None = None
        if isinstance(turn.asked, VisitAsked) and turn.asked.url in call.consented:
            answer = await self._ask_if_done(call, turn, turn.asked)
        return GivenAnswer(await self._ask(call, turn) if answer is None else answer, turn)

    async def _ask_if_done(self, call: ClientCall, turn: Turn, asked: VisitAsked) -> Answer[Any] | None:
        with call.watch.person():
            answer = await self._intake.admit(turn, call.tally)
            if answer is None:
                with self.completions.expect(asked.id) as finished:
                    answer = ANSWERS[await self._wait(call, asked, finished)]
        if answer is not None:
            with call.on_our_side():
                await self._intake.note(asked, answer, by=turn.by, noted=[call.noted])
        return answer

    async def _ask(self, call: ClientCall, turn: Turn) -> Answer[Any]:
        answer = await self._put(call, turn)
        if isinstance(turn.asked, VisitAsked) and isinstance(answer, Accepted):
            call.consented.add(turn.asked.url)
        return answer

    async def _wait(self, call: ClientCall, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        with call.watch.person(), call.on_our_side():
            word = await self._intake.line.wait(asked, finished)
        if word == "again":
            call.tally.forgive(asked)
        return word

    @asynccontextmanager
    async def _next_of(self, call: ClientCall) -> AsyncGenerator[None]:
        """Questions of one call come one after another; the person sees how many wait."""
        with self._intake.line.behind(call.tally):
            await call.lock.acquire()
        try:
            yield
        finally:
            call.lock.release()

    async def _call_after_visits(self, call: ClientCall, send: Callable[[], Awaitable[T]]) -> T:
        """The result of `send`. Each time the server demands visits first, the person makes them."""
        demands = 0
        while True:
            try:
                return await send()
            except MCPError as error:
                visits, demands = read_demanded_visits(error), demands + 1
                if visits is None:
                    raise
                if demands > self._intake.limits.visits:
                    raise PeerError(
                        f"The server demanded visits {demands} times for one call and was never content. "
                        "Its author must look at how it learns that a visit is finished."
                    ) from error
            with ExitStack() as stack:
                # Before anything is opened: a quick visit is finished before it is waited for.
                expected = [stack.enter_context(self.completions.expect(visit.id)) for visit in visits]
                for visit, finished in zip(visits, expected, strict=True):
                    await self._make_visit(call, visit, finished)

    async def _make_visit(self, call: ClientCall, visit: IncomingVisit, finished: anyio.Event) -> None:
        word: VisitReply = "again"
        while word == "again":
            asked = await self._intake.read(visit, purposes=(call.purpose,))
            assert isinstance(asked, VisitAsked)
            turn = Turn(replace(asked, is_demanded=True))
            async with self._next_of(call):
                answer = await self._ask(call, turn)
            if turn.gone is not None:
                return  # the server went away: what it wants is found out by calling again
            match answer:
                case Accepted():
                    word = await self._wait(call, asked, finished)
                case Declined():
                    raise _not_visited(visit, "they declined")
                case Cancelled():
                    raise _not_visited(visit, "they closed the question without a choice")
        if word == "cancel":
            raise _not_visited(visit, "they gave up waiting for it")


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
        delegate: Callable[[str, Any], Awaitable[Any]],
        sleep: Sleep,
    ) -> None:
        """`idle` owns what the server asks while no call is under way; `delegate` answers for roots and models."""
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

    async def answer_pushed(self, params: Any, withdrawn: anyio.Event) -> dict[str, Any]:
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

    def note_sign_of_life(self) -> None:
        for call in self._calls:
            call.watch.touch()

    def close(self) -> None:
        self.is_closed = True
        self.completions.close()
        for call in (*self._calls, self._idle):
            call.withdraw_all()

    def abandon(self) -> None:
        """The program that made the calls has left the connection."""
        for call in (*self._calls, self._idle):
            call.abandon()

    async def _send(
        self, call: ClientCall, exchange: Exchange, params: Mapping[str, Any]
    ) -> dict[str, Any] | IncomingRound:
        """The server's result or round. A round is checked as a whole before the first question is put: no person
        types into a round that cannot be answered (R51)."""
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


def _not_visited(visit: IncomingVisit, why: str) -> NotVisited:
    return NotVisited(message=visit.message[:MAX_REPEATED_LENGTH], why=why)
