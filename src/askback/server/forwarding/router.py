"""Sends each request of a session to the worker that has the session.

Only requests with sessions come here. Whatever goes wrong, the client gets a response: the SDK's own 404 if the session
is gone, so that the client begins a new one, and 503 if it may exist and cannot be reached. A message without a
response, such as a person's answer, is accepted and delivered when its worker can be reached.
"""

import logging
from collections.abc import Callable
from functools import partial

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager as Manager
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from askback.errors import OperatorError, StoreUnavailable
from askback.model.store import Store
from askback.protocol.server.push import PendingQuestions
from askback.protocol.server.results import unusable_end
from askback.server.forwarding.addresses import configured_address
from askback.server.forwarding.dedupe import RequestDedupe
from askback.server.forwarding.directory import SessionDirectory
from askback.server.forwarding.drain import Drain
from askback.server.forwarding.envelope import UNKNOWN_USER, Envelope, can_forward, pack_scope, pack_user
from askback.server.forwarding.forwarder import Forwarder, ForwardOutcome
from askback.server.forwarding.messages import error_response, message_kind, read_body, replay_body
from askback.server.forwarding.outbox import Outbox, OutboxItem
from askback.server.forwarding.presence import Presence
from askback.server.forwarding.recent_events import RecentEvents
from askback.server.forwarding.seal import ForwardingKeys
from askback.server.forwarding.sessions import FORWARDED, LocalSession, LocalSessions
from askback.server.hosts.boundary import Keys
from askback.server.hosts.entrance import arrival_of
from askback.server.hosts.streamable_http import (
    Handle,
    end_session,
    has_session,
    remember_events,
    session_of,
)

logger = logging.getLogger("askback")

RETRY_AFTER = "2"
"""Seconds, told to clients: about as long as a store or a worker takes to come back."""

QUIET_TIME = 0.5
"""Seconds without a request, after which a worker that ends takes its clients for done: the SDK's client asks for the
list of tools when it has a result, and takes the call for failed if it does not get the list."""

UNREACHABLE = {
    ForwardOutcome.SILENT: "The worker that holds this session does not answer. Nothing was begun; try again "
    "in a moment.",
    ForwardOutcome.BROKEN: "The worker that holds this session stopped answering. This may have been begun.",
}

NOT_FORWARDED = (
    "This request reached a worker that cannot pass it on. The server's operator must look after it."
)

ELSEWHERE = (
    "a session lives on another machine, at an address that only that machine can reach: say on each machine where "
    'others reach it, with Askback(address="http://10.1.2.3:7411") or in ASKBACK_ADDRESS'
)
FOREIGN = (
    "what listens at %s, where a worker of this server was, does not have the same keys: give all workers the same "
    "keys=[...], and a new key first as the last of the list"
)


def make_router(
    *,
    keys: Keys | None,
    store: Store,
    address: str | None,
    clock: Callable[[], float],
    questions: PendingQuestions,
) -> "Router | None":
    """None for a server that shares its calls with no other worker."""
    if keys and getattr(store, "reach", "process") != "process":
        directory = SessionDirectory(store, clock=clock)
        return Router(ForwardingKeys(keys), directory, store, configured_address(address), questions)
    if address is not None:
        raise OperatorError(
            "Askback(address=...) is where other workers bring requests, and this one has nothing in common with any: "
            'it takes the same keys=[...] and the same store=, such as "redis://...", on all of them.'
        )
    return None


