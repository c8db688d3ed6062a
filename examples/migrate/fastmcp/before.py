"""A library that asks with FastMCP's `ctx.elicit()`: each kind of response type."""

from dataclasses import dataclass

from fastmcp import Context, FastMCP
from fastmcp.server.elicitation import AcceptedElicitation, CancelledElicitation, DeclinedElicitation
from pydantic import BaseModel, Field

mcp = FastMCP("library")


@mcp.tool
async def reserve(title: str, ctx: Context) -> str:
    """Reserve a book: a scalar type."""
    match await ctx.elicit("Under which name?", response_type=str):
        case AcceptedElicitation(data=name):
            return f"{title} is kept for {name}."
        case DeclinedElicitation():
            return f"{title} is kept without a name."
        case CancelledElicitation():
            return "Nothing reserved."


@mcp.tool
async def extend(title: str, ctx: Context) -> str:
    """Extend a loan: a list of options."""
    answer = await ctx.elicit("For how long?", response_type=["a week", "a month"])
    return f"{title}: {answer.data} more" if answer.action == "accept" else "Not extended."


@mcp.tool
async def fetch(title: str, ctx: Context) -> str:
    """Choose where to fetch a book: options with titles."""
    answer = await ctx.elicit(
        "Where will you fetch it?",
        response_type={"main": {"title": "At the main desk"}, "bus": {"title": "From the book bus"}},
    )
    return f"{title} waits: {answer.data}" if answer.action == "accept" else "Not sent."


@mcp.tool
async def subscribe(ctx: Context) -> str:
    """Subscribe to news: several of a list."""
    answer = await ctx.elicit("News about what?", response_type=[["novels", "maps", "music"]])
    return f"News about {', '.join(answer.data)}" if answer.action == "accept" else "No news."


@dataclass
class Reader:
    name: str
    town: str


class Card(BaseModel):
    years: int = Field(default=1, ge=1, le=5, description="How long the card is good for")
    by_post: bool = Field(default=False, description="Send it by post?")


@mcp.tool
async def join(ctx: Context) -> str:
    """Become a reader: a dataclass, then a pydantic model."""
    reader = await ctx.elicit("Who are you?", response_type=Reader)
    if reader.action != "accept":
        return "No card."
    card = await ctx.elicit(f"Which card for {reader.data.name}?", response_type=Card)
    if card.action != "accept":
        return "No card."
    return f"{reader.data.name} of {reader.data.town}, {card.data.years} years, by post: {card.data.by_post}"
