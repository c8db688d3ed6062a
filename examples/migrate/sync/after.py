"""The workshop, rewritten with `askback.sync`."""

from mcp.server import MCPServer

from askback import Askback
from askback.sync import ask

mcp = MCPServer("workshop")
Askback(mcp)


# --8<-- [start:tool]
@mcp.tool()
def paint(bicycle: str) -> str:
    """Paint a bicycle."""
    colour = ask(f"Which colour for the {bicycle}?", str).or_stop(f"The {bicycle} stays as it is.")
    return f"The {bicycle} is {colour} now."


# --8<-- [end:tool]
