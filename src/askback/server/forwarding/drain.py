"""How a worker ends that is told to: its questions end with a clear word, and the calls that run are finished."""

import signal
from collections.abc import Awaitable, Callable

import anyio
from mcp_types import INVALID_REQUEST
from sse_starlette.sse import AppStatus
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from askback.protocol.server.push import PendingQuestions
from askback.server.forwarding.dedupe import message_kind
from askback.server.forwarding.envelope import read_body, replay_body
from askback.server.hosts.streamable_http import DRAIN_TIMEOUT, Handle

STOPPING = (
    "This session ends with its worker, which is being stopped. Begin a new session; nothing was begun here."
)


def is_stopping() -> bool:
    """Whether this process is told to end: uvicorn first waits for open streams, and clients open them elsewhere."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return AppStatus.should_exit or bool(getattr(server, "should_exit", False))


class Drain:
    """The end of one server's sessions in this process."""

    def __init__(self, questions: PendingQuestions, finish_calls: Callable[[], Awaitable[None]]) -> None:
        self._questions, self._finish_calls = questions, finish_calls
        self._is_told = False

    @property
    def has_begun(self) -> bool:
        return self._is_told or is_stopping()

    def begin(self) -> None:
        """Nobody can answer a question here any more: each ends in its body now. May repeat."""
        self._is_told = True
        self._questions.close()

    def refuse_new_calls(self, by_itself: Handle) -> Handle:
        """A call or a stream that comes while this worker ends is refused; what is about an earlier call is served."""

        async def handle(scope: Scope, receive: Receive, send: Send) -> None:
            if not self.has_begun or scope["method"] not in ("GET", "POST"):
                await by_itself(scope, receive, send)
                return
            body = await read_body(receive) or b""
            if scope["method"] == "GET" or message_kind(body) == "call":
                await _refuse(scope, receive, send)
            else:
                await by_itself(scope, replay_body(body, receive), send)

        return handle

    async def finish(self) -> None:
        """Wait for the calls that run, also those of people who are connected to other workers."""
        self.begin()
        with anyio.move_on_after(DRAIN_TIMEOUT):
            await self._finish_calls()

    def reset(self) -> None:
        """A server that is run again begins anew."""
        self._is_told = False
        self._questions.open()


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """The client begins a new session, as the protocol has it."""
    told = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": STOPPING}}
    await JSONResponse(told, status_code=404)(scope, receive, send)
