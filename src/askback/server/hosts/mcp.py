"""The adapter of the official SDK: how Askback is installed into `MCPServer` and the low-level `Server`."""

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from inspect import signature
from typing import Any, cast

import anyio
from mcp.server import MCPServer
from mcp.server.lowlevel.server import HandlerEntry, Server
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import FunctionResource, ResourceTemplate
from mcp.server.mcpserver.tools import Tool
from mcp.server.request_state import RequestStateBoundary
from mcp.server.session import ServerSession
from mcp.shared.dispatcher import DispatchContext
from mcp_types import ListToolsResult, PaginatedRequestParams
from mcp_types import Tool as ListedTool
from mcp_types.methods import is_input_required

from askback.errors import UnsupportedHost, own_error
from askback.guards.guard import GuardMarks, refuse_bypass
from askback.pages.settings import ROOT
from askback.protocol.revisions import TOOLS_LIST
from askback.runtime.current import CURRENT, forgotten_await
from askback.server.hosts.boundary import Context, require_one_boundary
from askback.server.hosts.patches import (
    patch_bodies,
    patch_get_request_handler,
    patch_lifespan,
    patch_mcpserver_verb,
    require,
    require_bodies,
)

SDK_NAME = "mcp-server"
"""What the SDK calls every `MCPServer` that its author did not name."""

VERBS = ("call_tool", "get_prompt", "read_resource")

BODIES: dict[type, str] = {
    Tool: "run",
    Prompt: "render",
    FunctionResource: "read",
    ResourceTemplate: "create_resource",
}
"""The classes that run an author's function, their `fn`, and the method that runs it."""

MAX_TOOL_PAGES = 100
"""A tool list that never ends must not hang a call."""


def inner_server_of(server: object) -> object:
    """The low-level server inside an `MCPServer`. Anything else is taken to be one."""
    return cast("Any", vars(server).get("_lowlevel_server")) if isinstance(server, MCPServer) else server


def require_lowlevel(inner: object, server: object) -> Server[Any]:
    """Give `inner` back if it is a low-level server with everything we rely on. Raises `UnsupportedHost`."""
    if not isinstance(inner, Server):
        raise UnsupportedHost(
            "Askback can be installed into MCPServer and the low-level Server of the mcp package and into FastMCP, "
            f"not into {server!r:.80}. Pass the server object itself."
        )
    lowlevel = cast("Server[Any]", inner)
    require(isinstance(getattr(lowlevel, "middleware", None), list), "Server.middleware is a list")
    require(hasattr(lowlevel, "server_info_stamp"), "Server.server_info_stamp exists")
    require(
        "request_outbound" in signature(ServerSession).parameters, "ServerSession holds its request's channel"
    )
    require(
        "security" in signature(RequestStateBoundary).parameters, "RequestStateBoundary takes its security"
    )
    has_tools = not isinstance(server, MCPServer) or "_tool_manager" in vars(cast("object", server))
    require(has_tools, "MCPServer holds its tools in a manager")
    require_bodies("mcp", BODIES)
    return lowlevel


def back_channel(ctx: Context) -> DispatchContext[Any]:
    """The channel of this request back to the client: over HTTP, the stream that answers the call."""
    return ctx.session._request_outbound  # pyright: ignore[reportPrivateUsage] # no public way to send raw parameters


def close_with_server(lowlevel: Server[Any], close: Callable[[], Awaitable[None]]) -> None:
    """Call `close` when the server ends, inside its lifespan. The server may be run again."""
    runs = 0

    @asynccontextmanager
    async def run_and_close(lifespan: Any, server: Server[Any]) -> AsyncGenerator[Any]:
        nonlocal runs
        require_one_boundary(lowlevel)
        async with lifespan(server) as state:
            runs += 1  # behind several transports at once
            try:
                yield state
            finally:
                runs -= 1
                if not runs:
                    # Servers end by cancellation, and nothing must stay open.
                    with anyio.CancelScope(shield=True):
                        await close()

    patch_lifespan(lowlevel, run_and_close)


