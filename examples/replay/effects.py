"""What a body may read and do between questions, when it runs again from the top."""

from datetime import date
from uuid import uuid4

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel

from askback import Askback, ask, confirm, once
from askback.errors import EffectFailed

mcp = MCPServer("effects")
Askback(mcp)

stock = {"lamp": 3}
paid: list[tuple[str, int]] = []


# --8<-- [start:read]
@mcp.tool()
async def buy(thing: str) -> str:
    """A read in the question: if it changes while the person thinks, they are asked once more."""
    if await confirm(f"{stock[thing]} left. Buy one?"):
        return f"Bought one of {stock[thing]}."
    return "Not bought."


def left_of(thing: str) -> int:
    return stock[thing]


@mcp.tool()
async def buy_as_seen(thing: str) -> str:
    """A read taken once: the person is held to what they saw, so look again before you act."""
    seen = await once("left", left_of, thing)
    if not await confirm(f"{seen} left. Buy one?"):
        return "Not bought."
    return f"Bought one of {stock[thing]}." if stock[thing] else "Sold out meanwhile."


# --8<-- [end:read]


# --8<-- [start:id]
@mcp.tool()
async def number_by_request(ctx: Context) -> str:
    """Wrong: on the rounds era each round is a request of its own, with its own id."""
    number = ctx.request_id
    return f"{number}: {await confirm(f'Book as number {number}?')}"


def new_id() -> str:
    return str(uuid4())


def pay(order: str, euro: int) -> str:
    """Ask the bank; it knows `order` again if the same call arrives twice."""
    paid.append((order, euro))
    return f"paid {euro}"


@mcp.tool()
async def pay_once(euro: int) -> str:
    """Right: an id of your own, made before the question, names the effect to others as well."""
    order = await once("order", new_id)
    if not await confirm(f"Pay {euro} euro?"):
        return "Not paid."
    return await once("pay", pay, order, euro)


# --8<-- [end:id]


# --8<-- [start:result]
class Receipt(BaseModel):
    number: int
    day: date


def issue(number: int) -> Receipt:
    """What comes back is declared, so a replay gives a Receipt again and not a dict."""
    return Receipt(number=number, day=date(2026, 7, 28))


@mcp.tool()
async def receipt(number: int) -> str:
    """Any result that pydantic can write as JSON and read back."""
    given = await once("receipt", issue, number)
    return f"{given.number} of {given.day}, sent: {await confirm('Send it?')}"


# --8<-- [end:result]


# --8<-- [start:failure]
def charge() -> int:
    raise ConnectionError("the bank did not answer")


@mcp.tool()
async def charge_or_bill() -> str:
    """A failure is recorded too: a replay fails alike and does not try again."""
    try:
        await once("charge", charge)
    except EffectFailed as failed:
        if await confirm("The bank is closed. Send a bill?"):
            return f"A bill, since: {failed.kind}."
        return "Nothing charged."
    return "Charged."


# --8<-- [end:failure]


# --8<-- [start:unrecordable]
def open_connection() -> object:
    return object()


@mcp.tool()
async def keep_connection() -> str:
    """Wrong: a connection cannot be written down."""
    return str(await once("connection", open_connection))


# --8<-- [end:unrecordable]


# --8<-- [start:large]
@mcp.tool()
async def keep_report() -> str:
    """Wrong: what `once` returns travels with the client on every round."""
    report = await once("report", lambda: "page " * 100_000)
    return f"{len(report)} {await confirm('Send it?')}"


# --8<-- [end:large]


# --8<-- [start:inside]
async def ask_and_pay() -> int:
    return (await ask("How much?", int)).or_stop("Nothing.")


@mcp.tool()
async def ask_inside() -> str:
    """Wrong: a question inside an effect would be asked again with it."""
    return str(await once("pay", ask_and_pay))


# --8<-- [end:inside]


# --8<-- [start:branch]
@mcp.tool()
async def pack(rain: bool) -> str:
    """Where what is asked depends on anything else than answers, keys keep the places apart."""
    umbrella = rain and await confirm("An umbrella?", key="umbrella")
    return f"umbrella: {umbrella}, coat: {await confirm('A coat?', key='coat')}"


# --8<-- [end:branch]


if __name__ == "__main__":
    mcp.run()
