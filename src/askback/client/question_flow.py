"""How a question of a server reaches the person: also a link that was opened before, and links that a call demands."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import anyio
from mcp.shared.exceptions import MCPError

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client.call import ClientCall
from askback.client.duplicates import GivenAnswer
from askback.client.intake import Intake
from askback.client.labels import MAX_REPEATED_LENGTH
from askback.client.person import Turn, VisitAsked, VisitReply
from askback.errors import NotVisited, PeerError
from askback.protocol.client.questions import IncomingVisit, read_demanded_visits

T = TypeVar("T")

ANSWERS: dict[VisitReply, Answer[Any] | None] = {"done": Accepted(None), "cancel": Cancelled(), "again": None}
"""What the server gets for a person's word on a visit that it asks for once more; None: they are asked anew."""


class VisitCompletions:
    """The visits that are waited for, until the server says that they are finished (R80)."""

    def __init__(self) -> None:
        self._awaited: dict[anyio.Event, str | None] = {}
        self._is_closed = False

    @contextmanager
    def expecting(self, id: str | None) -> Generator[anyio.Event]:
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
        self._intake, self._completions = intake, VisitCompletions()

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
                with self._completions.expecting(asked.id) as finished:
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
                expected = [stack.enter_context(self._completions.expecting(visit.id)) for visit in visits]
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


def _not_visited(visit: IncomingVisit, why: str) -> NotVisited:
    return NotVisited(message=visit.message[:MAX_REPEATED_LENGTH], why=why)
