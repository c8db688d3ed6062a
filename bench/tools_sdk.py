"""The same server without Askback: `ctx.elicit()`, resolvers, and results written by hand."""

from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, Resolve

from bench.order import Extras, bill, message
from bench.tools_askback import nothing
from bench.tools_by_hand import five_by_hand, one_by_hand


async def one_elicit(guest: str, ctx: Context[Any, Any]) -> str:
    match await ctx.elicit(message(guest), Extras):
        case AcceptedElicitation(data=extras):
            return bill([extras])
        case _:
            return "Nothing ordered."


async def five_elicit(guest: str, ctx: Context[Any, Any]) -> str:
    orders: list[Extras] = []
    for course in range(1, 6):
        match await ctx.elicit(message(guest, course), Extras):
            case AcceptedElicitation(data=extras):
                orders.append(extras)
            case _:
                return "Nothing ordered."
    return bill(orders)


# Each resolver waits for the one before: that is how resolvers ask in sequence.


async def first(guest: str) -> Elicit[Extras]:
    return Elicit(message(guest), Extras)


First = Annotated[Extras, Resolve(first)]


async def second(guest: str, before: First) -> Elicit[Extras]:
    return Elicit(message(guest, 2), Extras)


Second = Annotated[Extras, Resolve(second)]


async def third(guest: str, before: Second) -> Elicit[Extras]:
    return Elicit(message(guest, 3), Extras)


Third = Annotated[Extras, Resolve(third)]


async def fourth(guest: str, before: Third) -> Elicit[Extras]:
    return Elicit(message(guest, 4), Extras)


Fourth = Annotated[Extras, Resolve(fourth)]


async def fifth(guest: str, before: Fourth) -> Elicit[Extras]:
    return Elicit(message(guest, 5), Extras)


Fifth = Annotated[Extras, Resolve(fifth)]


async def one_resolver(guest: str, a: First) -> str:
    return bill([a])


async def five_resolver(guest: str, a: First, b: Second, c: Third, d: Fourth, e: Fifth) -> str:
    return bill([a, b, c, d, e])


def make_server() -> MCPServer:
    server = MCPServer("bench", log_level="ERROR")
    for body in (nothing, one_elicit, five_elicit, one_resolver, five_resolver, one_by_hand, five_by_hand):
        server.tool()(body)
    return server
