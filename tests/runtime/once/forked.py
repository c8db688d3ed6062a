"""A server that is made before its workers are forked, as a web server that loads the app first does it.

`python -m tests.runtime.once.forked STORE` prints how the conversation of each worker's own caller ended.
"""

import json
import os
import sys
from typing import Any

import anyio
from mcp.server import MCPServer

from askback import Askback, ask
from tests.support.deliveries import end_of
from tests.support.raw import accepting, answering, raw_client

server: MCPServer[Any] = MCPServer("forked")


@server.tool()
async def letters(of: str) -> str:
    """What is only for one pair of eyes."""
    await ask("Sure?", bool)
    return f"letters of {of}"


async def converse(of: str) -> None:
    async with raw_client(server) as client:
        first = await client.call("letters", {"of": of})
        end = await end_of(
            client.call("letters", {"of": of}, **answering(first, ask_1=accepting(value=True)))
        )
    os.write(1, json.dumps(end).encode() + b"\n")


def main(path: str) -> None:
    # Time stands still: whatever else tells two conversations apart, it is not the moment they began.
    Askback(server, store=f"sqlite:///{path}", keys=["k" * 32], clock=lambda: 1_000_000.0)
    for of in ("Ada", "Bob"):
        worker = os.fork()
        if not worker:
            anyio.run(converse, of)
            os._exit(0)
        os.waitpid(worker, 0)


if __name__ == "__main__":
    main(sys.argv[1])
