"""The archive on FastMCP 4: one tool as it was, and one that had to change."""

from fastmcp import Context, FastMCP

from askback import Askback, confirm

mcp = FastMCP("archive")
Askback(mcp)

shelves = {"1848": "east", "1918": "west"}


@mcp.tool
async def move_box(year: str, ctx: Context) -> str:
    """Put a box on another shelf."""
    answer = await ctx.elicit("To which shelf?", response_type=str)
    if answer.action != "accept":
        return "The box stays."
    shelves[year] = answer.data
    return f"{year} is on the {shelves[year]} shelf."


# --8<-- [start:tool]
@mcp.tool
async def shred_box(year: str) -> str:
    """Shred a box, if the person agrees."""
    if not await confirm(f"Shred the papers of {year}?"):
        return "The papers stay."
    del shelves[year]
    return f"The papers of {year} are gone."


# --8<-- [end:tool]
