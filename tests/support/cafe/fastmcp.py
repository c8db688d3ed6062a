"""The cafe on FastMCP: as the server that clients meet, and mounted in one."""

from collections.abc import Callable
from typing import Annotated, Any

from fastmcp import Context, FastMCP
from mcp.server.mcpserver import Resolve
from mcp_types import InputRequiredResult

from askback import Askback
from tests.support.cafe.mcpserver import order_in_a_thread, order_with_ask, what_to_drink
from tests.support.cafe.order import MESSAGE, TO_PAY, Order, own_round, said, till


async def with_elicit(ctx: Context) -> str:
    result = await ctx.elicit(MESSAGE, Order)
    return said(result.action, result.data.drink if result.action == "accept" else None)


async def with_elicit_url(ctx: Context) -> str:
    result = await ctx.session.elicit_url(TO_PAY, *till(), ctx.request_id)
    return said(result.action)


async def with_resolver(order: Annotated[Order, Resolve(what_to_drink)]) -> str:
    return f"One {order.drink}."


async def with_own_result(ctx: Context) -> str | InputRequiredResult:
    return own_round(ctx.input_responses)


BODIES: dict[str, Callable[..., Any]] = {
    "ask": order_with_ask,
    "ctx.elicit": with_elicit,
    "ctx.elicit_url": with_elicit_url,
    "Resolve": with_resolver,
    "own result": with_own_result,
    "sync": order_in_a_thread,
}


def cafe(style: str) -> FastMCP[Any]:
    mcp = _serving(style)
    Askback(mcp)
    return mcp


def mounted_cafe(style: str) -> FastMCP[Any]:
    """Askback is installed on the parent, which is the server that clients meet."""
    mall: FastMCP[Any] = FastMCP("mall")
    Askback(mall)
    mall.mount(_serving(style))
    return mall


def _serving(style: str) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("cafe")
    mcp.tool(BODIES[style], name="order")
    return mcp
