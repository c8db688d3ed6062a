"""FastMCP's tools: where a guard gets between a call and what it runs, behind mounts, transforms and middleware."""

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache, partial
from inspect import isasyncgen, isawaitable, isgenerator, signature
from typing import Any, NamedTuple, TypeGuard, cast

import anyio
from fastmcp import FastMCP
from fastmcp.server.dependencies import without_injected_parameters
from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool
from fastmcp.server.providers.proxy import ProxyTool
from fastmcp.tools.base import Tool
from fastmcp.tools.function_tool import FunctionTool
from fastmcp.tools.tool_transform import TransformedTool
from fastmcp.utilities.async_utils import call_sync_fn_in_threadpool, is_coroutine_function
from mcp.shared.exceptions import MCPError

from askback.server.hosts.mcp_tools import Handler, handler_of
from askback.server.hosts.patches import (
    FASTMCP_LOOK_UPS,
    FASTMCP_RUNS,
    patch_get_tasks,
    patch_model_copy,
    patch_tool_look_ups,
    patch_tool_runs,
    require,
)
from askback.server.tool_guards import (
    CACHE_SIZE,
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

MARK = "_askback_watch"
"""In a tool that a server with guards has given out: it is under them wherever it is run."""

NAMES = "_askback_names"
"""In a tool that was given another name: those it had before."""

OWN_NAMES = ("_original_name", "_backend_name")
"""What a tool that passes a call on calls it there."""

TIMED_OUT = -32000
"""FastMCP's own code for a tool that took too long."""


def examine_tools(server: FastMCP[Any]) -> None:
    """A look at everything that `guard_tools` relies on."""
    package = "fastmcp"
    for name in (*FASTMCP_LOOK_UPS, "get_tasks"):
        require(callable(getattr(server, name, None)), f"FastMCP has {name}", package)
    for kind in (FunctionTool, TransformedTool, FastMCPProviderTool, ProxyTool):
        require("run" in vars(kind), f"{kind.__name__} has its own run", package)
    require("_run" in vars(FastMCPProviderTool), "FastMCPProviderTool has its own _run", package)
    require(
        {"fn", "timeout", "run_in_thread"} <= FunctionTool.model_fields.keys(),
        "FunctionTool says how",
        package,
    )
    require(
        {"fn", "forwarding_fn"} <= TransformedTool.model_fields.keys(), "TransformedTool says how", package
    )


def guard_tools(server: FastMCP[Any], guards: GuardSet) -> Callable[[Handler], bool]:
    """Ask before the tools that this server has when they are called. Gives whether a handler leads there."""
    patch_model_copy(Tool, _noting_copy)
    patch_tool_look_ups(server, partial(_marking, guards))
    patch_get_tasks(server, partial(_asking_tasks, guards))
    marking, own = vars(server)["get_tool"], handler_of(vars(server)["_mcp_server"])

    def leads_there(handler: Handler) -> bool:
        is_own = handler == own and getattr(handler, "__self__", None) is server
        return is_own and vars(server).get("get_tool") is marking

    return leads_there


def _marking(guards: GuardSet, look_up: Any) -> Any:
    async def look_up_and_mark(*args: Any, **kwargs: Any) -> Any:
        found = await look_up(*args, **kwargs)
        patch_tool_runs(Tool, _asking_run)
        if isinstance(found, Tool):
            called = tuple(name for name in args if isinstance(name, str))
            return _marked(found, GuardScope(guards, ToolFacts(names=(found.name, *called))))
        return found and [_marked(tool, GuardScope(guards, ToolFacts(names=(tool.name,)))) for tool in found]

    return look_up_and_mark


def _marked(tool: Tool, watch: GuardScope) -> Tool:
    earlier: GuardScope | None = vars(tool).get(MARK)  # of another server that gave it out
    marked = tool.model_copy()
    vars(marked)[MARK] = watch if earlier is None else watch.join(earlier)
    return marked


def _asking_tasks(guards: GuardSet, get_tasks: Any) -> Any:
    """In the background nobody can be asked, so what a guard is for does not run there."""

    async def get_tasks_that_ask() -> Sequence[Any]:
        patch_tool_runs(Tool, _asking_run)
        return [_asking_task(task, guards) if isinstance(task, Tool) else task for task in await get_tasks()]

    return get_tasks_that_ask


def _asking_task(tool: Tool, guards: GuardSet) -> Tool:
    watch = _seen_at(tool, GuardScope(guards))
    if isinstance(tool, FunctionTool) and (applying := watch.select_guards()):
        return _asking_function(tool, watch, applying)
    return _marked(tool, GuardScope(guards))


def _noting_copy(copy: Any) -> Any:
    """A namespace gives a copy of a tool another name, and nothing of the first is left."""

    def copy_and_note(self: Tool, **kwargs: Any) -> Tool:
        copied = copy(self, **kwargs)
        if copied.name != self.name:
            vars(copied)[NAMES] = (*vars(self).get(NAMES, ()), self.name)
        return copied

    return copy_and_note


def _asking_run(run: Any) -> Any:
    """A tool that was transformed runs the one it was made from, which nobody looks up: so each class asks."""

    async def ask_and_run(self: Tool, arguments: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        watch = _watch_over(self)
        if watch is None:
            return await run(self, arguments, *args, **kwargs)
        return await _run_under(watch, self, arguments, lambda tool, given: run(tool, given, *args, **kwargs))

    return ask_and_run


def _watch_over(tool: Tool) -> GuardScope | None:
    """What a tool is under here; None for nothing, and where it has been asked about on its own way down."""
    mark: GuardScope | None = vars(tool).get(MARK)
    outer = GUARD_SCOPE.get()
    if outer is not None and outer.tool is tool:
        return None
    watch = mark if outer is None else outer if mark is None else outer.join(mark)
    return None if watch is None else _seen_at(tool, watch)


def _seen_at(tool: Tool, watch: GuardScope) -> GuardScope:
    own = (getattr(tool, name, None) for name in OWN_NAMES)
    names = [tool.name, *vars(tool).get(NAMES, ()), *(name for name in own if isinstance(name, str))]
    seen = watch.facts.add(names, tool.annotations, {*properties_of(tool.parameters), *_taken(tool)})
    return watch._replace(facts=seen if tool.version is None else seen._replace(version=tool.version))


def _taken(tool: Tool) -> frozenset[str]:
    """The names that a function has for its arguments; it may be listed with others."""
    return _asked(tool.fn) if isinstance(tool, FunctionTool) else frozenset()


async def _run_under(
    watch: GuardScope,
    tool: Tool,
    arguments: dict[str, Any],
    run: Callable[[Tool, dict[str, Any]], Awaitable[Any]],
) -> Any:
    """At its function; around the whole of any other, unless it only passes the call on."""
    if _passes_on(tool):
        with enter_scope(watch._replace(tool=tool)):
            return await run(tool, arguments)
    applying = watch._replace(facts=watch.facts.add_arguments(arguments)).select_guards()
    if applying and _is_plain_function(tool):
        tool, applying = _asking_function(tool, watch, applying), ApplicableGuards()
    # What a proxy calls is run by another server, even if that is in this process.
    with enter_scope(
        GuardScope(GuardSet(), tool=tool) if isinstance(tool, ProxyTool) else watch.for_body_of(tool)
    ):
        if not applying:
            return await run(tool, arguments)
        return await ask_and_run(
            applying, watch.label, arguments, tool.parameters, lambda approved: run(tool, dict(approved))
        )


def _passes_on(tool: Tool) -> bool:
    """To another tool, which is watched as well: of one that does more than that, nobody knows what."""
    if type(tool) is TransformedTool:
        return tool.fn is tool.forwarding_fn
    if type(tool) is not FastMCPProviderTool:
        return False
    server: object = getattr(tool, "_server", None)
    return getattr(server.__class__, "call_tool", None) is FastMCP.call_tool


def _is_plain_function(tool: Tool) -> TypeGuard[FunctionTool]:
    return isinstance(tool, FunctionTool) and all(
        getattr(type(tool), name) is getattr(FunctionTool, name) for name in FASTMCP_RUNS
    )


def _asking_function(tool: FunctionTool, watch: GuardScope, applying: ApplicableGuards) -> FunctionTool:
    """The same tool with a function that asks. Its time begins when it has been let go: a person takes longer."""
    run = _Running(tool.name, tool.run_in_thread, tool.timeout)
    body = wrap_function(tool.fn, run, applying, watch.label, _injected(tool.fn))
    return tool.model_copy(update={"fn": body, "timeout": None})


@lru_cache(maxsize=CACHE_SIZE)
def _asked(body: Callable[..., Any]) -> frozenset[str]:
    return frozenset(signature(without_injected_parameters(body)).parameters)


@lru_cache(maxsize=CACHE_SIZE)
def _injected(body: Callable[..., Any]) -> frozenset[str]:
    """What FastMCP gives a function by itself."""
    return frozenset(signature(body).parameters) - _asked(body)


class _Running(NamedTuple):
    """How FastMCP runs a function."""

    name: str
    in_thread: bool
    timeout: float | None

    async def __call__(self, body: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.timeout is None:
            return await self._to_end(body, args, kwargs)
        try:
            with anyio.fail_after(self.timeout) as scope:
                result = await self._to_end(body, args, kwargs)
                if anyio.current_time() >= scope.deadline:  # a thread is not left before its end
                    raise TimeoutError
                return result
        except TimeoutError:
            text = f"Tool '{self.name}' execution timed out after {self.timeout}s"
            raise MCPError(code=TIMED_OUT, message=text) from None

    async def _to_end(self, body: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if is_coroutine_function(body):
            return await body(*args, **kwargs)
        run = partial(_drained, body, *args, **kwargs)
        result = await call_sync_fn_in_threadpool(run) if self.in_thread else run()
        if isawaitable(result):
            result = await result
        return [item async for item in result] if isasyncgen(result) else result


def _drained(body: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The body of a generator is run where it is drained."""
    result = body(*args, **kwargs)
    return list(cast("Any", result)) if isgenerator(result) else result
