"""The line before a person: first come, first asked, one at a time. Several drivers can stand in one line."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from askback.answer import Answer, Cancelled
from askback.client.person import Asked, Mode, Person, Turn, VisitAsked, Word

Settled = Callable[[], Answer[Any] | None]
"""An answer that was found while a turn still waited, so that nobody needs to be shown it."""


class Line:
    """Gives a person their turns. A person who shows several gets them as they come."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self._door = anyio.Lock()
        self._waiting = 0
        self._shown: Turn | None = None

    @property
    def modes(self) -> frozenset[Mode]:
        return self.person.modes

    async def ask(self, asked: Asked) -> Answer[Any]:
        """Put one question, and return its answer."""
        return await self.put(Turn(asked))

    async def put(self, turn: Turn, *, settled: Settled = lambda: None) -> Answer[Any]:
        """Wait for this turn's place, then let the person answer. What was withdrawn before is never shown."""
        async with self._place():
            if turn.gone is not None:
                return Cancelled()
            if (found := settled()) is not None:
                return found
            self._shown = turn
            self._tell()
            try:
                return await self.person.answer(turn)
            finally:
                self._shown = None

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> Word:
        """After an opened visit: the person's word, or `done` when the server has said so already."""
        async with self._place():
            return "done" if finished.is_set() else await self.person.wait(asked, finished)

    @asynccontextmanager
    async def _place(self) -> AsyncGenerator[None]:
        if self.person.shows_several:
            yield
            return
        self._waiting += 1
        self._tell()
        try:
            await self._door.acquire()
        finally:
            self._waiting -= 1
            self._tell()
        try:
            yield
        finally:
            self._door.release()

    def _tell(self) -> None:
        """Whoever is shown now sees how many wait behind."""
        if self._shown is not None and self._shown.behind != self._waiting:
            self._shown.behind = self._waiting
            self._shown.note()
