"""Small servers for tests: one tool, made on the spot from a body that takes a context."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from fastmcp import Context as FastMCPContext
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.elicitation import render_elicitation_schema
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    TextContent,
)
from pydantic import BaseModel, Field

from askback import Askback

End = str | InputRequiredResult
Body = Callable[[Context[Any, Any]], Awaitable[End]]


class Seat(BaseModel):
    """What most of the tests ask for."""

    row: int = Field(ge=1, le=9)
    side: Literal["aisle", "window"] = "aisle"


class Name(BaseModel):
    name: str


def mcpserver(body: Body, **options: Any) -> MCPServer[Any]:
    """An MCPServer whose tool "t" is `body`."""
    server: MCPServer[Any] = MCPServer("test")

    async def run_body(ctx: Context[Any, Any]) -> End:
        return await body(ctx)

    server.add_tool(run_body, name="t")
    Askback(server, **options)
    return server


def lowlevel(body: Body, **options: Any) -> Server[Any]:
    """A low-level Server whose tool "t" is `body`; the SDK's other context does all that a body here needs."""

    async def call(
        ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        end = await body(Context(request_context=ctx, input_params=params))
        return CallToolResult(content=[TextContent(text=end)]) if isinstance(end, str) else end

    server: Server[Any] = Server("test", on_call_tool=call)
    Askback(server, **options)
    return server


def fastmcp(body: Callable[[Any], Awaitable[End]], **options: Any) -> FastMCP[Any]:
    """A FastMCP whose tool "t" is `body`; its context has what a body here needs, but for `elicit_url`."""
    server: FastMCP[Any] = FastMCP("test")

    async def run_body(ctx: FastMCPContext) -> End:
        return await body(ctx)

    server.tool(run_body, name="t")
    Askback(server, **options)
    return server


SDK_HOSTS: dict[str, Callable[..., Any]] = {"MCPServer": mcpserver, "Server": lowlevel}
HOSTS: dict[str, Callable[..., Any]] = {**SDK_HOSTS, "FastMCP": fastmcp}


def form(message: str, model: type[BaseModel] = Seat) -> ElicitRequest:
    """A form as a body writes it that returns its own questions."""
    schema = render_elicitation_schema(model)
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def link(message: str, url: str, name: str | None = None) -> ElicitRequest:
    """A link as such a body writes it."""
    return ElicitRequest(params=ElicitRequestURLParams(message=message, url=url, elicitation_id=name))


def asking(*, state: str | None = None, **questions: InputRequest) -> InputRequiredResult:
    """A round as such a body returns it."""
    return InputRequiredResult(input_requests=questions or None, request_state=state)


def content_of(ctx: Context[Any, Any], key: str) -> Any:
    """What was filled in, or the action that was taken instead."""
    reply = (ctx.input_responses or {})[key]
    assert isinstance(reply, ElicitResult)
    return reply.content if reply.action == "accept" else reply.action
