"""The museum, rewritten with `ask`."""

from mcp.server import MCPServer

from askback import Accepted, Askback, ask

mcp = MCPServer("museum")
Askback(mcp)


# --8<-- [start:tool]
@mcp.tool()
async def book_tour(guests: int) -> str:
    """Book a guided tour."""
    language = (await ask("In which language?", str)).or_stop("No tour booked.")
    hall = (await ask(f"Which hall would you see in {language}?", str)).or_stop("No tour booked.")
    return f"A tour of the {hall} in {language} for {guests}"


@mcp.prompt()
async def leaflet() -> str:
    """Write a leaflet for somebody in particular."""
    answer = await ask("Who will read the leaflet?", str)
    reader = answer.value if isinstance(answer, Accepted) else "everybody"
    return f"Write a leaflet on the museum for {reader}."


# --8<-- [end:tool]
