"""FastMCP: where its parts are touched, and nowhere else. Imported only where a FastMCP server is given."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import fields, replace
from functools import lru_cache, wraps
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.exceptions import FastMCPError
from fastmcp.prompts.base import InputRequiredPromptResult
from fastmcp.resources.base import InputRequiredResourceResult
from fastmcp.server.dependencies import FastMCPRequestContext, fastmcp_request_ctx
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.middleware import CallNext, MiddlewareContext
from fastmcp.tools.base import InputRequiredToolResult
from mcp.shared.exceptions import MCPError

from askback.current import CURRENT
from askback.errors import own_error
from askback.server.adapters.mcp import hand_over, require
from askback.server.session import AskingSession
from askback.wire.era import CONVERSATION_METHODS, NOVEMBER_2025, Era, revision_of
from askback.wire.notices import demands_visits
from askback.wire.returned import ROUND

RETURNED = (InputRequiredToolResult, InputRequiredPromptResult, InputRequiredResourceResult)

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
    return vars(server).get("_mcp_server")


def settle_in(server: FastMCP[Any]) -> None:
    """Let through what FastMCP would flatten, and let `ctx.elicit()` ask on every revision."""
    server.middleware.insert(0, Passage())
    _let_contexts_elicit()


class Passage(Middleware):
    """Outermost in FastMCP's own chain: what a body leaves with reaches Askback as it is."""

    async def __call__(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        conversation = CURRENT.get()
        if context.method not in CONVERSATION_METHODS or INSIDE.get() is conversation:
            return await call_next(context)
        token = INSIDE.set(conversation)
        try:
            result = await call_next(context)
        except FastMCPError as error:
            told = _told(error)
            if told is None:
                raise
            raise told from error
        finally:
            INSIDE.reset(token)
        bound = fastmcp_request_ctx.get()
        if isinstance(result, RETURNED) and bound is not None:
            hand_over(getattr(result, ROUND), bound.protocol_version)
        return result


def _told(error: BaseException) -> MCPError | None:
    """Our own error, or the demand for a visit, that FastMCP wrapped into one of its own."""
    ours = own_error(error)
    if ours is not None:
        return ours
    cause = error.__cause__
    while cause is not None and not (isinstance(cause, MCPError) and demands_visits(cause)):
        cause = cause.__cause__
    return cause


@lru_cache(maxsize=1)
def _let_contexts_elicit() -> None:
    """`ctx.elicit()` refuses the rounds era before it asks the session, which can. So it is not shown that era.

    Every mounted server makes contexts of its own, and none can be told which kind to make: that is why the class is
    changed. Nothing changes outside a call that Askback serves, and nobody but `elicit` itself sees another version.
    """
    elicit: Callable[..., Awaitable[Any]] = Context.elicit

    @wraps(elicit)
    async def elicit_on_every_revision(self: Context, *args: Any, **kwargs: Any) -> Any:
        bound = fastmcp_request_ctx.get()
        if (
            bound is None
            or not isinstance(bound.session, AskingSession)
            or revision_of(bound.protocol_version).era is not Era.ROUNDS
        ):
            return await elicit(self, *args, **kwargs)
        token = fastmcp_request_ctx.set(replace(bound, protocol_version=NOVEMBER_2025.version))
        try:
            return await elicit(self, *args, **kwargs)
        finally:
            fastmcp_request_ctx.reset(token)

    Context.elicit = elicit_on_every_revision
