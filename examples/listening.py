"""A pretend service on a port of this machine, for the examples that need one."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import uvicorn
from starlette.types import ASGIApp


@asynccontextmanager
async def listening(app: ASGIApp, *, port: int = 0) -> AsyncGenerator[str]:
    """Serve `app` for the length of a block and give its address; port 0 takes a free one."""
    # Silent: this one is only pretended, and what a server on stdio writes is read by its client.
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", port)) as listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listener])
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            server.should_exit = True
