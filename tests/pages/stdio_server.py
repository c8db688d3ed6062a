"""A server on stdio that asks for a key; its pages are on the port that is its one argument."""

import sys

from mcp.server import MCPServer

from askback import Accepted, Askback, secret
from askback.pages import Pages

mcp = MCPServer("weather")
Askback(mcp, pages=Pages(port=int(sys.argv[1])))


@mcp.tool()
async def forecast() -> str:
    match await secret("To look up the forecast where you are.", "weather key"):
        case Accepted(key):
            return f"Sun, by a key of {len(key.reveal())} signs"
        case _:
            return "No forecast"


@mcp.tool()
async def ping() -> str:
    return "Here"


if __name__ == "__main__":
    mcp.run("stdio")
