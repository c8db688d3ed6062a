"""Every attribute of the MCP SDK, FastMCP or Starlette that Askback replaces: one function for each.

A function says what it replaces and why, and checks that it is there. The replacement is in the module that calls the
function. `python -m scripts.patches` writes docs/explain/patches.md from the docstrings.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, partial, wraps
from typing import Any

from mcp.server import streamable_http
from mcp.server.lowlevel.server import Server
from mcp.server.session import ServerSession
from mcp.server.streamable_http import EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette

from askback.errors import UnsupportedHost

Wrap = Callable[[Any], Any]
"""Makes the replacement of a function from the function."""

Replacement = Callable[..., Any]
"""Runs instead of a bound function, which it gets as its first argument."""

EXIT_SIGNAL = "_listen_for_exit_signal"
"""The method with which a stream of events waits for the end of the process, and is cut then."""

DISPATCH = "_dispatch_component_middleware"
"""The method in which every FastMCP server, mounted or not, runs its own middleware around a body."""

REQUEST_STATE = "_task_request_state"
"""The attribute with which a context of FastMCP says that its call is a later round, if the request does not."""

FASTMCP_LOOK_UPS = ("get_tool", "get_tool_by_hash", "list_tools")
"""The methods with which a FastMCP server, and others, find a tool to run."""

FASTMCP_RUNS = ("run", "_run")
"""The methods that run a tool of FastMCP: the public one, and that of servers."""

_WRAPPED = "_askback_wrapped"


def require(holds: bool, what: str, package: str = "mcp") -> None:
    """Raise `UnsupportedHost` for what does not hold in the installed version of a host."""
    if not holds:
        raise UnsupportedHost(
            f"Askback relies on this in the {package} package: {what}. It does not hold in the version installed here. "
            "Install a version that Askback was tested with (see its changelog), or tell us that it moved."
        )


def require_bodies(package: str, bodies: Mapping[type[Any], str]) -> None:
    """Check that classes run a function, their `fn`, in the given methods."""
    for kind, name in bodies.items():
        runs_function = name in vars(kind) and "fn" in getattr(kind, "model_fields", ())
        require(runs_function, f"{kind.__name__} runs its function in {name}", package)


@cache
def patch_send_request(wrap: Wrap) -> None:
    """`ServerSession.send_request`: what `ctx.elicit()` sends is asked by the conversation of its call.

    For: mcp 2.1.1 and later.
    Until: a server can choose the class of its sessions.
    """
    _replace(ServerSession, "send_request", wrap)


@cache
def patch_send_notification(wrap: Wrap) -> None:
    """`ServerSession.send_notification`: a finished visit is not announced to clients that know no such message.

    For: mcp 2.1.1 and later.
    Until: a server can choose the class of its sessions.
    """
    _replace(ServerSession, "send_notification", wrap)


def patch_lifespan(lowlevel: Server[Any], replacement: Replacement) -> None:
    """`Server.lifespan` of one server: pages, listeners and tasks of Askback end when the server ends.

    For: mcp 2.1.1 and later.
    Until: a server takes functions to run at its end.
    """
    _replace_bound(lowlevel, "lifespan", replacement)


def patch_get_request_handler(lowlevel: Server[Any], replacement: Replacement) -> None:
    """`Server.get_request_handler` of one server: returned questions and guards are seen before the SDK goes on.

    For: mcp 2.1.1 and later.
    Until: a middleware sees a result before the SDK checks whether the revision can carry it.
    """
    _replace_bound(lowlevel, "get_request_handler", replacement)


def patch_mcpserver_verb(server: object, verb: str, replacement: Replacement) -> None:
    """`MCPServer.call_tool`, `get_prompt` and `read_resource` of one server: errors of Askback leave unchanged.

    For: mcp 2.1.1 and later.
    Until: the SDK lets an `MCPError` pass that a task group or a tool wrapped.
    """
    _replace_bound(server, verb, replacement)


def patch_tool_manager(manager: object, replacement: Replacement) -> None:
    """`ToolManager.call_tool` of one server: the guards of a server ask before a tool runs.

    For: mcp 2.1.1 and later.
    Until: a middleware can see the arguments as the tool gets them.
    """
    _replace_bound(manager, "call_tool", replacement)


@cache
def patch_session_requests(wrap: Wrap) -> None:
    """`StreamableHTTPSessionManager._handle_stateful_request`: a request goes to the worker that has its session.

    For: mcp 2.1.1 and later.
    Until: the SDK takes a place where its sessions live.
    """
    _replace(StreamableHTTPSessionManager, "_handle_stateful_request", wrap)


@cache
def patch_manager_run(wrap: Wrap) -> None:
    """`StreamableHTTPSessionManager.run`: calls are finished before the SDK cancels its sessions.

    For: mcp 2.1.1 and later.
    Until: the SDK waits for its calls when it ends.
    """
    _replace(StreamableHTTPSessionManager, "run", wrap)


@cache
def patch_event_stream(stream: type[EventSourceResponse]) -> None:
    """`streamable_http.EventSourceResponse`: the stream of a call is held for a while when the process is to end.

    For: mcp 2.1.1 and later, sse-starlette 3.0 and later.
    Until: the SDK waits for its calls when it ends.
    """
    present = getattr(streamable_http, "EventSourceResponse", None)
    require(
        present is EventSourceResponse and hasattr(EventSourceResponse, EXIT_SIGNAL),
        f"the SDK answers calls with an EventSourceResponse that has {EXIT_SIGNAL}",
    )
    setattr(streamable_http, "EventSourceResponse", stream)  # noqa: B010 - another module's name


def patch_event_store(transport: Any, events: EventStore) -> None:
    """`StreamableHTTPServerTransport._event_store` of one session that has none: broken streams can be taken up again.

    For: mcp 2.1.1 and later.
    Until: a session manager takes a function that makes the event store of a session.
    """
    require(hasattr(transport, "_event_store"), "the transport of a session has its _event_store")
    if transport._event_store is None:
        transport._event_store = events


def patch_http_app(server: object, name: str, replacement: Replacement, package: str) -> None:
    """`Server.streamable_http_app` and `FastMCP.http_app` of one server: the application notes where requests came in.

    For: mcp 2.1.1 and later, fastmcp 4.0.10 and later.
    Until: a server takes a function that is given its application.
    """
    _replace_bound(server, name, replacement, package)


def patch_middleware_stack(app: Starlette, replacement: Replacement) -> None:
    """`Starlette.build_middleware_stack` of the application of one server: what notes a request stands before all else.

    For: starlette 1.0.1 and later.
    Until: `add_middleware` takes a place outside the ones that are added later.
    """
    _replace_bound(app, "build_middleware_stack", replacement, "starlette")


@cache
def patch_elicit(context: type[Any], wrap: Wrap) -> None:
    """FastMCP's `Context.elicit`: it refuses the revision 2026-07-28 before it asks the session, which can ask.

    For: fastmcp 4.0.10 and later.
    Until: FastMCP asks the session whether it can ask, or lets a server choose the class of its contexts.
    """
    _replace(context, "elicit", wrap, "fastmcp")


@contextmanager
def patch_request_context(current: ContextVar[Any], **changes: Any) -> Generator[None]:
    """`fastmcp_request_ctx` while one function runs: it gets another revision, or a session without a conversation.

    For: fastmcp 4.0.10 and later.
    Until: FastMCP asks the session whether it can ask, and runs a proxy in a context of its own.
    """
    bound = current.get()
    for name in changes:
        require(hasattr(bound, name), f"a request context of FastMCP has {name}", "fastmcp")
    token = current.set(replace(bound, **changes))
    try:
        yield
    finally:
        current.reset(token)


@cache
def patch_dispatch(server: type[Any], wrap: Wrap) -> None:
    """`FastMCP._dispatch_component_middleware`: what a body leaves with reaches Askback as it is.

    For: fastmcp 4.0.10 and later.
    Until: FastMCP lets an `MCPError` pass, and tells a middleware that it is run again.
    """
    _replace(server, DISPATCH, wrap, "fastmcp")


def patch_later_round(context: object, value: str) -> None:
    """`Context._task_request_state` of one call: the response cache of FastMCP keeps out of a later round.

    For: fastmcp 4.0.10 and later.
    Until: the cache looks at the request itself.
    """
    require(hasattr(context, REQUEST_STATE), f"Context has {REQUEST_STATE}", "fastmcp")
    setattr(context, REQUEST_STATE, value)


@cache
def patch_proxies(wrap: Wrap, *proxies: tuple[type[Any], str]) -> None:
    """`ProxyTool.run` and the like: the questions of another server behind a proxy stay outside the conversation.

    For: fastmcp 4.0.10 and later.
    Until: FastMCP runs a proxy in a context of its own.
    """
    for kind, name in proxies:
        _replace(kind, name, wrap, "fastmcp")


@cache
def patch_bodies(wrap: Wrap, package: str, *bodies: tuple[type[Any], str]) -> None:
    """`Tool.run`, `Prompt.render`, `FunctionResource.read` and the like: a function without its guard does not run.

    For: mcp 2.1.1 and later, fastmcp 4.0.10 and later.
    Until: a host tells a provider or middleware which function it is about to run.
    """
    for kind, name in bodies:
        _replace(kind, name, wrap, package)


def patch_get_tasks(server: object, replacement: Replacement) -> None:
    """`FastMCP.get_tasks` of one server: guarded functions do not run in the background, where nobody can be asked.

    For: fastmcp 4.0.10 and later.
    Until: background tasks run through middleware.
    """
    _replace_bound(server, "get_tasks", replacement, "fastmcp")


def patch_tool_look_ups(server: object, replacement: Replacement) -> None:
    """`FastMCP.get_tool`, `get_tool_by_hash` and `list_tools` of one server: tools come out under its guards.

    For: fastmcp 4.0.10 and later.
    Until: FastMCP tells a provider or middleware which function it is about to run.
    """
    for name in FASTMCP_LOOK_UPS:
        _replace_bound(server, name, replacement, "fastmcp")


@cache
def patch_model_copy(tool: type[Any], wrap: Wrap) -> None:
    """FastMCP's `Tool.model_copy`: a renamed copy keeps the names it had, since a guard may be for one of them.

    For: fastmcp 4.0.10 and later.
    Until: a renamed tool says what it was called before.
    """
    _replace(tool, "model_copy", wrap, "fastmcp")


def patch_tool_runs(tool: type[Any], wrap: Wrap) -> None:
    """FastMCP's `Tool.run` and `Tool._run` on every class of tools: guards ask, however a tool was found.

    For: fastmcp 4.0.10 and later; done again at every look-up, since classes can be added at any time.
    Until: FastMCP tells a provider or middleware which function it is about to run.
    """
    require(hasattr(tool, "run"), "Tool has run", "fastmcp")
    for kind in _subclasses(tool):
        for name in FASTMCP_RUNS:
            run = vars(kind).get(name)
            if (
                run is not None and getattr(run, _WRAPPED, None) is not run
            ):  # `wraps` copies the mark of another
                setattr(kind, name, wraps(run)(wrap(run)))
                replaced = vars(kind)[name]
                setattr(replaced, _WRAPPED, replaced)


def _replace(owner: Any, name: str, wrap: Wrap, package: str = "mcp") -> None:
    """Replace an attribute with what `wrap` makes of it. Raises `UnsupportedHost` if it is not there."""
    present: Any = getattr(owner, name, None)
    kind = owner if isinstance(owner, type) else type(owner)
    require(callable(present), f"{kind.__name__} has {name}", package)
    setattr(owner, name, wraps(present)(wrap(present)))


def _replace_bound(owner: object, name: str, replacement: Replacement, package: str = "mcp") -> None:
    _replace(owner, name, lambda present: partial(replacement, present), package)


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    yield kind
    for derived in kind.__subclasses__():
        yield from _subclasses(derived)
