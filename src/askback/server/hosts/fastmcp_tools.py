"""FastMCP's tools: guards ask between a call and the function it runs, behind mounts, transforms and middleware."""

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache, partial
from inspect import isasyncgen, isawaitable, isgenerator, signature
from typing import Any, NamedTuple, TypeGuard, cast

import anyio
from fastmcp import FastMCP
from fastmcp.server.dependencies import without_injected_parameters
from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool
from fastmcp.server.providers.proxy import ProxyTool
from fastmcp.tools import FunctionTool, Tool
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

MARK = "_askback_guards"
"""The attribute of a tool that a server with guards has given out: the guards apply wherever it is run."""

NAMES = "_askback_names"
"""The attribute of a renamed tool: the names it had before."""

OWN_NAMES = ("_original_name", "_backend_name")
"""The attributes of tools that pass a call on: the name of the tool that they call."""

RUNS = [
    (FunctionTool, "run"),
    (TransformedTool, "run"),
    (FastMCPProviderTool, "run"),
    (FastMCPProviderTool, "_run"),
    (ProxyTool, "run"),
]
FIELDS: dict[type[Tool], set[str]] = {
    FunctionTool: {"fn", "timeout", "run_in_thread"},
    TransformedTool: {"fn", "forwarding_fn"},
}

TIMED_OUT = -32000
"""FastMCP's own code for a tool that took too long."""


def examine_tools(server: FastMCP[Any]) -> None:
    """Check everything that `guard_tools` relies on."""
    package = "fastmcp"
    for name in (*FASTMCP_LOOK_UPS, "get_tasks"):
        require(callable(getattr(server, name, None)), f"FastMCP has {name}", package)
    for kind, run in RUNS:
        require(run in vars(kind), f"{kind.__name__} has its own {run}", package)
    for kind, needed in FIELDS.items():
        require(kind.model_fields.keys() >= needed, f"{kind.__name__} has {sorted(needed)}", package)


def guard_tools(server: FastMCP[Any], guards: GuardSet) -> Callable[[Handler], bool]:
    """Ask before the tools that this server has when they are called. Gives whether a handler leads to them."""
    patch_model_copy(Tool, _keep_names)
    patch_tool_look_ups(server, partial(_mark_found, guards))
    patch_get_tasks(server, partial(_guard_tasks, guards))
    look_up, own = vars(server)["get_tool"], handler_of(vars(server)["_mcp_server"])

    def leads_to_tools(handler: Handler) -> bool:
        is_own = handler == own and getattr(handler, "__self__", None) is server
        return is_own and vars(server).get("get_tool") is look_up

    return leads_to_tools


async def _mark_found(guards: GuardSet, look_up: Any, *args: Any, **kwargs: Any) -> Any:
    """Put the guards of the server into every tool that it gives out."""
    found = await look_up(*args, **kwargs)
    patch_tool_runs(Tool, _ask_before_run)
    if isinstance(found, Tool):
        names = (found.name, *(name for name in args if isinstance(name, str)))
        return _mark(found, GuardScope(guards, ToolFacts(names=names)))
    return found and [_mark(tool, GuardScope(guards, ToolFacts(names=(tool.name,)))) for tool in found]


def _mark(tool: Tool, scope: GuardScope) -> Tool:
    inner: GuardScope | None = vars(tool).get(MARK)  # of another server that gave it out
    marked = tool.model_copy()
    vars(marked)[MARK] = scope if inner is None else scope.join(inner)
    return marked


async def _guard_tasks(guards: GuardSet, get_tasks: Any) -> Sequence[Any]:
    patch_tool_runs(Tool, _ask_before_run)
    return [_guard_task(guards, task) if isinstance(task, Tool) else task for task in await get_tasks()]


def _guard_task(guards: GuardSet, tool: Tool) -> Tool:
    """In the background nobody can be asked, so a tool with a guard does not run there."""
    scope = _add_facts(tool, GuardScope(guards))
    if isinstance(tool, FunctionTool) and (applying := scope.select_guards()):
        return _asking_tool(tool, scope, applying)
    return _mark(tool, GuardScope(guards))


def _keep_names(copy: Any) -> Any:
    """A namespace gives a copy of a tool another name, and the copy does not know the first one."""

    def copy_with_names(self: Tool, **kwargs: Any) -> Tool:
        copied = copy(self, **kwargs)
        if copied.name != self.name:
            vars(copied)[NAMES] = (*vars(self).get(NAMES, ()), self.name)
        return copied

    return copy_with_names


