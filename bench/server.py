"""The servers that are measured, and one of them in a process of its own: `python -m bench.server SIDE stdio|http`.

Over HTTP it prints its URL as its first line and ends when its input is closed, so that it cannot outlive the bench.
"""

import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast

import anyio
import anyio.to_thread
import uvicorn
from fastmcp import FastMCP
from mcp.server import MCPServer

from askback.stores import SQLiteStore, Store
from bench import tools_askback, tools_fastmcp, tools_sdk
from bench.claimless_store import NoClaims
from scripts.services import redis_server

Side = Literal[
    "askback",
    "sdk",
    "askback on fastmcp",
    "fastmcp",
    "no claims",
    "sqlite",
    "redis",
    "redis without ledger",
]


@contextmanager
def made(side: Side) -> Generator[MCPServer | FastMCP[Any]]:
    """A server; what it keeps on disk or in Redis is gone afterwards, and so is that Redis."""
    match side:
        case "askback":
            yield tools_askback.make_server()
        case "sdk":
            yield tools_sdk.make_server()
        case "askback on fastmcp":
            yield tools_fastmcp.make_server_with_askback()
        case "fastmcp":
            yield tools_fastmcp.make_server()
        case "no claims":
            yield tools_askback.make_server(cast("Store", NoClaims()))
        case "sqlite":
            with TemporaryDirectory() as folder:
                yield tools_askback.make_server(SQLiteStore(Path(folder) / "bench.db"))
        case "redis":
            with redis_server(keeps=False) as redis:
                yield tools_askback.make_shared_server(redis.url)
        case "redis without ledger":
            with redis_server(keeps=False) as redis:
                yield tools_askback.make_shared_server(redis.url, ledger=False)


async def serve_http(server: MCPServer) -> None:
    # asyncio sends small packets at once only where the protocol is named; else each answer waits 40 ms for an ACK.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # before its address is told: a client may be quicker than the server is ready
        config = uvicorn.Config(
            server.streamable_http_app(), log_level="critical", timeout_graceful_shutdown=1
        )
        runner = uvicorn.Server(config)
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(runner.serve, [listener])
            await anyio.to_thread.run_sync(sys.stdin.read)
            runner.should_exit = True


def main() -> None:
    side, transport = sys.argv[1:]
    with made(cast("Side", side)) as server:
        if transport == "http" and isinstance(server, MCPServer):
            anyio.run(serve_http, server)
        else:
            server.run()


if __name__ == "__main__":
    main()
