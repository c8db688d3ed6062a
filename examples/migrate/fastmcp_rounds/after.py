"""The observatory, rewritten with `ask`."""

from fastmcp import FastMCP

from askback import Accepted, Askback, ask

mcp = FastMCP("observatory")
Askback(mcp)


# --8<-- [start:tool]
@mcp.tool
async def observe(hours: int) -> str:
    """Book the telescope."""
    closed = "The telescope stays closed."
    target = (await ask("What would you like to see?", str)).or_stop(closed)
    night = (await ask(f"On which night shall we show you {target}?", str)).or_stop(closed)
    return f"{target} on {night}, {hours} hours"


@mcp.resource("observatory://sky")
async def sky() -> str:
    """What can be seen tonight, from where the reader is."""
    match await ask("Where are you?", str):
        case Accepted(place):
            return f"Over {place}: Saturn"
        case _:
            return "Saturn, from many places"


# --8<-- [end:tool]
