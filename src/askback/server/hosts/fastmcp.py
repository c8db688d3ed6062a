"""The adapter of FastMCP: how Askback is installed into it. Imported only for a FastMCP server."""

import re
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import fields
from functools import partial, wraps
from inspect import getclosurevars, unwrap
from typing import Any, cast

from fastmcp import Context, FastMCP
from fastmcp.exceptions import FastMCPError
from fastmcp.prompts import FunctionPrompt
from fastmcp.prompts.base import InputRequiredPromptResult
from fastmcp.resources import FunctionResource
from fastmcp.resources.base import InputRequiredResourceResult
from fastmcp.resources.template import FunctionResourceTemplate
from fastmcp.server.dependencies import (
    FastMCPRequestContext,
    fastmcp_request_ctx,
    without_injected_parameters,
)
from fastmcp.server.middleware import CallNext, MiddlewareContext
from fastmcp.server.providers.proxy import ProxyPrompt, ProxyResource, ProxyTemplate, ProxyTool
from fastmcp.tools import FunctionTool, InputRequiredToolResult
from fastmcp.tools.tool_transform import TransformedTool
from mcp.shared.exceptions import MCPError

from askback.errors import AuthorError, causes, own_error
from askback.guards.guard import GuardMarks, refuse_bypass
from askback.pages.settings import ROOT
from askback.protocol.revisions import CONVERSATION_METHODS, NOVEMBER_2025, Era, revision_of
from askback.protocol.server.raised_visits import demands_visits
from askback.protocol.server.returned_rounds import ROUND
from askback.runtime.conversation import BodyPosition, Conversation
from askback.runtime.current import CURRENT, forgotten_await
from askback.server.hosts.mcp import hand_over_questions
from askback.server.hosts.patches import (
    DISPATCH,
    REQUEST_STATE,
    patch_bodies,
    patch_dispatch,
    patch_elicit,
    patch_get_tasks,
    patch_later_round,
    patch_proxies,
    patch_request_context,
    require,
    require_bodies,
)
from askback.server.hosts.session import has_conversation, without_conversation

RETURNED = (InputRequiredToolResult, InputRequiredPromptResult, InputRequiredResourceResult)

PROXIES: dict[type, str] = {
    ProxyTool: "run",
    ProxyPrompt: "render",
    ProxyResource: "read",
    ProxyTemplate: "create_resource",
}
"""The classes that pass a call on to another server, and the method that does it."""

BODIES: dict[type, str] = {
    FunctionTool: "run",
    TransformedTool: "run",
    FunctionPrompt: "render",
    FunctionResource: "read",
    FunctionResourceTemplate: "read",
}
"""The classes that run an author's function, their `fn`, and the method that runs it."""

INJECTING = "without_injected_parameters.<locals>.wrapper"
"""The wrapper that FastMCP puts around a function that takes its context."""

LATER_ROUND = "askback"
"""The state of a later round, as a context of FastMCP is told it."""

USUAL_NAMES = frozenset({"", "OpenAPI Server", "FastAPI"})
"""Names that FastMCP gives to servers without one that are made from a description."""

INSIDE: ContextVar[object] = ContextVar("askback_inside_fastmcp", default=None)
"""The conversation whose call is in FastMCP's chain. What a body calls by itself is handled by that body."""


def inner_server_of(server: FastMCP[Any]) -> object:
    """The low-level server inside, after a check of everything we rely on in FastMCP."""
    package = "fastmcp"
    require(isinstance(vars(server).get("middleware"), list), "FastMCP.middleware is a list", package)
    versioned = "protocol_version" in {field.name for field in fields(FastMCPRequestContext)}
    require(versioned, "FastMCPRequestContext holds the protocol version", package)
    for kind in RETURNED:
        require(ROUND in kind.model_fields, f"{kind.__name__} holds the questions", package)
    require(hasattr(Context(server), REQUEST_STATE), f"Context has {REQUEST_STATE}", package)
    for kind, name in [(FastMCP, DISPATCH), *PROXIES.items()]:
        require(hasattr(kind, name), f"{kind.__name__} has {name}", package)
    require_bodies(package, BODIES)
    wrapped = without_injected_parameters(_takes_context)
    require(_injected_into(wrapped) is _takes_context, "what injects a context holds its function", package)
    inner = vars(server).get("_mcp_server")
    require(inner is not None, "FastMCP holds its low-level server", package)
    return inner


def install(server: FastMCP[Any]) -> None:
    """Let through what FastMCP would flatten, and let `ctx.elicit()` ask on every revision."""
    patch_elicit(Context, _elicit_on_every_revision)
    patch_dispatch(FastMCP, _dispatch_and_pass)
    patch_proxies(_run_outside, *PROXIES.items())
    patch_bodies(_refuse_bare, "fastmcp", *BODIES.items())
    patch_get_tasks(server, _refuse_bare_tasks)


def add_pages(server: FastMCP[Any], app: object) -> None:
    """Serve pages beside /mcp."""
    server.custom_route(f"{ROOT}/{{path:path}}", methods=["GET", "POST"])(cast("Any", app))


