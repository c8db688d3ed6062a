"""A server's sessions find their way: each request goes to the worker that its session lives with.

Only requests with sessions come here. Whatever goes wrong, the client gets an answer: the SDK's own 404 where the
session is gone, so that it starts anew, and 503 where it may be there and cannot be reached. What needs no answer, such
as a person's reply, is accepted and delivered when that worker can be reached.
"""

import logging
from collections.abc import Callable

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager as Manager
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from askback.errors import OperatorError, StoreUnavailable
from askback.model.store import Store
from askback.protocol.server.push import PendingQuestions
from askback.protocol.server.results import unusable_end
from askback.server.forwarding.addresses import address_here
from askback.server.forwarding.dedupe import RequestDedupe, message_kind
from askback.server.forwarding.directory import SessionDirectory, WorkerLocation
from askback.server.forwarding.drain import Drain
from askback.server.forwarding.envelope import (
    UNKNOWN_USER,
    Envelope,
    can_travel,
    pack_scope,
    pack_user,
    read_body,
    replay_body,
)
from askback.server.forwarding.forwarder import Forwarder, ForwardOutcome
from askback.server.forwarding.outbox import Delivery, Outbox, OutboxFull, OutboxItem
from askback.server.forwarding.presence import Presence
from askback.server.forwarding.recent_events import RecentEvents
from askback.server.forwarding.routes import Routes
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

TRY_AGAIN = "2"
"""Seconds, said to clients: about as long as a store or a worker takes to come back."""

UNREACHABLE = {
    ForwardOutcome.SILENT: "The worker that holds this session does not answer. Nothing was begun; try again "
    "in a moment.",
    ForwardOutcome.BROKEN: "The worker that holds this session stopped answering. This may have been begun.",
}

NOT_PASSED_ON = (
    "This request reached a worker that cannot pass it on. The server's operator must look after it."
)

