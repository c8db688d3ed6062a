"""An application on a loopback port: the desk while a block runs, the pages while their server runs."""

import os
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

import anyio
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from askback.errors import OperatorError

LOOPBACK = "127.0.0.1"

STARTING_SECONDS = 10
"""How long a server in this process may take to start; a machine that needs longer has another problem."""

_UNLOGGED = type(
    "Unlogged", (AutoHTTPProtocol,), {"access_log": property(lambda _: False, lambda _, __: None)}
)
"""Logs no requests. uvicorn's own option for that silences every server of the process, also the host's."""


class EmbeddedServer(uvicorn.Server):
    """Leaves Ctrl-C to the program that it runs in: there it cancels one question, and must not end the program."""

    def __init__(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app,
            http=_UNLOGGED,
            log_config=None,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)
        self.is_up = anyio.Event()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    async def run_to_the_end(self, listener: socket.socket) -> None:
        # A server torn down by a cancellation leaves its sockets to the garbage collector.
        with anyio.CancelScope(shield=True):
            await self.serve([listener])


def bind_loopback(port: int, *, who: str) -> socket.socket:
    """A socket bound to loopback; port 0 takes a free one."""
    # asyncio sends small packets at once only where the protocol is named; else each answer waits 40 ms for an ACK.
    listener = socket.socket(proto=socket.IPPROTO_TCP)
    if os.name == "posix":
        # A fixed port is free again as soon as its server has ended; elsewhere this would let two have it at once.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise OperatorError(
            f"{who} cannot listen on port {port} of this machine: {error.strerror}. "
            "Choose another port, or 0 for a free one."
        ) from error
    return listener


@asynccontextmanager
async def serve_app(
    app: ASGIApp, listener: socket.socket, *, before_end: Callable[[], None]
) -> AsyncGenerator[None]:
    """`before_end` closes what would hold a connection open."""
    server = EmbeddedServer(app)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.run_to_the_end, listener)
        try:
            with anyio.fail_after(STARTING_SECONDS):
                await server.is_up.wait()
            yield
        finally:
            before_end()
            server.should_exit = True
