"""One of the two servers in a process of its own: `python -m bench.serve askback|sdk stdio|http`.

Over HTTP it prints its URL as its first line and ends when its input is closed, so that it cannot outlive the bench.
"""

import socket
import sys

import anyio
import anyio.to_thread
import uvicorn
from mcp.server import MCPServer

from bench import with_askback, with_sdk

MAKERS = {"askback": with_askback.make_server, "sdk": with_sdk.make_server}


async def serve_http(server: MCPServer) -> None:
    # asyncio sends small packets at once only where the protocol is named; else each answer waits 40 ms for an ACK.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
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
    server = MAKERS[side]()
    if transport == "http":
        anyio.run(serve_http, server)
    else:
        server.run()


if __name__ == "__main__":
    main()