ELSEWHERE = (
    "a session lives on another machine, at an address that only that machine can reach: say on each machine where "
    'others reach it, with Askback(address="http://10.1.2.3:7411") or in ASKBACK_ADDRESS'
)
FOREIGN = (
    "whoever listens at %s, where a worker of this server was, does not have the same keys: give all workers the same "
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
    is_shared = getattr(store, "reach", "process") != "process"
    if keys and is_shared:
        register = SessionDirectory(store, clock=clock)
        return Router(
            ring=ForwardingKeys(keys),
            register=register,
            store=store,
            address=address_here(address),
            questions=questions,
        )
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
        *,
        ring: ForwardingKeys,
        register: SessionDirectory,
        store: Store,
        address: str | None,
        questions: PendingQuestions,
    ) -> None:
        self._ring = ring
        self._routes = Routes(register)
        self._homes = LocalSessions(ring)
        self._copies = RequestDedupe()
        self._outbox = Outbox()
        self._presence = Presence(register, store, self._homes, address=address)
        self._forwarder: Forwarder | None = None
        self.drain = Drain(questions, self._copies.finish)

    async def finish(self) -> None:
        """Wait for the calls that run."""
        await self.drain.finish()

    async def close(self) -> None:
        """Nothing is opened before it is needed, and all of it again if it is."""
        await self._outbox.close()
        await self._presence.end()
        if self._forwarder is not None:
            await self._forwarder.close()
            self._forwarder = None
        self.drain.reset()

    async def handle(
        self, manager: Manager, by_itself: Handle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """One request of a session, or for a new one."""
        id = session_of(scope["headers"])
        if id is None:
            await self._begin(manager, by_itself, scope, receive, send)
        elif has_session(manager, id):
            await self._serve(manager, id, by_itself, scope, receive, send)
        elif scope.get(FORWARDED):
            await by_itself(scope, receive, send)
            await self._forget(id)
        elif (body := await read_body(receive)) is not None:
            await self._send_on(id, by_itself, body, scope, receive, send)

    async def _serve(
        self, manager: Manager, id: str, by_itself: Handle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """A session of this worker's."""
        if scope["method"] == "POST":
            await self._copies.serve(self.drain.refuse_new_calls(by_itself), scope, receive, send)
        else:
            await self.drain.refuse_new_calls(by_itself)(scope, receive, send)
            if not has_session(manager, id):
                await self._forget(id)

    async def _begin(
        self, manager: Manager, by_itself: Handle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """No client hears of a session before all workers can find it."""
        home = LocalSession(manager, arrival_of(scope, manager.handle_request).entrance)
        refused: list[str] = []

        async def send_when_known(message: Message) -> None:
            id = _new_session(message)
            if id is not None:
                try:
                    await self._presence.enter(id, home)
                    remember_events(manager, id, RecentEvents())
                except (OperatorError, TimeoutError) as error:
                    logger.error("a session could not be opened for all workers", exc_info=error)
                    refused.append(id)
                    await _unavailable(_word_on(error))(scope, receive, send)
            if not refused:
                await send(message)

        await by_itself(scope, receive, send_when_known)
        for id in refused:
            await end_session(manager, id)

    async def _forget(self, id: str) -> None:
        try:
            await self._presence.forget(id)
        except StoreUnavailable:
            logger.info(
                "a session has ended, and the store could not be told; its row expires", exc_info=True
            )

    async def _send_on(
        self, id: str, by_itself: Handle, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """A request for another worker; if its session is gone, the SDK says so."""
        arrival, user = arrival_of(scope, _nowhere), pack_user(scope)
        if not (arrival.entrance.is_outermost or can_travel(user)):
            logger.error(UNKNOWN_USER.format(**user or {}))
            await _unavailable(MCPError(INTERNAL_ERROR, NOT_PASSED_ON))(scope, receive, send)
            return
        envelope = Envelope(
            to="", until=0.0, session=id, scope=pack_scope(arrival.scope), user=user, body=body
        )
        forward = self._accept if _needs_no_answer(scope, body) else self._forward
        if not await forward(envelope, scope, receive, send):
            await by_itself(scope, replay_body(body, receive), send)

    async def _accept(self, envelope: Envelope, scope: Scope, receive: Receive, send: Send) -> bool:
        """A message that needs no answer; False if its session is gone."""

        async def attempt(receive: Receive, send: Send) -> ForwardOutcome:
            try:
                return await self._try(envelope, receive, send)
            except StoreUnavailable:
                return ForwardOutcome.SILENT

        id, body = envelope.session, envelope.body
        try:
            item = OutboxItem(session=id, size=len(body), has_route=self._routes.has(id))
            delivery = await self._outbox.deliver(attempt, item, may_repeat=message_kind(body) == "answer")
        except OutboxFull:
            logger.error("too many answers wait for workers that do not answer: one is refused")
            delivery = Delivery(ForwardOutcome.SILENT, [])
        if delivery is None:
            await Response(status_code=202)(scope, receive, send)
            return True
        for message in delivery.response:
            await send(message)
        return await self._is_answered(delivery.outcome, scope, receive, send)

    async def _forward(self, envelope: Envelope, scope: Scope, receive: Receive, send: Send) -> bool:
        """A request that is answered by another worker; False if its session is gone."""
        try:
            outcome = await self._try(envelope, receive, send)
        except StoreUnavailable as error:
            logger.error("the store cannot be asked where a session lives", exc_info=error)
            await _unavailable(unusable_end(error))(scope, receive, send)
            return True
        return await self._is_answered(outcome, scope, receive, send)

    async def _is_answered(self, outcome: ForwardOutcome, scope: Scope, receive: Receive, send: Send) -> bool:
        if outcome in UNREACHABLE:
            await _unavailable(MCPError(INTERNAL_ERROR, UNREACHABLE[outcome]))(scope, receive, send)
        return outcome is ForwardOutcome.ANSWERED or outcome in UNREACHABLE

    async def _try(self, envelope: Envelope, receive: Receive, send: Send) -> ForwardOutcome:
        """Once; raises `StoreUnavailable` if nobody knows where the session lives."""
        owner = await self._routes.find(envelope.session)
        if owner is None or owner.worker == self._presence.worker or not self._can_reach(owner):
            return ForwardOutcome.GONE
        self._forwarder = self._forwarder or Forwarder(self._ring)
        outcome = await self._forwarder.forward(owner, envelope, receive, send)
        if outcome is ForwardOutcome.FOREIGN:
            logger.warning(FOREIGN, owner.address)
        if outcome in UNREACHABLE and await self._routes.has_ended(owner):
            outcome = ForwardOutcome.GONE
        if outcome is ForwardOutcome.GONE:
            await self._routes.forget(envelope.session, owner)
        return outcome

    def _can_reach(self, owner: WorkerLocation) -> bool:
        if not owner.is_within_reach:
            logger.error(ELSEWHERE)
        return owner.is_within_reach


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    """Stands for the application of a request that is not let in here."""


def _needs_no_answer(scope: Scope, body: bytes) -> bool:
    return scope["method"] == "POST" and message_kind(body) in ("answer", "notification")


def _new_session(message: Message) -> str | None:
    is_start = message["type"] == "http.response.start" and message["status"] < 400
    return session_of(message.get("headers", ())) if is_start else None


def _word_on(error: Exception) -> MCPError:
    """What is wrong, and where, is the operator's to know."""
    if isinstance(error, StoreUnavailable):
        return unusable_end(error)
    return MCPError(INTERNAL_ERROR, "The server cannot open sessions now. Its operator must look after it.")


def _unavailable(error: MCPError) -> JSONResponse:
    told = {"jsonrpc": "2.0", "id": None, "error": error.error.model_dump(exclude_none=True)}
    return JSONResponse(told, status_code=503, headers={"retry-after": TRY_AGAIN})
