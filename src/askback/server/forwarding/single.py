"""A server without other workers: its sessions are the SDK's own, and its calls are finished when the process ends.

A session manager that ends while the process goes on, as in an application around it or in a test, ends at once.
"""

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager as Manager
from starlette.types import Receive, Scope, Send

from askback.protocol.server.push import PendingQuestions
from askback.server.forwarding.drain import Drain
from askback.server.hosts.streamable_http import Handle


class SingleWorker:
    """The sessions of one server in this process alone."""

    def __init__(self, questions: PendingQuestions) -> None:
        self.drain = Drain(questions)

    async def handle(
        self, _manager: Manager, by_itself: Handle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve one request of a session, or for a new one."""
        await self.drain.serve(by_itself, scope, receive, send)

    async def finish(self) -> None:
        """Wait for the calls that run, if the process is told to end."""
        if self.drain.has_begun:
            await self.drain.finish()

    async def close(self) -> None:
        self.drain.reset()
