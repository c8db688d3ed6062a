"""How a worker ends: its questions end with a clear error, new calls are refused, and running calls are finished."""

import signal

import anyio
from sse_starlette.sse import AppStatus
from starlette.types import Receive, Scope, Send

from askback.protocol.server.push import PendingQuestions
from askback.server.forwarding.messages import error_response, message_kind, read_body, replay_body
from askback.server.hosts.streamable_http import DRAIN_TIMEOUT, Handle

STOPPING = (
    "This session ends with its worker, which is being stopped. Begin a new session; nothing was begun here."
)

POLL_INTERVAL = 0.05
"""Seconds between two looks whether the last call has ended."""


def is_stopping() -> bool:
    """Whether this process is told to end: uvicorn first waits for open streams, and clients open them elsewhere."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return AppStatus.should_exit or bool(getattr(server, "should_exit", False))


class Drain:
    """The calls of one server in this process, and their end."""

    def __init__(self, questions: PendingQuestions, *, quiet_time: float = 0.0) -> None:
        """`quiet_time` is how long no call may have ended before the clients are taken to be done, in seconds."""
        self._questions, self._quiet_time = questions, quiet_time
        self._is_draining = False
        self._running, self._last_end = 0, float("-inf")

    @property
    def has_begun(self) -> bool:
        return self._is_draining or is_stopping()

    def begin(self) -> None:
        """End each open question in its body, since nobody can answer it here any more. May repeat."""
        self._is_draining = True
        self._questions.close()

    async def serve(self, handle: Handle, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request. While this worker ends, refuse new calls and streams; messages about earlier calls pass."""
        is_posted = scope["method"] == "POST"
        if self.has_begun and scope["method"] in ("GET", "POST"):
            body = await read_body(receive) or b""
            if not is_posted or message_kind(body) == "call":
                # The client begins a new session, as the protocol has it.
                await error_response(404, STOPPING)(scope, receive, send)
                return
            receive = replay_body(body, receive)
        self._running += is_posted
        try:
            await handle(scope, receive, send)
        finally:
            self._running -= is_posted
            self._last_end = anyio.current_time() if is_posted else self._last_end

    async def finish(self) -> None:
        """Wait for the calls that run, also for those that other workers forward."""
        self.begin()
        with anyio.move_on_after(DRAIN_TIMEOUT):
            while self._running or anyio.current_time() < self._last_end + self._quiet_time:  # noqa: ASYNC110 - bounded, once in the life of a process
                await anyio.sleep(POLL_INTERVAL)

    def reset(self) -> None:
        """Open for a server that is run again."""
        self._is_draining = False
        self._questions.open()