def run_while_serving(lowlevel: Server[Any], work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `work` for as long as the server runs, on asyncio's event loop."""

    @asynccontextmanager
    async def run_with_work(lifespan: Any, server: Server[Any]) -> AsyncGenerator[Any]:
        # In a context of its own: it belongs to no request.
        task = asyncio.get_running_loop().create_task(work(), context=contextvars.Context())
        try:
            async with lifespan(server) as state:
                yield state
        finally:
            task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([task])

    patch_lifespan(lowlevel, run_with_work)


def add_pages(server: object, app: object) -> None:
    """Serve pages beside /mcp, if the server has an HTTP application of its own. A low-level server has none."""
    if isinstance(server, MCPServer):
        cast("Any", server).custom_route(f"{ROOT}/{{path:path}}", methods=["GET", "POST"])(app)


def is_protected(server: object) -> bool | None:
    """None for a low-level server, which does not know what authenticates before it."""
    return cast("MCPServer[Any]", server).settings.auth is not None if isinstance(server, MCPServer) else None


def is_named(server: object) -> bool:
    """False for an `MCPServer` with the SDK's own name, and for a low-level server with an empty one."""
    name = cast("Any", server).name
    return bool(name.strip()) and not (isinstance(server, MCPServer) and name == SDK_NAME)


def intercept_returned_questions(lowlevel: Server[Any]) -> None:
    """Give questions that a body returns to the running conversation, before the SDK refuses them."""
    patch_get_request_handler(lowlevel, _find_handler)


def _find_handler(look_up: Any, method: str) -> HandlerEntry[Any] | None:
    entry, conversation = look_up(method), CURRENT.get()
    if GuardMarks.exist and conversation is not None and entry is not None:
        refuse_bypass(method, entry.handler)
    if conversation is None or not conversation.takes_returns or entry is None:
        return entry

    async def run_and_hand_over(ctx: Context, params: Any) -> Any:
        result = await entry.handler(ctx, params)
        if is_input_required(result):
            hand_over_questions(result)
        return result

    return replace(entry, handler=run_and_hand_over)


def hand_over_questions(result: object) -> None:
    """Let the conversation ask the questions that a body returned, on a revision that cannot carry them."""
    conversation = CURRENT.get()
    if conversation is not None and conversation.takes_returns:
        conversation.hand_back(result)


async def output_schema(lowlevel: Server[Any], ctx: Context, tool: str) -> dict[str, Any] | None:
    """The output schema that a tool is listed with. Needed only when a call stops early."""
    found = await listed_tool(lowlevel, ctx, tool)
    return None if found is None else found.output_schema


async def listed_tool(lowlevel: Server[Any], ctx: Context, name: str) -> ListedTool | None:
    """A tool as the server lists it."""
    entry = lowlevel.get_request_handler(TOOLS_LIST)
    cursor: str | None = None
    for _ in range(MAX_TOOL_PAGES if entry is not None else 0):
        assert entry is not None
        listed = await entry.handler(ctx, PaginatedRequestParams(cursor=cursor))
        if not isinstance(listed, ListToolsResult):
            return None
        found = next((item for item in listed.tools if item.name == name), None)
        cursor = listed.next_cursor
        if found is not None or cursor is None:
            return found
    return None


def install(server: object) -> None:
    """Make an `MCPServer` refuse bare functions that are guarded elsewhere, and let our errors pass as they are."""
    if isinstance(server, MCPServer):
        patch_bodies(_refuse_bare, "mcp", *BODIES.items())
        for verb in VERBS:
            patch_mcpserver_verb(cast("object", server), verb, _pass_errors)


_REFUSES_BARE: contextvars.ContextVar[bool] = contextvars.ContextVar("askback_refuses_bare", default=False)
"""Whether what runs now is run by a server with Askback; other servers of this process run what they like."""


def _refuse_bare(run: Any) -> Any:
    """On servers with Askback, refuse a bare function that is guarded elsewhere, however it was added."""

    async def run_guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        if GuardMarks.exist and _REFUSES_BARE.get():
            refuse_bypass(self.name, self.fn)
        return await run(self, *args, **kwargs)

    return run_guarded


async def _pass_errors(run: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
    token = _REFUSES_BARE.set(True)
    try:
        return await run(*args, **kwargs)
    except (ToolError, ResourceError) as error:
        ours = own_error(error.__cause__)
        if ours is None and not isinstance(error.__cause__, ToolError | ResourceError):
            ours = forgotten_await(error.__cause__)  # a crash; what an author raises on purpose stays
        if ours is None:
            raise
        raise ours from ours.__cause__  # from `error`, which it caused, it would go round in circles
    finally:
        _REFUSES_BARE.reset(token)
