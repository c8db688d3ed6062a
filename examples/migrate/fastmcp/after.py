"""The library, rewritten with `ask`."""

from dataclasses import dataclass

from fastmcp import FastMCP
from pydantic import BaseModel, Field

from askback import Accepted, Askback, Cancelled, Declined, ask, choose

mcp = FastMCP("library")
Askback(mcp)


@dataclass
class Reader:
    name: str
    town: str


class Card(BaseModel):
    years: int = Field(default=1, ge=1, le=5, description="How long the card is good for")
    by_post: bool = Field(default=False, description="Send it by post?")


# --8<-- [start:tools]
@mcp.tool
async def reserve(title: str) -> str:
    """Reserve a book."""
    match await ask("Under which name?", str):
        case Accepted(name):
            return f"{title} is kept for {name}."
        case Declined():
            return f"{title} is kept without a name."
        case Cancelled():
            return "Nothing reserved."


@mcp.tool
async def extend(title: str) -> str:
    """Extend a loan."""
    time = (await choose("For how long?", ["a week", "a month"])).or_stop("Not extended.")
    return f"{title}: {time} more"


@mcp.tool
async def fetch(title: str) -> str:
    """Choose where to fetch a book."""
    places = {"main": "At the main desk", "bus": "From the book bus"}
    return f"{title} waits: {(await choose('Where will you fetch it?', places)).or_stop('Not sent.')}"


@mcp.tool
async def subscribe() -> str:
    """Subscribe to news."""
    topics = await choose("News about what?", ["novels", "maps", "music"], multiple=True)
    return f"News about {', '.join(topics.or_stop('No news.'))}"


@mcp.tool
async def join() -> str:
    """Become a reader."""
    reader = (await ask("Who are you?", Reader)).or_stop("No card.")
    card = (await ask(f"Which card for {reader.name}?", Card)).or_stop("No card.")
    return f"{reader.name} of {reader.town}, {card.years} years, by post: {card.by_post}"


# --8<-- [end:tools]
