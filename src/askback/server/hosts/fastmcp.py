"""FastMCP: how Askback is installed into it. Imported only for a FastMCP server."""

import re
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import fields
from functools import partial, wraps
from inspect import getclosurevars, unwrap
from typing import Any, cast

from fastmcp import Context, FastMCP
from fastmcp.exceptions import FastMCPError
from fastmcp.prompts.base import InputRequiredPromptResult
from fastmcp.prompts.function_prompt import FunctionPrompt
from fastmcp.resources.base import InputRequiredResourceResult
from fastmcp.resources.function_resource import FunctionResource
from fastmcp.resources.template import FunctionResourceTemplate
from fastmcp.server.dependencies import (
    FastMCPRequestContext,
    fastmcp_request_ctx,
    without_injected_parameters,
)
from fastmcp.server.middleware.middleware import CallNext, MiddlewareContext
from fastmcp.server.providers.proxy import ProxyPrompt, ProxyResource, ProxyTemplate, ProxyTool
from fastmcp.tools.base import InputRequiredToolResult
from fastmcp.tools.function_tool import FunctionTool
from fastmcp.tools.tool_transform import TransformedTool
from mcp.shared.exceptions import MCPError

from askback.errors import AuthorError, causes, own_error
from askback.guards.wrapper import GuardMarks, refuse_bypass
from askback.pages.settings import ROOT
from askback.protocol.revisions import CONVERSATION_METHODS, NOVEMBER_2025, Era, revision_of
from askback.protocol.server.raised_visits import demands_visits
from askback.protocol.server.returned_rounds import ROUND
from askback.runtime.conversation import BodyPosition, Conversation
from askback.runtime.current import CURRENT
from askback.runtime.unawaited import forgotten_await
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
)
from askback.server.hosts.session import has_conversation, without_conversation

RETURNED = (InputRequiredToolResult, InputRequiredPromptResult, InputRequiredResourceResult)

PROXIES: dict[type, str] = {
    ProxyTool: "run",
    ProxyPrompt: "render",
    ProxyResource: "read",
    ProxyTemplate: "create_resource",
}
"""What passes a call on to another server, and where."""

BODIES: dict[type, str] = {
    FunctionTool: "run",
    TransformedTool: "run",
    FunctionPrompt: "render",
    FunctionResource: "read",
    FunctionResourceTemplate: "read",
}
"""What runs a function of the author's, which it has as `fn`, and where."""

INJECTING = "without_injected_parameters.<locals>.wrapper"
"""What FastMCP puts around a function that takes its context."""

LATER_ROUND = "askback"
"""What a context of FastMCP is told for the state of a later round."""

USUAL_NAMES = frozenset({"", "OpenAPI Server", "FastAPI"})
"""Of servers that are made from a description, where their author does not name them."""

INSIDE: ContextVar[object] = ContextVar("askback_inside_fastmcp", default=None)
"""The conversation whose call FastMCP's chain runs for; what a body calls by itself is that body's business."""


def inner_server_of(server: FastMCP[Any]) -> object:
    """The low-level server inside, after a look at everything we rely on in FastMCP."""
    package = "fastmcp"
    require(isinstance(vars(server).get("middleware"), list), "FastMCP.middleware is a list", package)
    require(
        "protocol_version" in {field.name for field in fields(FastMCPRequestContext)},
        "FastMCPRequestContext holds the protocol version",
        package,
    )
    for kind in RETURNED:
        require(ROUND in kind.model_fields, f"{kind.__name__} holds the questions", package)
    require(hasattr(FastMCP, DISPATCH), f"FastMCP has {DISPATCH}", package)
    require(hasattr(Context(server), REQUEST_STATE), f"Context has {REQUEST_STATE}", package)
    for kind, name in PROXIES.items():
        require(hasattr(kind, name), f"{kind.__name__} has {name}", package)
    for kind, name in BODIES.items():
        runs_function = name in vars(kind) and "fn" in cast("Any", kind).model_fields
        require(runs_function, f"{kind.__name__} runs its function in {name}", package)
    wrapped = without_injected_parameters(_takes_context)
    require(_injected_into(wrapped) is _takes_context, "what injects a context holds its function", package)
    inner = vars(server).get("_mcp_server")
    require(inner is not None, "FastMCP holds its low-level server", package)
    return inner


def install_fastmcp(server: FastMCP[Any]) -> None:
    """Let through what FastMCP would flatten, and let `ctx.elicit()` ask on every revision."""
    patch_elicit(Context, _eliciting)
    patch_dispatch(FastMCP, _passing_dispatch)
    patch_proxies(_outside, *PROXIES.items())
    patch_bodies(_refusing_run, *BODIES.items())
    patch_get_tasks(server, _refusing_tasks)


