"""A workshop whose tool is written with `def` and reaches for the event loop to ask."""

from anyio import from_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field

mcp = MCPServer("workshop")


class Colour(BaseModel):
    colour: str = Field(description="Such as red, or RAL 6005")


@mcp.tool()
def paint(bicycle: str, ctx: Context) -> str:
    """Paint a bicycle."""
    answer = from_thread.run(ctx.elicit, f"Which colour for the {bicycle}?", Colour)
    if answer.action != "accept":
        return f"The {bicycle} stays as it is."
    return f"The {bicycle} is {answer.data.colour} now."
