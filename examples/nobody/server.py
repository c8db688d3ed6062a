"""A print shop that goes on when nobody can answer."""

from datetime import timedelta
from typing import Literal

from mcp.server import MCPServer
from pydantic import BaseModel

from askback import Accepted, Askback, Cancelled, CannotAsk, Declined, InvalidAnswer, TimedOut, ask, confirm

# --8<-- [start:options]
mcp = MCPServer("print shop")
Askback(mcp, timeout=timedelta(minutes=5), reply_retries=2)
# --8<-- [end:options]

Paper = Literal["A4", "A3"]


# --8<-- [start:cannot]
@mcp.tool()
async def copy(pages: int) -> str:
    """Where nobody can be asked, go on with a default and say so."""
    try:
        paper = (await ask("Which paper?", Paper)).or_stop("Nothing copied.")
    except CannotAsk as error:
        return f"{pages} pages on A4; nobody was asked ({error.mode})."
    return f"{pages} pages on {paper}"


# --8<-- [end:cannot]


# --8<-- [start:argument]
@mcp.tool()
async def copy_on(pages: int, paper: Paper | None = None) -> str:
    """An argument for clients that cannot ask; the person is asked where it is missing."""
    if paper is None:
        paper = (await ask("Which paper?", Paper)).or_stop("Nothing copied.")
    return f"{pages} pages on {paper}"


# --8<-- [end:argument]


# --8<-- [start:late]
@mcp.tool()
async def hold_press() -> str:
    """A question with its own limit of time."""
    try:
        return "Held." if await confirm("Hold the press?", timeout=0.2) else "Printing."
    except TimedOut as error:
        return f"Nobody said anything in {error.seconds:g} seconds. Printing."


# --8<-- [end:late]


# --8<-- [start:invalid]
@mcp.tool()
async def order_copies() -> str:
    """Replies that keep not fitting end in `InvalidAnswer`."""
    try:
        return f"{(await ask('How many copies?', int)).or_stop('None.')} copies"
    except InvalidAnswer as error:
        return f"One copy, since after {error.attempts} replies the number was still unclear."


# --8<-- [end:invalid]


# --8<-- [start:three]
@mcp.tool()
async def bind(pages: int) -> str:
    """No is an answer. Closing the form is not an answer."""
    match await ask("Which binding?", Literal["glue", "thread"]):
        case Accepted(binding):
            return f"{pages} pages, bound with {binding}"
        case Declined():
            return f"{pages} loose pages"
        case Cancelled():
            return "Nothing bound yet. Call again when you know."


# --8<-- [end:three]


# --8<-- [start:stop]
class Receipt(BaseModel):
    number: int


@mcp.tool()
async def pay(euro: int) -> Receipt:
    """`or_stop` ends the call politely, in a shape that the tool's output schema allows."""
    till = (await ask(f"{euro} euro. Which till?", int)).or_stop("Nothing was paid.")
    return Receipt(number=till * 1000 + euro)


# --8<-- [end:stop]


# --8<-- [start:uncaught]
@mcp.tool()
async def ask_plainly() -> str:
    """Catches nothing: what the client then sees is on the page."""
    return (await ask("Which paper?", Paper, timeout=0.2)).or_stop("Nothing copied.")


@mcp.prompt()
async def letter() -> str:
    """A prompt that catches nothing."""
    return f"Dear {(await ask('To whom?', str, timeout=0.2)).or_stop('No letter.')}"


# --8<-- [end:uncaught]


if __name__ == "__main__":
    mcp.run()