def add_pages(server: FastMCP[Any], app: object) -> None:
    """Beside /mcp."""
    server.custom_route(f"{ROOT}/{{path:path}}", methods=["GET", "POST"])(cast("Any", app))


def is_protected(server: FastMCP[Any]) -> bool:
    return server.auth is not None


def is_named(server: FastMCP[Any]) -> bool:
    """One without a name is called after its class, with a number that is another at every start."""
    made_up = rf"{re.escape(type(server).__name__)}-[0-9a-f]{{4}}"
    return server.name.strip() not in USUAL_NAMES and re.fullmatch(made_up, server.name) is None


def _told(error: BaseException) -> MCPError | None:
    """Our own error, or the demand for a visit, that FastMCP wrapped into one of its own."""
    ours = own_error(error)
    if ours is not None:
        return ours
    return next((one for one in causes(error) if isinstance(one, MCPError) and demands_visits(one)), None)


def _eliciting(elicit: Any) -> Any:
    """Show `elicit` a 2025 revision. Nothing changes outside a call that Askback serves."""

    async def elicit_on_every_revision(self: Context, *args: Any, **kwargs: Any) -> Any:
        bound = fastmcp_request_ctx.get()
        if (
            bound is None
            or not has_conversation(bound.session)
            or revision_of(bound.protocol_version).era is not Era.ROUNDS
        ):
            return await elicit(self, *args, **kwargs)
        with patch_request_context(fastmcp_request_ctx, protocol_version=NOVEMBER_2025.version):
            return await elicit(self, *args, **kwargs)

    return elicit_on_every_revision


def _passing_dispatch(dispatch: Any) -> Any:
    """Let through what a body leaves with, and show a later round to the response cache as one."""

    async def dispatch_and_pass(
        self: FastMCP[Any], context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Any:
        conversation = CURRENT.get()
        if conversation is None or context.method not in CONVERSATION_METHODS:
            return await dispatch(self, context, call_next)
        if conversation.is_later_round:
            patch_later_round(context.fastmcp_context, LATER_ROUND)
        run = partial(dispatch, self, context, _Body(conversation, call_next))
        return await run() if INSIDE.get() is conversation else await _let_through(conversation, run)

    return dispatch_and_pass


async def _let_through(conversation: Conversation, run: Callable[[], Awaitable[Any]]) -> Any:
    """The client's own call: our errors as they are, and returned questions where nobody else could carry them."""
    token = INSIDE.set(conversation)
    try:
        result = await run()
    except FastMCPError as error:
        told = _told(error) or (forgotten_await(error) if error.__cause__ is not None else None)
        if told is None:
            raise
        raise told from told.__cause__  # from `error`, which it caused, it would go round in circles
    finally:
        INSIDE.reset(token)
    if isinstance(result, RETURNED):
        hand_over_questions(getattr(result, ROUND))
    return result


class _Body:
    """The end of a chain. A middleware may call it twice, as FastMCP's retry does: then its questions have their old
    places in the conversation."""

    __slots__ = ("_call_next", "_conversation", "_mark")

    def __init__(self, conversation: Conversation, call_next: CallNext[Any, Any]) -> None:
        self._conversation, self._call_next = conversation, call_next
        self._mark: BodyPosition | None = None

    def __call__(self, context: MiddlewareContext[Any]) -> Awaitable[Any]:
        if self._mark is None:
            self._mark = self._conversation.mark()
        else:
            self._conversation.rewind(self._mark)
        return self._call_next(context)


def _outside(run: Any) -> Any:
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


def _refusing_run(run: Any) -> Any:
    """In calls that Askback serves, refuse a bare function that is guarded elsewhere, however it was added."""

    async def run_guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        if CURRENT.get() is not None:
            _require_guarded(self)
        return await run(self, *args, **kwargs)

    return run_guarded


def _refusing_tasks(get_tasks: Any) -> Any:
    """Refuse them in the background as well, outside all calls."""

    async def get_tasks_that_refuse() -> list[Any]:
        return [_refusing_task(task) for task in await get_tasks()]

    return get_tasks_that_refuse


def _refusing_task(task: Any) -> Any:
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
    """The author's function, where FastMCP has put a wrapper around it that does not name it."""
    innermost = unwrap(function)
    code = getattr(innermost, "__code__", None)
    if getattr(code, "co_qualname", None) != INJECTING:
        return None
    return getclosurevars(innermost).nonlocals.get("fn")


def _takes_context(context: Context) -> None:
    """For a look at what FastMCP makes of such a function."""
