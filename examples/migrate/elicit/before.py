"""A clinic that asks with `ctx.elicit()` of the SDK."""

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field

mcp = MCPServer("clinic")

full_days = {"2026-12-24"}
visits: list[str] = []


class AnotherDay(BaseModel):
    day: str = Field(default="2026-12-28", description="Year, month and day, as in 2026-12-28")


class Sure(BaseModel):
    book: bool = Field(description="Shall I book it?")


@mcp.tool()
async def book_visit(patient: str, day: str, ctx: Context) -> str:
    """Book a visit to the clinic."""
    while day in full_days:
        other = await ctx.elicit(message=f"Nothing is free on {day}. On another day?", schema=AnotherDay)
        if other.action != "accept":
            return "Nothing booked."
        day = other.data.day
    sure = await ctx.elicit(message=f"Book {patient} for {day}?", schema=Sure)
    if sure.action != "accept" or not sure.data.book:
        return "Nothing booked."
    visits.append(patient)
    return f"Visit {len(visits)}: {patient} on {day}"
