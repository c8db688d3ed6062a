"""The cafe as a low-level Server, where a tool is whatever its one handler makes of the parameters."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, InputRequiredResult, TextContent

from askback import Askback
from tests.support.cafe.mcpserver import order_in_a_thread, order_with_ask
from tests.support.cafe.order import MESSAGE, SCHEMA, TO_PAY, Absent, own_round, said, till

Context = ServerRequestContext[Any, Any]
Body = Callable[[Context, CallToolRequestParams], Awaitable[str | InputRequiredResult]]

NO_RESOLVERS = Absent(why="a low-level handler takes the request as it came and has no parameters to resolve")


async def with_ask(_ctx: Context, _params: CallToolRequestParams) -> str:
    return await order_with_ask()


async def with_elicit(ctx: Context, _params: CallToolRequestParams) -> str:
    result = await ctx.session.elicit_form(MESSAGE, SCHEMA, ctx.request_id)
    return said(result.action, (result.content or {}).get("drink"))


async def with_elicit_url(ctx: Context, _params: CallToolRequestParams) -> str:
    result = await ctx.session.elicit_url(TO_PAY, *till(), ctx.request_id)
    return said(result.action)


async def with_own_result(_ctx: Context, params: CallToolRequestParams) -> str | InputRequiredResult:
    return own_round(params.input_responses)


async def in_a_thread(_ctx: Context, _params: CallToolRequestParams) -> str:
    return await anyio.to_thread.run_sync(order_in_a_thread)


BODIES: dict[str, Body] = {
    "ask": with_ask,
    "ctx.elicit": with_elicit,
    "ctx.elicit_url": with_elicit_url,
    "own result": with_own_result,
    "sync": in_a_thread,
}


def cafe(style: str) -> Server[Any] | Absent:
    if style == "Resolve":
        return NO_RESOLVERS
    body = BODIES[style]

    async def call(ctx: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        end = await body(ctx, params)
        return CallToolResult(content=[TextContent(text=end)]) if isinstance(end, str) else end

    server: Server[Any] = Server("cafe", on_call_tool=call)
    Askback(server)
    return server
