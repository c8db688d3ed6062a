"""The server with Askback: the tools as an author writes them with `await ask(...)`."""

from secrets import token_bytes

from mcp.server import MCPServer

from askback import Accepted, Askback, ask
from askback.stores import Store
from bench.order import Extras, bill, message


async def nothing(guest: str) -> str:
    return bill([])


async def one(guest: str) -> str:
    match await ask(message(guest), Extras):
        case Accepted(extras):
            return bill([extras])
        case _:
            return "Nothing ordered."


async def five(guest: str) -> str:
    orders: list[Extras] = []
    for course in range(1, 6):
        match await ask(message(guest, course), Extras):
            case Accepted(extras):
                orders.append(extras)
            case _:
                return "Nothing ordered."
    return bill(orders)


BODIES = (nothing, one, five)


def make_server(store: Store | None = None) -> MCPServer:
    server = MCPServer("bench", log_level="ERROR")
    Askback(server, store=store)
    return _with_tools(server)


def make_shared_server(store: str, *, ledger: bool | None = None) -> MCPServer:
    """As one of several workers would be set up."""
    server = MCPServer("bench", log_level="ERROR")
    Askback(server, store=store, keys=[token_bytes(32)], ledger=ledger)
    return _with_tools(server)


def _with_tools(server: MCPServer) -> MCPServer:
    for body in BODIES:
        server.tool()(body)
    return server
