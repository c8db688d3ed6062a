"""How a worker ends that is told to: its questions end with a clear word, and the calls that run are finished."""

import signal
from collections.abc import Awaitable, Callable

import anyio
from sse_starlette.sse import AppStatus

from askback.server.adapters.streamable import DRAIN_TIMEOUT
from askback.wire.push import Questions


def is_stopping() -> bool:
    """Whether this process is told to end: uvicorn first waits for open streams, and clients open them elsewhere."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return AppStatus.should_exit or bool(getattr(server, "should_exit", False))


class Drain:
    """The end of one server's sessions in this process."""

    def __init__(self, questions: Questions, finish_calls: Callable[[], Awaitable[None]]) -> None:
        self._questions, self._finish_calls = questions, finish_calls
        self._is_told = False

    @property
    def has_begun(self) -> bool:
        return self._is_told or is_stopping()

    def begin(self) -> None:
        """Nobody can answer a question here any more: each ends in its body now. May repeat."""
        self._is_told = True
        self._questions.close()

    async def finish(self) -> None:
        """Wait for the calls that run, also those of people who are connected to other workers."""
        self.begin()
        with anyio.move_on_after(DRAIN_TIMEOUT):
            await self._finish_calls()

    def reset(self) -> None:
        """A server that is run again begins anew."""
        self._is_told = False
        self._questions.open()
