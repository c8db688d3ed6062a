"""Between the SDK's client session and the wire: what it declares is ours, and so is every question that comes."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any

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
"""Sends the parameters of one call, reports its progress, and gives its result or a round of questions."""

_LOST = {CONNECTION_CLOSED: ("Connection closed", "SSE stream "), INVALID_REQUEST: ("Session terminated",)}
"""How the SDK's errors begin when an answer can never come; servers use the same codes for reasons of their own."""

_FORGOTTEN = "Connection closed: the server does not know this session any more"
"""Replaces the server's own error text: the HTTP status has told us already."""


def is_lost(error: MCPError) -> bool:
    """Whether the connection, and not the server, has ended this request."""
    return error.message.startswith(_LOST.get(error.code, ()))


class ElicitationDispatcher(Dispatcher[TransportContext]):
    """The dispatcher that the SDK's session gets. It passes on what has nothing to do with questions."""

    def __init__(
        self,
        inner: Dispatcher[TransportContext],
        *,
        converse: Callable[[dict[str, Any], Exchange], Awaitable[dict[str, Any]]],
        on_pushed: Callable[[Any, anyio.Event], Awaitable[dict[str, Any]]],
        on_finished: Callable[[str], None],
        on_sign_of_life: Callable[[], None],
        on_closed: Callable[[], None],
        modes: Collection[Mode],
        pinned: str | None = None,
        is_forgotten: Callable[[], bool] = lambda: False,
    ) -> None:
        """
        Args:
            inner: the SDK's dispatcher.
            converse: makes a call that may ask, answers, and makes it again until there is a result.
            on_pushed: answers a question of the push era. It is cancelled when the connection ends, and also when the
                server takes the question back; then the event is set.
            on_finished: hears that the visit of this id is finished.
            on_sign_of_life: hears of each notification.
            on_closed: hears that the connection has ended.
            modes: what is declared.
            pinned: the only revision to be spoken.
            is_forgotten: whether the server has just refused a message because it does not know the session.
        """
        self._inner, self._converse, self._on_pushed = inner, converse, on_pushed
        self._on_finished, self._on_sign_of_life, self._on_closed = on_finished, on_sign_of_life, on_closed
        self._modes, self._pinned, self._is_forgotten = modes, pinned, is_forgotten

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        said = declare_modes(method, params, modes=self._modes, pinned=self._pinned)
        if method in CONVERSATION_METHODS:
            return await self._converse(said or {}, partial(self._exchange, method, opts))
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
            self._on_closed()

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
            return await self._on_pushed(params, ctx.cancel_requested)
        return await on_request(ctx, method, params)

    def _intercept(
        self, then: OnNotifyIntercept | None, method: str, params: Mapping[str, Any] | None
    ) -> bool:
        self._on_sign_of_life()
        if (name := read_finished_id(method, params)) is not None:
            self._on_finished(name)
        return then(method, params) if then is not None else False
