"""An inn whose tools ask: the server that the guides for hosts talk to. `python -m examples.hosts.inn`"""

from typing import Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field

from askback import Askback, ask, confirm

mcp = MCPServer("inn")
Askback(mcp)


class Stay(BaseModel):
    guest: str = Field(min_length=1, title="Guest")
    room: Literal["single", "double"] = Field("single", title="Room")
    nights: int = Field(1, ge=1, le=14, title="Nights")


@mcp.tool()
async def book() -> str:
    """Book a room; the guest fills in a form and must confirm."""
    stay = (await ask("Your stay", Stay)).or_stop("Nothing booked.")
    if not await confirm(f"Book a {stay.room} room for {stay.nights} nights?"):
        return "Nothing booked."
    return f"{stay.guest}: {stay.room}, {stay.nights} nights"


@mcp.tool()
async def pay(context: Context) -> str:
    """Pay on a page of the inn's own."""
    done = await context.elicit_url("Pay for your stay", "https://pay.inn.example/bill/7", "bill-7")
    return f"Payment: {done.action}"


@mcp.tool()
async def check_in(guests: int) -> str:
    """Ask for every guest's name, one after another."""
    names = [(await ask(f"Guest {number}", str)).or_stop("Come back.") for number in range(1, guests + 1)]
    return ", ".join(names)


if __name__ == "__main__":
    mcp.run()