def _ask_before_run(run: Any) -> Any:
    """A transformed tool runs the one it was made from, which is not looked up: so every class asks."""

    async def ask_before_run(self: Tool, arguments: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        scope = _scope_of(self)
        if scope is None:
            return await run(self, arguments, *args, **kwargs)
        return await _run_under(scope, self, arguments, lambda tool, given: run(tool, given, *args, **kwargs))

    return ask_before_run


def _scope_of(tool: Tool) -> GuardScope | None:
    """The guards of a tool here. None if there are none, or if this call was asked about in the same tool before."""
    mark: GuardScope | None = vars(tool).get(MARK)
    outer = GUARD_SCOPE.get()
    if outer is not None and outer.tool is tool:
        return None
    scope = mark if outer is None else outer if mark is None else outer.join(mark)
    return None if scope is None else _add_facts(tool, scope)


def _add_facts(tool: Tool, scope: GuardScope) -> GuardScope:
    own = (getattr(tool, name, None) for name in OWN_NAMES)
    names = [tool.name, *vars(tool).get(NAMES, ()), *(name for name in own if isinstance(name, str))]
    # A function may be listed with other names for its arguments.
    arguments = parameters_of(tool.fn) if isinstance(tool, FunctionTool) else frozenset[str]()
    facts = scope.facts.add(names, tool.annotations, {*properties_of(tool.parameters), *arguments})
    return scope._replace(facts=facts if tool.version is None else facts._replace(version=tool.version))


async def _run_under(
    scope: GuardScope,
    tool: Tool,
    arguments: dict[str, Any],
    run: Callable[[Tool, dict[str, Any]], Awaitable[Any]],
) -> Any:
    """Ask at the function of a tool, or around the whole of any other, unless it only passes the call on."""
    if _passes_on(tool):
        with enter_scope(scope._replace(tool=tool)):
            return await run(tool, arguments)
    applying = scope._replace(facts=scope.facts.add_arguments(arguments)).select_guards()
    if applying and _is_plain_function(tool):
        tool, applying = _asking_tool(tool, scope, applying), ApplicableGuards()
    # A proxy's call is run by another server, even if that is in this process.
    inner = GuardScope(GuardSet(), tool=tool) if isinstance(tool, ProxyTool) else scope.for_body_of(tool)
    with enter_scope(inner):
        if not applying:
            return await run(tool, arguments)
        return await ask_and_run(
            applying, scope.label, arguments, tool.parameters, lambda approved: run(tool, dict(approved))
        )


def _passes_on(tool: Tool) -> bool:
    """Whether a tool does nothing but pass the call on to another one, which is guarded as well."""
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


def _asking_tool(tool: FunctionTool, scope: GuardScope, applying: ApplicableGuards) -> FunctionTool:
    """A copy of a tool whose function asks first. Its timeout begins after the answer, since a person takes longer."""
    run = FunctionRun(tool.name, tool.run_in_thread, tool.timeout)
    injected = frozenset(signature(tool.fn).parameters) - parameters_of(tool.fn)
    body = wrap_function(tool.fn, run, applying, scope.label, injected)
    return tool.model_copy(update={"fn": body, "timeout": None})


@lru_cache(maxsize=CACHE_SIZE)
def parameters_of(body: Callable[..., Any]) -> frozenset[str]:
    """The parameters of a function that a call gives, without those that FastMCP injects."""
    return frozenset(signature(without_injected_parameters(body)).parameters)


class FunctionRun(NamedTuple):
    """How FastMCP runs the function of a tool."""

    name: str
    in_thread: bool
    timeout: float | None

    async def __call__(self, body: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.timeout is None:
            return await self._run(partial(body, *args, **kwargs))
        try:
            with anyio.fail_after(self.timeout) as scope:
                result = await self._run(partial(body, *args, **kwargs))
                if anyio.current_time() >= scope.deadline:  # a thread is not left before its end
                    raise TimeoutError
                return result
        except TimeoutError:
            text = f"Tool '{self.name}' execution timed out after {self.timeout}s"
            raise MCPError(code=TIMED_OUT, message=text) from None

    async def _run(self, call: Callable[[], Any]) -> Any:
        if is_coroutine_function(call):
            return await call()
        result = await call_sync_fn_in_threadpool(_drain, call) if self.in_thread else _drain(call)
        if isawaitable(result):
            result = await result
        return [item async for item in result] if isasyncgen(result) else result


def _drain(call: Callable[[], Any]) -> Any:
    """Run a generator to its end where it was called, on its thread."""
    result = call()
    return list(cast("Any", result)) if isgenerator(result) else result
