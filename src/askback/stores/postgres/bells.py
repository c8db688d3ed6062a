"""Who of this process waits for what, on whatever loop; rung by the thread that hears the server."""

import asyncio
import hashlib
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Literal

Kind = Literal["run", "end"]

LOOK_EACH = 1.0
"""Seconds after which whoever waits looks for itself: a bell may be lost with the connection that would have rung."""


class Bell:
    """Rings on the loop it was made on."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()

    def ring(self) -> None:
        with suppress(RuntimeError):  # its loop is closed
            self._loop.call_soon_threadsafe(self._rung.set)

    def hush(self) -> None:
        """What rings from now on counts."""
        self._rung.clear()

    async def wait(self, seconds: float) -> None:
        """Until it rings, and no longer than until it is time to look."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.01, min(seconds, LOOK_EACH))):
                await self._rung.wait()


class Bells:
    """By topic, as the server spells it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bells: dict[str, set[Bell]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._bells.values()))

    @contextmanager
    def hung_up(self, kind: Kind, key: bytes) -> Generator[Bell]:
        """A bell that rings when something happens to that key."""
        topic, bell = f"{kind} {hashlib.sha256(key).hexdigest()}", Bell()
        with self._lock:
            self._bells.setdefault(topic, set()).add(bell)
        try:
            yield bell
        finally:
            with self._lock:
                bells = self._bells[topic]
                bells.discard(bell)
                if not bells:
                    del self._bells[topic]

    def ring(self, topic: str) -> None:
        with self._lock:
            bells = list(self._bells.get(topic, ()))
        for bell in bells:
            bell.ring()

    def ring_all(self) -> None:
        with self._lock:
            bells = [bell for bells in self._bells.values() for bell in bells]
        for bell in bells:
            bell.ring()


class Line:
    """A place in it is ours when it is our turn, until we leave."""

    __slots__ = ("_lock", "_standing")

    def __init__(self) -> None:
        self._lock = asyncio.Lock()  # whoever came first is let in first
        self._standing = 0

    @property
    def is_empty(self) -> bool:
        return not self._standing

    async def stand(self) -> None:
        self._standing += 1
        try:
            await self._lock.acquire()
        except BaseException:
            self._standing -= 1
            raise

    def leave(self) -> None:
        self._standing -= 1
        self._lock.release()


class Lines:
    """Those of one loop who want the same stand in line: the first looks for all behind it."""

    def __init__(self) -> None:
        self._lines: dict[tuple[object, ...], Line] = {}

    @asynccontextmanager
    async def place(self, *wanted: object) -> AsyncGenerator[None]:
        """For those who want exactly this."""
        line = self._lines.setdefault(wanted, Line())
        try:
            await line.stand()
            try:
                yield
            finally:
                line.leave()
        finally:
            if line.is_empty:
                self._lines.pop(wanted, None)
