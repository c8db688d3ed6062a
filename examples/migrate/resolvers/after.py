"""The nursery, rewritten: what it looks up stays a resolver, what it asks stands in the body."""

from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Elicit, Resolve
from pydantic import BaseModel, Field

from askback import Accepted, Askback, Cancelled, Declined, ask

mcp = MCPServer("nursery")
Askback(mcp)

frosty_nights = {"Oslo": 3, "Nice": 0}


class Forecast(BaseModel):
    frosty_nights: int


async def look_ahead(town: str) -> Forecast:
    return Forecast(frosty_nights=frosty_nights[town])


# --8<-- [start:tool]
@mcp.tool()
async def send_plant(plant: str, town: str, forecast: Annotated[Forecast, Resolve(look_ahead)]) -> str:
    """Send a plant, unless the person would rather wait for warmer nights."""
    if nights := forecast.frosty_nights:
        match await ask(f"Frost in {nights} nights to come. Send the {plant} now?", bool):
            case Accepted(False) | Declined():
                return f"The {plant} stays in the greenhouse."
            case Cancelled():
                return "Nothing is decided yet."
            case Accepted():
                pass
    return f"The {plant} is on its way to {town}."


# --8<-- [end:tool]


# --8<-- [start:mixed]
class Wrapping(BaseModel):
    paper: bool = Field(description="Wrap it in paper?")


async def ask_about_paper(plant: str) -> Elicit[Wrapping]:
    return Elicit(f"The {plant} is a present. Paper around it?", Wrapping)


@mcp.tool()
async def give_plant(plant: str, wrapping: Annotated[Wrapping, Resolve(ask_about_paper)]) -> str:
    """A resolver that asks, and a body that asks."""
    card = (await ask("What shall the card say?", str)).or_stop("No present, then.")
    return f"A {plant} {'in paper' if wrapping.paper else 'as it grew'}: {card}"


# --8<-- [end:mixed]
