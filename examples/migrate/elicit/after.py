"""The clinic, rewritten with `ask`."""

from datetime import date

from mcp.server import MCPServer

from askback import Askback, ask, confirm, once

mcp = MCPServer("clinic")
Askback(mcp)

full_days = {date(2026, 12, 24)}
next_free = date(2026, 12, 28)
visits: list[str] = []


def book(patient: str) -> int:
    visits.append(patient)
    return len(visits)


# --8<-- [start:tool]
@mcp.tool()
async def book_visit(patient: str, day: date) -> str:
    """Book a visit to the clinic."""
    while day in full_days:
        other = await ask(f"Nothing is free on {day}. On another day?", date, initial=next_free)
        day = other.or_stop("Nothing booked.")
    if not await confirm(f"Book {patient} for {day}?"):
        return "Nothing booked."
    return f"Visit {await once('book', book, patient)}: {patient} on {day}"


# --8<-- [end:tool]