def is_protected(server: FastMCP[Any]) -> bool:
    return server.auth is not None


def is_named(server: FastMCP[Any]) -> bool:
    """False for a server with FastMCP's own name: its class, with a number that is different at every start."""
    made_up = rf"{re.escape(type(server).__name__)}-[0-9a-f]{{4}}"
    return server.name.strip() not in USUAL_NAMES and re.fullmatch(made_up, server.name) is None


def _elicit_on_every_revision(elicit: Any) -> Any:
    """Show `elicit` a 2025 revision. Nothing changes outside a call that Askback serves."""

    async def elicit_as_2025(self: Context, *args: Any, **kwargs: Any) -> Any:
        bound = fastmcp_request_ctx.get()
        is_ours = bound is not None and has_conversation(bound.session)
        if bound is None or not is_ours or revision_of(bound.protocol_version).era is not Era.ROUNDS:
            return await elicit(self, *args, **kwargs)
        with patch_request_context(fastmcp_request_ctx, protocol_version=NOVEMBER_2025.version):
            return await elicit(self, *args, **kwargs)

    return elicit_as_2025


def _dispatch_and_pass(dispatch: Any) -> Any:
    """Let through what a body leaves with, and show a later round to the response cache as one."""

    async def dispatch_and_pass(
        self: FastMCP[Any], context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Any:
        conversation = CURRENT.get()
        if conversation is None or context.method not in CONVERSATION_METHODS:
            return await dispatch(self, context, call_next)
        if conversation.is_later_round:
            patch_later_round(context.fastmcp_context, LATER_ROUND)
        run = partial(dispatch, self, context, _replayable(conversation, call_next))
        return await run() if INSIDE.get() is conversation else await _pass_errors(conversation, run)

    return dispatch_and_pass


async def _pass_errors(conversation: Conversation, run: Callable[[], Awaitable[Any]]) -> Any:
    """Run the client's own call. Our errors leave unchanged, and so do questions that nothing else could carry."""
    token = INSIDE.set(conversation)
    try:
        result = await run()
    except FastMCPError as error:
        demand = (one for one in causes(error) if isinstance(one, MCPError) and demands_visits(one))
        ours = own_error(error) or next(demand, None)
        if ours is None and error.__cause__ is not None:
            ours = forgotten_await(error)
        if ours is None:
            raise
        raise ours from ours.__cause__  # from `error`, which it caused, it would go round in circles
    finally:
        INSIDE.reset(token)
    if isinstance(result, RETURNED):
        hand_over_questions(getattr(result, ROUND))
    return result


def _replayable(conversation: Conversation, call_next: CallNext[Any, Any]) -> CallNext[Any, Any]:
    """The end of a chain. A middleware may call it twice, as FastMCP's retry does: then its questions have their old
    places in the conversation."""
    positions: list[BodyPosition] = []

    def run_body(context: MiddlewareContext[Any]) -> Awaitable[Any]:
        if positions:
            conversation.rewind(positions[0])
        else:
            positions.append(conversation.mark())
        return call_next(context)

    return run_body


def _run_outside(run: Any) -> Any:
    """Run a proxy outside the conversation: what it passes on is asked by another server."""

    async def run_outside(*args: Any, **kwargs: Any) -> Any:
        bound = fastmcp_request_ctx.get()
        if bound is None or not has_conversation(bound.session):
            return await run(*args, **kwargs)
        current = CURRENT.set(None)
        try:
            with patch_request_context(fastmcp_request_ctx, session=without_conversation(bound.session)):
                return await run(*args, **kwargs)
        finally:
            CURRENT.reset(current)

    return run_outside


def _refuse_bare(run: Any) -> Any:
    """In calls that Askback serves, refuse a bare function that is guarded elsewhere, however it was added."""

    async def run_guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        if CURRENT.get() is not None:
            _require_guarded(self)
        return await run(self, *args, **kwargs)

    return run_guarded


async def _refuse_bare_tasks(get_tasks: Any) -> list[Any]:
    """Refuse bare functions in the background as well, outside all calls."""
    return [_refuse_bare_task(task) for task in await get_tasks()]


def _refuse_bare_task(task: Any) -> Any:
    try:
        _require_guarded(task)
    except AuthorError as error:
        text = str(error)
    else:
        return task

    @wraps(task.fn)
    async def refuse(*_args: Any, **_kwargs: Any) -> Any:
        raise AuthorError(text)

    return task.model_copy(update={"fn": refuse})


def _require_guarded(component: Any) -> None:
    function = getattr(component, "fn", None)
    if GuardMarks.exist and function is not None:
        refuse_bypass(component.name, function)
        refuse_bypass(component.name, _injected_into(function))


def _injected_into(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The author's function, if FastMCP has put a wrapper around it that does not name it."""
    innermost = unwrap(function)
    code = getattr(innermost, "__code__", None)
    if getattr(code, "co_qualname", None) != INJECTING:
        return None
    return getclosurevars(innermost).nonlocals.get("fn")


def _takes_context(context: Context) -> None:
    """An example, to check what FastMCP makes of such a function."""
