"""The pizzeria on FastMCP, with a cellar that is mounted in it: the one line covers both."""

from fastmcp import Context, FastMCP

from askback import Askback, choose
from examples.pizzeria.server import order

# --8<-- [start:server]
mcp = FastMCP("pizzeria")
Askback(mcp)
mcp.tool(order)
# --8<-- [end:server]


# --8<-- [start:cellar]
cellar = FastMCP("cellar")


@cellar.tool
async def wine(ctx: Context) -> str:
    """Bring a wine; written for FastMCP alone, and unchanged."""
    answer = await ctx.elicit("Which wine?", response_type=["red", "white"])
    return f"A glass of {answer.data}." if answer.action == "accept" else "Water, then."


@cellar.prompt
async def pairing(pizza: str) -> str:
    """What to drink with a pizza."""
    mood = (await choose("What kind of evening is it?", ["quiet", "festive"])).or_stop("Drink what you like.")
    return f"Which wine goes with {pizza} on a {mood} evening?"


@cellar.resource("bottle://{shelf}/label")
async def label(shelf: str) -> str:
    """The label of the bottle on a shelf."""
    language = (await choose("In which language?", ["en", "it"])).or_stop("(no label)")
    return f"Shelf {shelf}, label in {language}"


mcp.mount(cellar)
# --8<-- [end:cellar]


if __name__ == "__main__":
    mcp.run(show_banner=False)
