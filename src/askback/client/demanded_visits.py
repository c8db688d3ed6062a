"""Visits that a call demands before it is done: consent, open, wait until they are finished, then call again."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar, assert_never

import anyio
from mcp.shared.exceptions import MCPError

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client.labels import MAX_REPEATED_LENGTH
from askback.client.person import VisitAsked, VisitReply
from askback.errors import NotVisited, PeerError
from askback.protocol.client.questions import IncomingVisit, read_demanded_visits

T = TypeVar("T")


class VisitCompletions:
    """The visits that somebody waits for, until the server says that they are finished (R80)."""

    def __init__(self) -> None:
        self._awaited: dict[anyio.Event, str | None] = {}
        self._is_closed = False

    @contextmanager
    def expecting(self, name: str | None) -> Generator[anyio.Event]:
        """Set when this visit is finished. Each who waits has their own, so that none is forgotten with another.

        Without a name, no notification can mean the visit.
        """
        finished = anyio.Event()
        self._awaited[finished] = name
        if self._is_closed:
            finished.set()
        try:
            yield finished
        finally:
            del self._awaited[finished]

    def finished(self, name: str) -> None:
        """Ids that nobody waits for, unknown or long finished, are nobody's business."""
        for finished, awaited in self._awaited.items():
            if awaited == name:
                finished.set()

    def closed(self) -> None:
        """Nothing comes any more: whoever waits, now or later, finds out by calling again."""
        self._is_closed = True
        for finished in self._awaited:
            finished.set()


Ask = Callable[[IncomingVisit], Awaitable[tuple[VisitAsked, Answer[Any] | None]]]
"""The person's answer; None where the server went away and their answer is no longer wanted."""
Wait = Callable[[VisitAsked, anyio.Event], Awaitable[VisitReply]]


class DemandedVisits:
    """The handshake of one call: each time it is refused for want of a visit, the visits are made."""

    def __init__(self, *, ask: Ask, wait: Wait, finishing: VisitCompletions, most: int) -> None:
        self._ask, self._wait, self._finishing, self._most = ask, wait, finishing, most

    async def through(self, send: Callable[[], Awaitable[T]]) -> T:
        """What `send` gives once its visits are made; a bounded number of times."""
        for _ in range(self._most):
            try:
                return await send()
            except MCPError as error:
                visits = read_demanded_visits(error)
                if visits is None:
                    raise
                await self._make(visits)
        return await self._last(send)

    async def _last(self, send: Callable[[], Awaitable[T]]) -> T:
        try:
            return await send()
        except MCPError as error:
            if read_demanded_visits(error) is None:
                raise
            raise PeerError(
                f"The server demanded visits {self._most + 1} times for one call and was never content. "
                "Its author must look at how it learns that a visit is finished."
            ) from error

    async def _make(self, visits: list[IncomingVisit]) -> None:
        with ExitStack() as stack:
            # Before anything is opened: a quick visit is finished before anybody waits for it.
            expected = [(visit, stack.enter_context(self._finishing.expecting(visit.id))) for visit in visits]
            for visit, finished in expected:
                await self._visit(visit, finished)

    async def _visit(self, visit: IncomingVisit, finished: anyio.Event) -> None:
        while True:
            asked, answer = await self._ask(visit)
            match answer:
                case Accepted():
                    word = await self._wait(asked, finished)
                case Declined():
                    raise _not_visited(visit, "they declined")
                case Cancelled():
                    raise _not_visited(visit, "they closed the question without a choice")
                case None:
                    # Not the person's doing: whose it is, is found out by calling again.
                    return
            match word:
                case "done":
                    return
                case "cancel":
                    raise _not_visited(visit, "they gave up waiting for it")
                case "again":
                    continue
                case _:
                    assert_never(word)


def _not_visited(visit: IncomingVisit, why: str) -> NotVisited:
    return NotVisited(message=visit.message[:MAX_REPEATED_LENGTH], why=why)
