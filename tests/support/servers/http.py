"""A server on a free loopback port for the length of a block."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import uvicorn
from mcp.server import MCPServer
from mcp.server.lowlevel import Server


@asynccontextmanager
async def served(server: MCPServer[Any] | Server[Any], **options: Any) -> AsyncGenerator[str]:
    """Serve `server` over streamable HTTP and give its URL."""
    app = server.streamable_http_app(**options)
    # With its protocol named, so that asyncio sends small answers without delay.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        runner = uvicorn.Server(config)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(runner.serve, [listener])
            with anyio.fail_after(10):
                while not runner.started:
                    await anyio.lowlevel.checkpoint()
            yield f"http://127.0.0.1:{port}/mcp"
            runner.should_exit = True