class Router:
    """This process among all that serve the same sessions."""

    def __init__(
        self,
        keys: ForwardingKeys,
        directory: SessionDirectory,
        store: Store,
        address: str | None,
        questions: PendingQuestions,
    ) -> None:
        self._keys, self._directory = keys, directory
        self._presence = Presence(directory, store, LocalSessions(keys), address=address)
        self._dedupe = RequestDedupe()
        self._outbox = Outbox()
        self._forwarder: Forwarder | None = None
        self.drain = Drain(questions, quiet_time=QUIET_TIME)

    async def finish(self) -> None:
        """Wait for the calls that run."""
        await self.drain.finish()

    async def close(self) -> None:
        """Close everything. It is opened again when it is needed."""
        await self._outbox.close()
        await self._presence.end()
        if self._forwarder is not None:
            await self._forwarder.close()
            self._forwarder = None
        self.drain.reset()

    async def handle(
        self, manager: Manager, by_itself: Handle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve one request of a session, or for a new one."""
        id = session_of(scope["headers"])
        if id is None:
            await self._open_session(manager, by_itself, scope, receive, send)
        elif has_session(manager, id):
            await self._serve(manager, id, by_itself, scope, receive, send)
        elif scope.get(FORWARDED):
            await by_itself(scope, receive, send)
            await self._presence.forget(id)
        elif (body := await read_body(receive)) is not None:
            await self._send_on(id, by_itself, body, scope, receive, send)

    async def _serve(
        self, manager: Manager, id: str, by_itself: Handle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve a request of a session of this worker."""
        serve = partial(self.drain.serve, by_itself)
        if scope["method"] == "POST":
            await self._dedupe.serve(serve, scope, receive, send)
        else:
            await serve(scope, receive, send)
            if not has_session(manager, id):
                await self._presence.forget(id)

    async def _open_session(
        self, manager: Manager, by_itself: Handle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Tell the client the id of its session after all workers can find it."""
        session = LocalSession(manager, arrival_of(scope, manager.handle_request).entrance)
        refused: list[str] = []

        async def send_when_entered(message: Message) -> None:
            is_start = message["type"] == "http.response.start" and message["status"] < 400
            id = session_of(message.get("headers", ())) if is_start else None
            if id is not None:
                try:
                    await self._presence.enter(id, session)
                    remember_events(manager, id, RecentEvents())
                except (OperatorError, TimeoutError) as error:
                    logger.error("a session could not be opened for all workers", exc_info=error)
                    refused.append(id)
                    await _unavailable(_explain(error))(scope, receive, send)
            if not refused:
                await send(message)

        await by_itself(scope, receive, send_when_entered)
        for id in refused:
            await end_session(manager, id)

    async def _send_on(
        self, id: str, by_itself: Handle, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Send a request to another worker. If its session is gone, the SDK says so."""
        arrival, user = arrival_of(scope, by_itself), pack_user(scope)
        if not (arrival.entrance.is_outermost or can_forward(user)):
            logger.error(UNKNOWN_USER.format(**user or {}))
            await _unavailable(MCPError(INTERNAL_ERROR, NOT_FORWARDED))(scope, receive, send)
            return
        envelope = Envelope(session=id, scope=pack_scope(arrival.scope), user=user, body=body)
        kind = message_kind(body) if scope["method"] == "POST" else "other"
        try:
            if kind in ("answer", "notification"):
                outcome = await self._accept(envelope, kind == "answer", scope, receive, send)
            else:
                outcome = await self._forward(envelope, receive, send)
        except StoreUnavailable as error:
            logger.error("the store cannot be asked where a session lives", exc_info=error)
            await _unavailable(unusable_end(error))(scope, receive, send)
            return
        if outcome in UNREACHABLE:
            await _unavailable(MCPError(INTERNAL_ERROR, UNREACHABLE[outcome]))(scope, receive, send)
        elif outcome is not ForwardOutcome.ANSWERED:
            await by_itself(scope, replay_body(body, receive), send)

    async def _accept(
        self, envelope: Envelope, is_answer: bool, scope: Scope, receive: Receive, send: Send
    ) -> ForwardOutcome:
        """Deliver a message that has no response of its own, now or later."""

        async def attempt(receive: Receive, send: Send) -> ForwardOutcome:
            try:
                return await self._forward(envelope, receive, send)
            except StoreUnavailable:
                return ForwardOutcome.SILENT

        id = envelope.session
        item = OutboxItem(session=id, size=len(envelope.body), has_route=self._directory.has_route(id))
        delivery = await self._outbox.deliver(attempt, item, may_repeat=is_answer)
        if delivery is None:
            await Response(status_code=202)(scope, receive, send)
            return ForwardOutcome.ANSWERED
        for message in delivery.response:
            await send(message)
        return delivery.outcome

    async def _forward(self, envelope: Envelope, receive: Receive, send: Send) -> ForwardOutcome:
        """Send the request once. Raises `StoreUnavailable` if the store is needed to find the session."""
        owner = await self._directory.find(envelope.session)
        if owner is None or owner.worker == self._presence.worker:
            return ForwardOutcome.GONE
        if not owner.is_within_reach:
            logger.error(ELSEWHERE)
            return ForwardOutcome.GONE
        self._forwarder = self._forwarder or Forwarder(self._keys)
        outcome = await self._forwarder.forward(owner, envelope, receive, send)
        if outcome is ForwardOutcome.FOREIGN:
            logger.warning(FOREIGN, owner.address)
        if outcome in UNREACHABLE and await self._directory.has_expired(owner.worker):
            outcome = ForwardOutcome.GONE
        if outcome is ForwardOutcome.GONE:
            await self._directory.forget(envelope.session, owner)
        return outcome


def _explain(error: Exception) -> MCPError:
    """The error for the client. The details are for the operator."""
    if isinstance(error, StoreUnavailable):
        return unusable_end(error)
    return MCPError(INTERNAL_ERROR, "The server cannot open sessions now. Its operator must look after it.")


def _unavailable(error: MCPError) -> JSONResponse:
    return error_response(503, error.error, {"retry-after": RETRY_AFTER})
