"""A plant nursery whose questions are resolvers of the SDK."""

from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import (
    AcceptedElicitation,
    CancelledElicitation,
    DeclinedElicitation,
    Elicit,
    ElicitationResult,
    Resolve,
)
from pydantic import BaseModel, Field

mcp = MCPServer("nursery")

frosty_nights = {"Oslo": 3, "Nice": 0}


class Forecast(BaseModel):
    frosty_nights: int


class Risk(BaseModel):
    send: bool = Field(description="Send it all the same?")


async def look_ahead(town: str) -> Forecast:
    return Forecast(frosty_nights=frosty_nights[town])


async def ask_about_frost(
    plant: str, forecast: Annotated[Forecast, Resolve(look_ahead)]
) -> Risk | Elicit[Risk]:
    if forecast.frosty_nights == 0:
        return Risk(send=True)
    return Elicit(f"Frost in {forecast.frosty_nights} nights to come. Send the {plant} now?", Risk)


@mcp.tool()
async def send_plant(
    plant: str, town: str, risk: Annotated[ElicitationResult[Risk], Resolve(ask_about_frost)]
) -> str:
    """Send a plant, unless the person would rather wait for warmer nights."""
    match risk:
        case AcceptedElicitation(data=Risk(send=True)):
            return f"The {plant} is on its way to {town}."
        case AcceptedElicitation() | DeclinedElicitation():
            return f"The {plant} stays in the greenhouse."
        case CancelledElicitation():
            return "Nothing is decided yet."
