"""A server without other workers: its sessions are the SDK's own, and end with a clear word when the process is to end.

A session manager that ends while the process goes on, as in an application around it or in a test, ends at once.
"""

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager as Manager
from starlette.types import Receive, Scope, Send

from askback.protocol.server.push import PendingQuestions
from askback.server.forwarding.drain import Drain
from askback.server.hosts.streamable_http import Handle


class SingleWorker:
    """The sessions of one server in this process alone."""

    def __init__(self, questions: PendingQuestions) -> None:
        self.drain = Drain(questions, self._finish_requests)
        self._running = 0
        self._ended = anyio.Event()

    async def handle(
        self, _manager: Manager, by_itself: Handle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """One request of a session, or for a new one; those that were posted are finished."""
        if scope["method"] != "POST":
            await self.drain.refuse_new_calls(by_itself)(scope, receive, send)
            return
        self._running += 1
        try:
            await self.drain.refuse_new_calls(by_itself)(scope, receive, send)
        finally:
            self._running -= 1
            ended, self._ended = self._ended, anyio.Event()
            ended.set()

    async def finish(self) -> None:
        """Wait for the calls that run, where the process is told to end."""
        if self.drain.has_begun:
            await self.drain.finish()

    async def close(self) -> None:
        self.drain.reset()

    async def _finish_requests(self) -> None:
        while self._running:
            await self._ended.wait()
