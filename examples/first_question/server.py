"""A café that asks one question, in the middle of a tool."""

from typing import Literal

from mcp.server import MCPServer

from askback import Accepted, Askback, Cancelled, Declined, ask

mcp = MCPServer("café")
Askback(mcp)


@mcp.tool()
async def coffee(kind: str) -> str:
    """Make a coffee; the guest is asked for its size."""
    match await ask(f"What size of {kind}?", Literal["small", "large"]):
        case Accepted(size):
            return f"One {size} {kind}."
        case Declined():
            return "No coffee then."
        case Cancelled():
            return "Tell me the size when you like."


if __name__ == "__main__":
    mcp.run()
