"""A worker as a company runs it, with keys, Redis and a ledger: it asks once, has one effect, and can be weighed.

`python -m bench.worker REDIS_URL` prints its own URL and ends when its input is closed.
"""

import gc
import secrets
import sys
from pathlib import Path

import anyio
from mcp.server import MCPServer

from askback import Askback, ask, once
from askback.stores import Store
from askback.stores.redis import RedisStore
from bench.cluster.server import Amount, question
from bench.server import serve_http

THINK_TIME = 10.0
"""Seconds; Redis keeps what a flow left for a minute longer. So most of it goes while the others still run."""

STATM, PAGE_BYTES = Path("/proc/self/statm"), 4096


def make_server(store: Store) -> MCPServer:
    server = MCPServer("bench", log_level="ERROR")
    Askback(server, keys=[secrets.token_bytes(32)], store=store, think_time=THINK_TIME)
    for body in (one, weigh):
        server.tool()(body)
    return server


async def one(flow: str) -> str:
    total = (await ask(question(flow, 1), Amount)).or_stop("No.").amount
    return await once("send", _send, flow, total)


def _send(flow: str, total: int) -> str:
    return f"{flow}: {total}"


def weigh() -> list[int]:
    """Blocks that the interpreter has given out, and bytes in pages; 0 where the system does not tell."""
    gc.collect()
    pages = int(STATM.read_text().split()[1]) if STATM.exists() else 0
    return [sys.getallocatedblocks(), pages * PAGE_BYTES]


def main() -> None:
    (url,) = sys.argv[1:]
    anyio.run(serve_http, make_server(RedisStore(url)))


if __name__ == "__main__":
    main()
