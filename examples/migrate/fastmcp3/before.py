# pyright: reportCallIssue=false, reportArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# FastMCP 4 has no response_type=None any more; that is what is shown.
"""An archive as FastMCP 3 taught to write it."""

from fastmcp import Context, FastMCP

mcp = FastMCP("archive")

shelves = {"1848": "east", "1918": "west"}


# --8<-- [start:tools]
@mcp.tool
async def move_box(year: str, ctx: Context) -> str:
    """Put a box on another shelf."""
    answer = await ctx.elicit("To which shelf?", response_type=str)
    if answer.action != "accept":
        return "The box stays."
    shelves[year] = answer.data
    return f"{year} is on the {shelves[year]} shelf."


@mcp.tool
async def shred_box(year: str, ctx: Context) -> str:
    """Shred a box, if the person agrees."""
    answer = await ctx.elicit(f"Shred the papers of {year}?", response_type=None)
    if answer.action != "accept":
        return "The papers stay."
    del shelves[year]
    return f"The papers of {year} are gone."


# --8<-- [end:tools]
