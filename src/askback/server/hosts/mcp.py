"""The official SDK's `MCPServer` and low-level `Server`: how Askback is installed into them."""

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any, cast

import anyio
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import HandlerEntry
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.request_state import RequestStateBoundary
from mcp.server.session import ServerSession
from mcp_types import ListToolsResult, PaginatedRequestParams, Tool
from mcp_types.methods import is_input_required

from askback.errors import UnsupportedHost, own_error
from askback.guards.wrapper import GuardMarks, refuse_bypass
from askback.pages.settings import ROOT
from askback.protocol.revisions import TOOLS_LIST
from askback.protocol.server.push import BackChannel
from askback.runtime.current import CURRENT
from askback.runtime.unawaited import forgotten_await
from askback.server.hosts.boundary import Context, require_one_boundary
from askback.server.hosts.patches import (
    patch_get_request_handler,
    patch_lifespan,
    patch_mcpserver_verb,
    require,
)

SDK_NAME = "mcp-server"
"""What the SDK calls every `MCPServer` that its author did not name."""

MAX_TOOL_PAGES = 100
"""A tool list that never ends must not hang a call."""


def inner_server_of(server: object) -> object:
    """The low-level server inside an `MCPServer`; anything else is taken for one itself."""
    return cast("Any", vars(server).get("_lowlevel_server")) if isinstance(server, MCPServer) else server


def require_lowlevel(inner: object, server: object) -> Server[Any]:
    """`inner`, if it is a low-level server with everything we rely on."""
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
    return lowlevel


def back_channel(ctx: Context) -> BackChannel:
    """The channel of this very request: over HTTP it is the stream that answers the call."""
    return ctx.session._request_outbound  # pyright: ignore[reportPrivateUsage] # no public way to send raw parameters


def close_with_server(lowlevel: Server[Any], close: Callable[[], Awaitable[None]]) -> None:
    """Call `close` when the server has ended, inside its lifespan; the server may be run again."""
    runs = 0

    def closing_lifespan(lifespan: Any) -> Any:
        @asynccontextmanager
        async def run(server: Server[Any]) -> AsyncGenerator[Any]:
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

        return run

    patch_lifespan(lowlevel, closing_lifespan)


def run_while_serving(lowlevel: Server[Any], work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `work` for as long as the server runs, on asyncio's event loop."""

    def working_lifespan(lifespan: Any) -> Any:
        @asynccontextmanager
        async def run(server: Server[Any]) -> AsyncGenerator[Any]:
            # In a context of its own: it belongs to no request.
            task = asyncio.get_running_loop().create_task(work(), context=contextvars.Context())
            try:
                async with lifespan(server) as state:
                    yield state
            finally:
                task.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([task])

        return run

    patch_lifespan(lowlevel, working_lifespan)


def add_pages(server: object, app: object) -> None:
    """Beside /mcp, where the server has an HTTP application of its own; a low-level one has none."""
    if isinstance(server, MCPServer):
        cast("Any", server).custom_route(f"{ROOT}/{{path:path}}", methods=["GET", "POST"])(app)


def is_protected(server: object) -> bool | None:
    """A low-level server does not know who is let in before it."""
    return cast("MCPServer[Any]", server).settings.auth is not None if isinstance(server, MCPServer) else None


def is_named(server: object) -> bool:
    """An `MCPServer` without a name takes the SDK's; a low-level server must be given one, and may be given none."""
    name = cast("Any", server).name
    return bool(name.strip()) and not (isinstance(server, MCPServer) and name == SDK_NAME)


def intercept_returned_questions(lowlevel: Server[Any]) -> None:
    """Show questions that a body returns to the running conversation, before the SDK refuses them."""
    wrapped: dict[str, tuple[HandlerEntry[Any], HandlerEntry[Any]]] = {}

    def intercepting_lookup(look_up: Any) -> Any:
        def get_request_handler(method: str) -> HandlerEntry[Any] | None:
            entry, conversation = look_up(method), CURRENT.get()
            if GuardMarks.exist and conversation is not None and entry is not None:
                refuse_bypass(method, entry.handler)
            if conversation is None or not conversation.takes_returns or entry is None:
                return entry
            if (
                method not in wrapped or wrapped[method][0] is not entry
            ):  # another can be registered at any time
                wrapped[method] = entry, replace(entry, handler=_handing_over(entry.handler))
            return wrapped[method][1]

        return get_request_handler

    patch_get_request_handler(lowlevel, intercepting_lookup)


def _handing_over(run: Callable[..., Awaitable[Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
    async def run_and_hand_over(ctx: Context, params: Any) -> Any:
        result = await run(ctx, params)
        if is_input_required(result):
            hand_over_questions(result)
        return result

    return run_and_hand_over


def hand_over_questions(result: object) -> None:
    """Leave with the questions that a body returned, on a revision that cannot carry them."""
    conversation = CURRENT.get()
    if conversation is not None and conversation.takes_returns:
        conversation.hand_back(result)


async def output_schema(lowlevel: Server[Any], ctx: Context, tool: str) -> dict[str, Any] | None:
    """The output schema a tool is listed with; asked only when a call stops early."""
    found = await listed_tool(lowlevel, ctx, tool)
    return None if found is None else found.output_schema


async def listed_tool(lowlevel: Server[Any], ctx: Context, name: str) -> Tool | None:
    """A tool as the server's own list has it."""
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


def install_mcpserver(server: object) -> None:
    """Make an MCPServer refuse bare functions that are guarded elsewhere, and let our errors pass as they are."""
    if isinstance(server, MCPServer):
        for verb, find in _COMPONENTS.items():
            patch_mcpserver_verb(
                cast("object", server), verb, partial(_intercepting_verb, partial(find, server))
            )


def _tools(host: Any, name: str) -> list[Any]:
    return [host._tool_manager.get_tool(name)]


def _prompts(host: Any, name: str) -> list[Any]:
    return [host._prompt_manager.get_prompt(name)]


def _resources(host: Any, uri: object) -> list[Any]:
    """All that it could be, as far as we need to know."""
    resources, templates = host._resource_manager.list_resources(), host._resource_manager.list_templates()
    return [one for one in resources if str(one.uri) == str(uri)] or [
        one for one in templates if _matches(one, str(uri))
    ]


def _matches(template: Any, uri: str) -> bool:
    try:
        return template.matches(uri) is not None
    except ValueError:  # the host refuses it by itself
        return False


_COMPONENTS: dict[str, Callable[[Any, Any], list[Any]]] = {
    "call_tool": _tools,
    "get_prompt": _prompts,
    "read_resource": _resources,
}
"""What each verb of an MCPServer would run."""


def _intercepting_verb(
    find: Callable[[Any], list[Any]], run: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    async def run_intercepted(*args: Any, **kwargs: Any) -> Any:
        if GuardMarks.exist:
            name = args[0] if args else kwargs.get("name", kwargs.get("uri"))
            for one in find(name):
                refuse_bypass(name, getattr(one, "fn", None))
        try:
            return await run(*args, **kwargs)
        except (ToolError, ResourceError) as error:
            ours = own_error(error.__cause__)
            if ours is None and not isinstance(error.__cause__, ToolError | ResourceError):
                ours = forgotten_await(error.__cause__)  # a crash; what an author raises on purpose stays
            if ours is None:
                raise
            raise ours from ours.__cause__  # from `error`, which it caused, it would go round in circles

    return run_intercepted
