"""The cafe as an MCPServer. The page on styles shows these bodies."""

from collections.abc import Callable
from typing import Annotated, Any
from uuid import uuid4

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp_types import ElicitResult, InputRequiredResult

from askback import Accepted, Askback, Cancelled, Declined, ask, sync
from tests.support.cafe.order import QUESTION, Order


# --8<-- [start:ask]
async def order_with_ask() -> str:
    match await ask("What would you like?", Order):
        case Accepted(order):
            return f"One {order.drink}."
        case Declined():
            return "Nothing, then."
        case Cancelled():
            return "Ask me again later."


# --8<-- [end:ask]


# --8<-- [start:elicit]
async def order_with_elicit(ctx: Context) -> str:
    result = await ctx.elicit("What would you like?", Order)
    if result.action == "accept":
        return f"One {result.data.drink}."
    return "Nothing, then." if result.action == "decline" else "Ask me again later."


# --8<-- [end:elicit]


# --8<-- [start:elicit_url]
async def order_with_elicit_url(ctx: Context) -> str:
    number = str(uuid4())
    link = f"https://till.example/pay/{number}"
    result = await ctx.elicit_url("Please pay for your tea.", link, number)
    if result.action == "accept":
        return "One tea."
    return "Nothing, then." if result.action == "decline" else "Ask me again later."


# --8<-- [end:elicit_url]


# --8<-- [start:resolve]
async def what_to_drink() -> Elicit[Order]:
    return Elicit("What would you like?", Order)


async def order_with_resolver(order: Annotated[Order, Resolve(what_to_drink)]) -> str:
    return f"One {order.drink}."


# --8<-- [end:resolve]


# --8<-- [start:own]
async def order_with_own_result(ctx: Context) -> str | InputRequiredResult:
    if ctx.input_responses is None:
        return InputRequiredResult(input_requests={"order": QUESTION}, request_state="asked")
    match ctx.input_responses["order"]:
        case ElicitResult(action="accept", content={"drink": drink}):
            return f"One {drink}."
        case ElicitResult(action="decline"):
            return "Nothing, then."
        case _:
            return "Ask me again later."


# --8<-- [end:own]


# --8<-- [start:sync]
def order_in_a_thread() -> str:
    match sync.ask("What would you like?", Order):
        case Accepted(order):
            return f"One {order.drink}."
        case Declined():
            return "Nothing, then."
        case Cancelled():
            return "Ask me again later."


# --8<-- [end:sync]


BODIES: dict[str, Callable[..., Any]] = {
    "ask": order_with_ask,
    "ctx.elicit": order_with_elicit,
    "ctx.elicit_url": order_with_elicit_url,
    "Resolve": order_with_resolver,
    "own result": order_with_own_result,
    "sync": order_in_a_thread,
}


def cafe(style: str) -> MCPServer[Any]:
    mcp: MCPServer[Any] = MCPServer("cafe")
    Askback(mcp)
    mcp.add_tool(BODIES[style], name="order")
    return mcp
