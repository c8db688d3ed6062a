"""A server's sessions find their way: each request goes to the worker that its session lives with.

Only requests with sessions come here. Whatever goes wrong, the client gets an answer: the SDK's own 404 where the
session is gone, so that it starts anew, and 503 where it may be there and cannot be reached.
"""

import logging
from collections.abc import Callable
from functools import partial

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager as Manager
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from askback.errors import OperatorError, StoreUnavailable
from askback.server.adapters.mcp import Keys
from askback.server.adapters.streamable import (
    Handle,
    end_session,
    entrance_of,
    has_session,
    remember_events,
    session_of,
)
from askback.server.workers.addresses import address_here
from askback.server.workers.bringing import Bringer, Outcome
from askback.server.workers.copies import Copies
from askback.server.workers.events import Events
from askback.server.workers.homes import BROUGHT, Home, Homes
from askback.server.workers.keeping import Presence
from askback.server.workers.parcels import Parcel, told_of
from askback.server.workers.register import Owner, Register
from askback.server.workers.sealing import Ring
from askback.stores.protocol import Store
from askback.wire.results import unusable_end

logger = logging.getLogger("askback")

TRY_AGAIN = "2"
"""Seconds, said to clients: about as long as a store or a worker takes to come back."""

UNREACHABLE = {
    Outcome.SILENT: "The worker that holds this session does not answer. Nothing was begun; try again in a moment.",
    Outcome.BROKEN: "The worker that holds this session stopped answering. This may have been begun.",
}

ELSEWHERE = (
    "a session lives on another machine, at an address that only that machine can reach: say on each machine where "
    'others reach it, with Askback(address="http://10.1.2.3:7411") or in ASKBACK_ADDRESS'
)
FOREIGN = (
    "whoever listens at %s, where a worker of this server was, does not have the same keys: give all workers the same "
    "keys=[...], and a new key first as the last of the list"
)


def workers_among(
    *, keys: Keys | None, store: Store, address: str | None, clock: Callable[[], float]
) -> "Workers | None":
    """None for a server that shares its calls with no other worker."""
    is_shared = getattr(store, "reach", "process") != "process"
    if keys and is_shared:
        return Workers(keys=keys, store=store, address=address_here(address), clock=clock)
    if address is not None:
        raise OperatorError(
            "Askback(address=...) is where other workers bring requests, and this one has nothing in common with any: "
            'it takes the same keys=[...] and the same store=, such as "redis://...", on all of them.'
        )
    return None


class Workers:
    """This process among all that serve the same sessions."""

    def __init__(self, *, keys: Keys, store: Store, address: str | None, clock: Callable[[], float]) -> None:
        self._ring = Ring(keys)
        self._register = Register(store, clock=clock)
        self._homes = Homes(self._ring)
        self._copies = Copies()
        self._presence = Presence(self._register, store, self._homes, address=address)
        self._bringer: Bringer | None = None

    async def close(self) -> None:
        """Nothing is opened before it is needed, and all of it again if it is."""
        await self._presence.end()
        if self._bringer is not None:
            await self._bringer.close()
            self._bringer = None

    async def handle(
        self, manager: Manager, by_itself: Handle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """One request of a session, or for a new one."""
        id = session_of(scope["headers"])
        if id is None:
            await self._begin(manager, by_itself, scope, receive, send)
        elif has_session(manager, id) and scope["method"] == "POST":
            await self._copies.serve(by_itself, scope, receive, send)
        elif scope.get(BROUGHT) or has_session(manager, id):
            await by_itself(scope, receive, send)
            if not has_session(manager, id):
                await self._forget(id)
        elif not await self._is_served_elsewhere(id, scope, receive, send):
            await by_itself(scope, receive, send)

    async def _begin(
        self, manager: Manager, by_itself: Handle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """No client hears of a session before all workers can find it."""
        entrance = entrance_of(scope, manager.handle_request)
        home = Home(manager, entrance.app, entrance.scope.get("state", {}))
        refused: list[str] = []

        async def send_when_known(message: Message) -> None:
            id = _new_session(message)
            if id is not None:
                try:
                    await self._presence.enter(id, home)
                    remember_events(manager, id, Events())
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

    async def _is_served_elsewhere(self, id: str, scope: Scope, receive: Receive, send: Send) -> bool:
        """Whether the request is answered; if not, there is no such session, or no longer."""
        try:
            owner = await self._register.find(id)
            if owner is None or owner.worker == self._presence.worker or not self._can_reach(owner):
                return False
            outcome = await self._bring(id, owner, scope, receive, send)
            if outcome is Outcome.ANSWERED:
                return True
            if await self._has_ended(owner, outcome):
                await self._register.strike(id, owner)
                return False
        except StoreUnavailable as error:
            logger.error("the store cannot be asked where a session lives", exc_info=error)
            await _unavailable(unusable_end(error))(scope, receive, send)
            return True
        if outcome is Outcome.FOREIGN:
            logger.warning(FOREIGN, owner.address)
            return False
        await _unavailable(MCPError(INTERNAL_ERROR, UNREACHABLE[outcome]))(scope, receive, send)
        return True

    def _can_reach(self, owner: Owner) -> bool:
        if not owner.is_within_reach:
            logger.error(ELSEWHERE)
        return owner.is_within_reach

    async def _has_ended(self, owner: Owner, outcome: Outcome) -> bool:
        """A worker that is silent and has not said of late that it lives is dead, and its machine may be, too."""
        if outcome in UNREACHABLE:
            return not await self._register.is_alive(owner.worker)
        return outcome is Outcome.GONE

    async def _bring(self, id: str, owner: Owner, scope: Scope, receive: Receive, send: Send) -> Outcome:
        told = told_of(entrance_of(scope, _nowhere).scope)
        parcel = partial(_parcel, owner.worker, id, told)
        self._bringer = self._bringer or Bringer(self._ring)
        return await self._bringer.bring(owner, parcel, receive, send)


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    """Stands for the application of a request that is not let in here."""


def _parcel(worker: str, id: str, told: dict[str, object], until: float, body: bytes) -> Parcel:
    return Parcel(to=worker, until=until, session=id, scope=told, body=body)


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
