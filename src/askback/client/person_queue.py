"""The line before a person: first come, first asked, one at a time. Several drivers can stand in one line."""

import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio

from askback.answers import Answer, Cancelled
from askback.client.person import Asked, Mode, Person, Turn, VisitAsked, VisitReply, channel_of

Beforehand = Callable[[], Answer[Any] | None]
"""An answer that was given while a turn still waited, to all that would come; nobody needs to be shown it."""


class PersonQueue:
    """Gives a person their turns. A person who shows several gets them as they come."""

    def __init__(self, person: Person, *, time: Callable[[], float] = time.time) -> None:
        """`time` tells in seconds since 1970 when a question was put before the person."""
        self.person, self._time = person, time
        self._door = anyio.Lock()
        self._waiting = 0
        self._later: Counter[object] = Counter()
        """Questions that come into the line after another one of their call."""
        self._shown: dict[Turn, object] = {}

    @property
    def modes(self) -> frozenset[Mode]:
        return self.person.modes

    async def ask(self, asked: Asked) -> Answer[Any]:
        """Put one question, and return its answer."""
        return await self.put(Turn(asked))

    async def put(
        self, turn: Turn, *, beforehand: Beforehand = lambda: None, call: object = None
    ) -> Answer[Any]:
        """Wait for this turn's place, then let the person answer. What was withdrawn before is never shown.

        `call` stands for whatever the question belongs to, as in `behind`.
        """
        async with self._place():
            if turn.gone is not None:
                return Cancelled()
            if (found := beforehand()) is not None:
                return found
            self._shown[turn] = call
            turn.channel, turn.shown_at = channel_of(self.person), self._time()
            self._tell()
            try:
                return await self.person.answer(turn)
            finally:
                del self._shown[turn]

    @contextmanager
    def behind(self, call: object, count: int = 1) -> Generator[None]:
        """Meanwhile so many questions wait for another one of their call, and have no place in the line yet."""
        self._later[call] += count
        self._tell()
        try:
            yield
        finally:
            self._later[call] -= count
            self._later += Counter()
            self._tell()

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
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
        """Whoever is shown now sees how many wait behind; side by side, only those of the same call do."""
        everybody = self._waiting + self._later.total()
        for turn, call in self._shown.items():
            behind = self._later[call] if self.person.shows_several else everybody
            if turn.behind != behind:
                turn.behind = behind
                turn.note()
