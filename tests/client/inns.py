"""Real servers for the driver: a tool, a prompt and a resource that ask. Run by itself, it is a program."""

import os
import sys

from mcp.server import MCPServer

from askback import Askback, ask, confirm

mcp = MCPServer("inn", instructions="Be kind.")
Askback(mcp)


@mcp.tool()
async def book(guest: str) -> str:
    nights = (await ask("How many nights?", int)).or_stop("Not booked.")
    return f"{guest}: {nights}" if await confirm("Sure?") else "Not booked."


@mcp.tool()
async def process() -> str:
    """Asks with its process id, for a test to end it by."""
    sys.stderr.write("The last words.\n")
    sys.stderr.flush()
    return str(await ask(str(os.getpid()), int))


@mcp.prompt()
async def greet() -> str:
    return f"Greet {(await ask('Whom?', str)).or_stop('nobody')}"


@mcp.resource("inn://rooms")
async def rooms() -> str:
    return f"Rooms for {(await ask('How many?', int)).or_stop('none')}"


if __name__ == "__main__":
    if "--http" in sys.argv:
        mcp.run("streamable-http", port=0)
    else:
        mcp.run()
