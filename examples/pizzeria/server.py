"""A pizzeria that asks: extras, a confirmation, and an order that is placed once."""

from typing import Literal

from mcp.server import MCPServer
from pydantic import BaseModel, Field

from askback import Accepted, Askback, Cancelled, Declined, ask, confirm, once

mcp = MCPServer("pizzeria")
Askback(mcp)

orders: list[str] = []


class Extras(BaseModel):
    drink: Literal["none", "cola", "water"] = Field("none", title="Drink")
    tip: int = Field(0, ge=0, le=20, title="Tip in euro")


def place_order(pizza: str, extras: Extras) -> int:
    orders.append(f"{pizza} with {extras.drink}")
    return len(orders)


# --8<-- [start:order]
@mcp.tool()
async def order(pizza: str) -> str:
    """Order a pizza; the guest is asked about extras and must confirm."""
    match await ask("Anything with your pizza?", Extras):
        case Accepted(extras):
            if not await confirm(f"Order {pizza} with {extras.drink}?"):
                return "Nothing ordered."
            number = await once("place", place_order, pizza, extras)
            return f"Order {number}: {pizza}, {extras.drink}, tip {extras.tip}"
        case Declined():
            return f"Ordered {pizza} without extras."
        case Cancelled():
            return "Ask me again when you like."


# --8<-- [end:order]


if __name__ == "__main__":
    mcp.run()
