"""Visits that a call demands before it is done: consent, open, wait until they are finished, then call again."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar, assert_never

import anyio
from mcp.shared.exceptions import MCPError

from askback.answer import Accepted, Answer, Cancelled, Declined
from askback.client.labels import MOST_REPEATED
from askback.client.person import VisitAsked, Word
from askback.errors import NotVisited, PeerError
from askback.wire.asked import VisitWords, demanded_visits

T = TypeVar("T")


class Finishing:
    """The visits that somebody waits for, until the server says that they are finished (R80)."""

    def __init__(self) -> None:
        self._awaited: dict[object, anyio.Event] = {}

    def expect(self, name: object) -> anyio.Event:
        return self._awaited.setdefault(name, anyio.Event())

    def finished(self, name: object) -> None:
        """Ids that nobody waits for, unknown or long finished, are nobody's business."""
        if (waiting := self._awaited.pop(name, None)) is not None:
            waiting.set()

    def forget(self, names: Iterable[object]) -> None:
        for name in names:
            self._awaited.pop(name, None)

    def closed(self) -> None:
        """Nothing comes any more: whoever waits finds out by calling again."""
        for name in tuple(self._awaited):
            self.finished(name)


Ask = Callable[[VisitWords], Awaitable[tuple[VisitAsked, Answer[Any]]]]
Wait = Callable[[VisitAsked, anyio.Event], Awaitable[Word]]


class Demands:
    """The handshake of one call: each time it is refused for want of a visit, the visits are made."""

    def __init__(self, *, ask: Ask, wait: Wait, finishing: Finishing, most: int) -> None:
        self._ask, self._wait, self._finishing, self._most = ask, wait, finishing, most

    async def through(self, send: Callable[[], Awaitable[T]]) -> T:
        """What `send` gives once its visits are made; a bounded number of times."""
        for _ in range(self._most):
            try:
                return await send()
            except MCPError as error:
                visits = demanded_visits(error)
                if visits is None:
                    raise
                await self._make(visits)
        return await self._last(send)

    async def _last(self, send: Callable[[], Awaitable[T]]) -> T:
        try:
            return await send()
        except MCPError as error:
            if demanded_visits(error) is None:
                raise
            raise PeerError(
                f"The server demanded visits {self._most + 1} times for one call and was never content. "
                "Its author must look at how it learns that a visit is finished."
            ) from error

    async def _make(self, visits: list[VisitWords]) -> None:
        names = [visit.id for visit in visits if visit.id is not None]
        # Before anything is opened: a quick visit is finished before anybody waits for it.
        events = {name: self._finishing.expect(name) for name in names}
        try:
            for visit in visits:
                await self._visit(visit, events[visit.id] if visit.id is not None else anyio.Event())
        finally:
            self._finishing.forget(names)

    async def _visit(self, visit: VisitWords, finished: anyio.Event) -> None:
        while True:
            asked, answer = await self._ask(visit)
            match answer:
                case Accepted():
                    word = await self._wait(asked, finished)
                case Declined():
                    raise _not_visited(visit, "they declined")
                case Cancelled():
                    raise _not_visited(visit, "they closed the question without a choice")
            match word:
                case "done":
                    return
                case "cancel":
                    raise _not_visited(visit, "they gave up waiting for it")
                case "again":
                    continue
                case _:
                    assert_never(word)


def _not_visited(visit: VisitWords, why: str) -> NotVisited:
    return NotVisited(message=visit.message[:MOST_REPEATED], why=why)
