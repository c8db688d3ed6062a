"""The official SDK's tools: guards ask between a call and its function, after the arguments were validated."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.extension import compose_tool_call_handler
from mcp.server.lowlevel.server import HandlerEntry, Server
from mcp.server.mcpserver.tools import Tool, ToolManager
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp_types import CallToolRequestParams

from askback.protocol.revisions import TOOLS_CALL, TOOLS_LIST
from askback.server.hosts.mcp import Context, listed_tool
from askback.server.hosts.patches import patch_get_request_handler, patch_tool_manager, require
from askback.server.tool_guards import (
    GUARD_SCOPE,
    ApplicableGuards,
    GuardScope,
    GuardSet,
    ToolFacts,
    ask_and_run,
    enter_scope,
    properties_of,
    wrap_function,
)

FIELDS = {
    "fn",
    "fn_metadata",
    "is_async",
    "name",
    "parameters",
    "annotations",
    "context_kwarg",
    "resolved_params",
}
MANAGER = "_tool_manager"

Handler = Callable[[Context, Any], Awaitable[Any]]


def examine_tools(server: object) -> None:
    """Check everything that `guard_tools` relies on. A low-level server has no tools, only one handler."""
    if isinstance(server, MCPServer):
        require(Tool.model_fields.keys() >= FIELDS, f"Tool has {', '.join(sorted(FIELDS))}")
        is_held = type(vars(cast("object", server)).get(MANAGER)) is ToolManager
        require(is_held and callable(ToolManager.get_tool), "MCPServer holds its tools in a ToolManager")


def guard_tools(server: object, guards: GuardSet) -> Callable[[Handler], bool]:
    """Ask before the tools that this server has when they are called. Gives whether a handler leads to them."""
    held = vars(server)
    if not isinstance(server, MCPServer):
        return lambda handler: False
    tools: ToolManager = held[MANAGER]
    patch_tool_manager(tools, partial(_ask_and_call, guards, tools))
    ask_and_call, own = vars(tools)["call_tool"], handler_of(held["_lowlevel_server"])

    def leads_to_tools(handler: Handler) -> bool:
        is_own = handler == own and (getattr(handler, "__self__", None) is server or _is_composed(handler))
        return is_own and held.get(MANAGER) is tools and vars(tools).get("call_tool") is ask_and_call

    return leads_to_tools


def handler_of(lowlevel: Server[Any]) -> Handler | None:
    entry = lowlevel.get_request_handler(TOOLS_CALL)
    return None if entry is None else entry.handler


def _is_composed(handler: Handler) -> bool:
    """Whether the SDK made it from the server's method, for extensions that see the calls."""
    made_by = compose_tool_call_handler
    is_inside = handler.__qualname__.startswith(f"{made_by.__qualname__}.<locals>.")
    return is_inside and handler.__module__ == made_by.__module__


async def _ask_and_call(
    guards: GuardSet,
    manager: ToolManager,
    call_tool: Any,
    name: str,
    arguments: dict[str, Any],
    context: Any,
    convert_result: bool = False,
) -> Any:
    tool = manager.get_tool(name)
    if tool is None:
        return await call_tool(name, arguments, context, convert_result)
    outer = GUARD_SCOPE.get()
    facts = ToolFacts().add(
        (name, tool.name), tool.annotations, {*arguments, *properties_of(tool.parameters)}
    )
    scope = GuardScope(guards, facts, within="" if outer is None else outer.within)
    applying = scope.select_guards()
    with enter_scope(scope.for_body_of(tool)):
        if applying and type(tool).run is Tool.run and type(tool.fn_metadata) is FuncMetadata:
            tool, applying = _asking_tool(tool, scope, applying), ApplicableGuards()
        if not applying:
            return await tool.run(arguments, context, convert_result=convert_result)
        return await ask_and_run(
            applying,
            scope.label,
            arguments,
            tool.parameters,
            lambda approved: tool.run(dict(approved), context, convert_result=convert_result),
        )


def _asking_tool(tool: Tool, scope: GuardScope, applying: ApplicableGuards) -> Tool:
    """A copy of a tool whose function asks first, so that guards see the arguments as the function gets them."""
    injected = frozenset({*tool.resolved_params, *filter(None, [tool.context_kwarg])})
    run = run_async if tool.is_async else run_in_thread
    body = wrap_function(tool.fn, run, applying, scope.label, injected)
    return tool.model_copy(update={"fn": body, "is_async": True})


async def run_async(body: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
    return await body(*args, **kwargs)


async def run_in_thread(body: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return await anyio.to_thread.run_sync(partial(body, *args, **kwargs))


def guard_handler(lowlevel: Server[Any], guards: GuardSet, leads_to_tools: Callable[[Handler], bool]) -> None:
    """Ask before the handler of a low-level server, unless it leads to tools that ask by themselves."""

    def guard(look_up: Any, method: str) -> HandlerEntry[Any] | None:
        entry = look_up(method)
        if method != TOOLS_CALL or entry is None or leads_to_tools(entry.handler):
            return entry
        return replace(entry, handler=_asking_handler(lowlevel, entry.handler, guards))

    patch_get_request_handler(lowlevel, guard)


def _asking_handler(lowlevel: Server[Any], handler: Handler, guards: GuardSet) -> Handler:
    async def ask_and_handle(ctx: Context, params: CallToolRequestParams) -> Any:
        # A tool that is not listed may exist all the same: the handler may read names less strictly than its list.
        tool = await listed_tool(lowlevel, ctx, params.name)
        is_known = tool is not None or lowlevel.get_request_handler(TOOLS_LIST) is None
        schema, annotations = (None, None) if tool is None else (tool.input_schema, tool.annotations)
        given = params.arguments or {}
        scope = GuardScope(
            guards, ToolFacts().add([params.name], annotations, {*given, *properties_of(schema)})
        )

        def go_on(approved: Mapping[str, Any]) -> Awaitable[Any]:
            return handler(ctx, params.model_copy(update={"arguments": dict(approved)}))

        if not (applying := scope.select_guards(is_known=is_known)):
            return await handler(ctx, params)
        return await ask_and_run(applying, scope.label, given, schema, go_on)

    return ask_and_handle
