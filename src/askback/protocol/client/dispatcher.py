"""Between the SDK's client session and the wire: what it declares is ours, and so is every question that comes."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any, Protocol

import anyio
import anyio.abc
from mcp.shared.dispatcher import (
    CallOptions,
    DispatchContext,
    Dispatcher,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
    ProgressFnT,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.transport_context import TransportContext
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CONNECTION_CLOSED, INVALID_REQUEST

from askback.errors import NotUnderstood
from askback.protocol.client.capabilities import declare_modes
from askback.protocol.client.questions import IncomingRound, read_finished_id, read_result
from askback.protocol.elicitation import ELICIT
from askback.protocol.revisions import CONVERSATION_METHODS, Mode

Exchange = Callable[[Mapping[str, Any], ProgressFnT], Awaitable[dict[str, Any] | IncomingRound]]
"""Send one call's parameters, hear of its progress, and read what comes: its result, or a round of questions."""

_LOST = {CONNECTION_CLOSED: ("Connection closed", "SSE stream "), INVALID_REQUEST: ("Session terminated",)}
"""How the SDK's errors begin when an answer can never come; servers use the same codes for reasons of their own."""

_FORGOTTEN = "Connection closed: the server does not know this session any more"
"""In place of what a server says then in words of its own: the HTTP status has told us already."""


def is_lost(error: MCPError) -> bool:
    """Whether the connection, and not the server, has ended this request."""
    return error.message.startswith(_LOST.get(error.code, ()))


class DispatcherListener(Protocol):
    """Who hears what the session does not: the driver."""

    async def converse(self, params: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
        """A call that may ask: make it, answer, and make it again until there is a result."""
        ...

    async def pushed(self, params: Any, withdrawn: anyio.Event) -> dict[str, Any]:
        """A question of the push era; cancelled when its connection ends or, `withdrawn`, when the server wants so."""
        ...

    def finished(self, name: str) -> None:
        """A visit is finished, says the server."""
        ...

    def heard(self) -> None:
        """A sign of life from the server: a notification, of whatever kind."""
        ...

    def closed(self) -> None:
        """The connection has ended; nothing comes any more."""
        ...


class ElicitationDispatcher(Dispatcher[TransportContext]):
    """The dispatcher that the session is given; it hands on what is not ours as it is."""

    def __init__(
        self,
        inner: Dispatcher[TransportContext],
        listener: DispatcherListener,
        *,
        modes: Collection[Mode],
        pinned: str | None = None,
        is_forgotten: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_forgotten` tells whether the server has just refused a message because it does not know the session."""
        self._inner, self._listener = inner, listener
        self._modes, self._pinned, self._is_forgotten = modes, pinned, is_forgotten

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        said = declare_modes(method, params, modes=self._modes, pinned=self._pinned)
        if method in CONVERSATION_METHODS:
            return await self._listener.converse(said or {}, partial(self._exchange, method, opts))
        found = await self._send(method, said, opts)
        if isinstance(found, IncomingRound):
            raise NotUnderstood(f"it asks questions in the result of {method}, which cannot carry any")
        return found

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        await self._inner.notify(method, params, opts)

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        try:
            await self._inner.run(
                partial(self._on_request, on_request),
                on_notify,
                partial(self._intercept, on_notify_intercept),
                task_status=task_status,
            )
        finally:
            self._listener.closed()

    async def _exchange(
        self, method: str, opts: CallOptions | None, params: Mapping[str, Any], on_progress: ProgressFnT
    ) -> dict[str, Any] | IncomingRound:
        listening: CallOptions = {**(opts or {}), "on_progress": on_progress}
        return await self._send(method, params, listening)

    async def _send(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None
    ) -> dict[str, Any] | IncomingRound:
        try:
            raw = await self._inner.send_raw_request(method, params, opts)
        except MCPError as error:
            if self._is_forgotten():
                raise MCPError(CONNECTION_CLOSED, _FORGOTTEN) from error
            raise
        is_rounds = CLIENT_CAPABILITIES_META_KEY in ((params or {}).get("_meta") or {})
        return read_result(raw) if is_rounds else raw

    async def _on_request(
        self,
        on_request: OnRequest,
        ctx: DispatchContext[TransportContext],
        method: str,
        params: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        if method == ELICIT:
            return await self._listener.pushed(params, ctx.cancel_requested)
        return await on_request(ctx, method, params)

    def _intercept(
        self, then: OnNotifyIntercept | None, method: str, params: Mapping[str, Any] | None
    ) -> bool:
        self._listener.heard()
        if (name := read_finished_id(method, params)) is not None:
            self._listener.finished(name)
        return then(method, params) if then is not None else False
