"""A reading room whose services know their readers by a key, or by a card and a PIN."""

from datetime import timedelta
from typing import Any

from mcp.server import MCPServer

from askback import Accepted, Askback, Cancelled, Declined, secret
from askback.vault import Secret, SecretField


class WrongKey(Exception):
    """The dictionary does not know the key."""


async def look_up(word: str, *, key: str) -> str:
    """Stands for a dictionary elsewhere, which knows one key."""
    if key != "a-right-key":
        raise WrongKey
    return f"{word}: a word with {len(word)} letters"


async def reserve(title: str, *, card: str, pin: str) -> str:
    """Stands for a library elsewhere."""
    return f"{title} is reserved on card {card[-2:]}, with a PIN of {len(pin)} digits."


# --8<-- [start:first]
async def define(word: str) -> str:
    """What a word means, from a dictionary that wants its reader's own key."""
    match await secret("The dictionary answers readers with a key of their own.", "dictionary key"):
        case Accepted(key):
            return await look_up(word, key=key.reveal())
        case Declined():
            return "Without a key nothing can be looked up."
        case Cancelled():
            return "Call again when you have your key at hand."


# --8<-- [end:first]


# --8<-- [start:reject]
async def define_at_last(word: str) -> str:
    """A key that the dictionary does not accept is asked for again, in the same call."""
    while True:
        key = await dictionary_key()
        try:
            return await look_up(word, key=key.reveal())
        except WrongKey:
            await key.reject("The dictionary does not know this key.")


# --8<-- [end:reject]


# --8<-- [start:several]
async def dictionary_key() -> Secret:
    """For every tool that looks words up: the same name is the same secret."""
    answer = await secret("The dictionary answers readers with a key of their own.", "dictionary key")
    return answer.or_stop("Without a key nothing can be looked up.")


async def compare(one: str, other: str) -> str:
    """Two words side by side."""
    key = (await dictionary_key()).reveal()
    return f"{await look_up(one, key=key)}; {await look_up(other, key=key)}"


# --8<-- [end:several]


# --8<-- [start:fields]
async def lend(title: str) -> str:
    """Reserve a book in the reader's name."""
    answer = await secret(
        "The library reserves books for its members.",
        "library account",
        fields={
            "card": SecretField(label="Number of your card", hint="Ten digits, on its back.", hidden=False),
            "pin": "PIN",
        },
        keep=timedelta(days=30),
    )
    account = answer.or_stop("Nothing reserved.")
    return await reserve(title, card=account.reveal("card"), pin=account.reveal("pin"))


# --8<-- [end:fields]


def make_server(**options: Any) -> MCPServer[Any]:
    """The reading room; the options are those of Askback."""
    server: MCPServer[Any] = MCPServer("reading room")
    for body in (define, define_at_last, compare, lend):
        server.add_tool(body)
    Askback(server, **options)
    return server


if __name__ == "__main__":
    make_server().run()
