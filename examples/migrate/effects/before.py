"""A boat hire that does something before it asks."""

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field

mcp = MCPServer("boat hire")

held: list[str] = []


class Deposit(BaseModel):
    agreed: bool = Field(description="Will you leave a deposit of 20 euro?")


def hold(boat: str) -> int:
    held.append(boat)
    return len(held)


# --8<-- [start:tool]
@mcp.tool()
async def hire(boat: str, ctx: Context) -> str:
    """Hire a boat."""
    number = hold(boat)
    answer = await ctx.elicit(message=f"The {boat} is held for you.", schema=Deposit)
    if answer.action != "accept" or not answer.data.agreed:
        return f"The {boat} is free again."
    return f"Hire {number}: {boat}"


# --8<-- [end:tool]
