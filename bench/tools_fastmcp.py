"""The same tools on FastMCP: `ctx.elicit()` and results written by hand without Askback, `await ask(...)` with it."""

from typing import Any

from fastmcp import Context, FastMCP
from mcp_types import InputRequiredResult

from askback import Askback
from bench.order import Extras, bill, message
from bench.tools_askback import BODIES, nothing
from bench.tools_by_hand import in_turn


async def one_elicit(guest: str, ctx: Context) -> str:
    return await _elicit(ctx, guest, courses=1)


async def five_elicit(guest: str, ctx: Context) -> str:
    return await _elicit(ctx, guest, courses=5)


async def _elicit(ctx: Context, guest: str, *, courses: int) -> str:
    orders: list[Extras] = []
    for course in range(1, courses + 1):
        answer = await ctx.elicit(message(guest, course), Extras)
        if answer.action != "accept":
            return "Nothing ordered."
        orders.append(answer.data)
    return bill(orders)


async def one_by_hand(guest: str, ctx: Context) -> str | InputRequiredResult:
    return in_turn(ctx, guest, courses=1)


async def five_by_hand(guest: str, ctx: Context) -> str | InputRequiredResult:
    return in_turn(ctx, guest, courses=5)


def make_server() -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("bench")
    for body in (nothing, one_elicit, five_elicit, one_by_hand, five_by_hand):
        server.tool(body)
    return server


def make_server_with_askback() -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("bench")
    Askback(server)
    for body in BODIES:
        server.tool(body)
    return server
