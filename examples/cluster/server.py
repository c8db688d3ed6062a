"""A bank in several processes: any worker can serve the next request, and a restart ends no call."""

import os
from typing import Any
from uuid import uuid4

from mcp.server import MCPServer
from starlette.applications import Starlette

from askback import Askback, Choice, ask, confirm, once


# --8<-- [start:transfer]
async def transfer(amount: int, to: str) -> str:
    """Transfer money; the owner of the account chooses where it comes from, and says yes."""
    source = (await ask("From which account?", {"account": Choice(["savings", "current"])})).or_stop(
        "Not sent."
    )
    if not await confirm(f"Send {amount} euro from {source['account']} to {to}?"):
        return "Not sent."
    receipt = await once("send", send, amount, to)
    return f"Sent {amount} euro to {to}, receipt {receipt}."


# --8<-- [end:transfer]


async def send(amount: int, to: str) -> str:
    """The effect: it must happen once, whichever worker comes to it, and however often."""
    return f"{to}-{amount}-by-worker-{os.getpid()}"


# --8<-- [start:retry]
async def remind(customer: str) -> str:
    """Send a reminder. The post office knows the number of a letter, and sends each once."""
    if not await confirm(f"Remind {customer}?"):
        return "Not reminded."
    number = await once("number", new_number)
    await once("post", post, number, customer, retry=True)
    return f"{customer} is reminded."


# --8<-- [end:retry]


def new_number() -> str:
    """Kept by `once`, so that the worker that goes on has the same value."""
    return uuid4().hex


async def post(number: str, customer: str) -> None:
    """Harmless to repeat: the number is the same."""


# --8<-- [start:app]
def make_app() -> Starlette:
    """For `uvicorn --factory`: the same on every worker, with the same name, keys and store."""
    server: MCPServer[Any] = MCPServer("bank", log_level="WARNING")
    server.add_tool(transfer)
    server.add_tool(remind)
    Askback(server, keys=os.environ["BANK_KEYS"].split(), store=os.environ["BANK_STORE"])
    return server.streamable_http_app()


# --8<-- [end:app]
