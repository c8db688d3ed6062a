"""Where effects are remembered: with the round that runs them, and in a wider scope where the author wants one."""

import json
import logging
from collections.abc import Callable, Container, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import authenticated_principal
from pydantic_core import from_json, to_json

from askback.errors import CallerUnknown, RoundRefused, StoreUnavailable
from askback.journal.entries import Effect
from askback.journal.once import FORGOTTEN, INTERRUPTED
from askback.owners import LOCAL
from askback.server.adapters.mcp import Caller
from askback.server.owners import OwnerOf
from askback.stores.protocol import Done, Forgotten, Lost, Mine, Refused, Store
from askback.wire.era import target_of

Context = ServerRequestContext[Any, Any]

logger = logging.getLogger("askback")


class Notes(NamedTuple):
    """What whoever takes a round over must know."""

    claimed_at: float
    """When the round was claimed for the first time: the time by which its replies were in time, or late."""
    effects: dict[str, Effect]

    def written(self) -> bytes:
        return to_json([self.claimed_at, [list(effect) for effect in self.effects.values()]])

    @classmethod
    def read(cls, noted: bytes) -> "Notes":
        claimed_at, rows = from_json(noted)
        return cls(claimed_at, {row[0]: Effect(*row) for row in rows})


class Keeping:
    """The store, as the effects of one call see it."""

    def __init__(
        self,
        ctx: Context,
        store: Store,
        *,
        claim: Mine | None,
        claimed_at: float,
        cut_short: Container[str],
        server: str,
        caller: Callable[[], str],
        now: float,
    ) -> None:
        self._ctx, self._store, self._now = ctx, store, now
        self._server, self._caller = server, caller
        self._claim, self._claimed_at, self._cut_short = claim, claimed_at, cut_short
        self._claims: dict[str, Mine] = {}

    async def keep(self, effects: Mapping[str, Effect]) -> None:
        """With the claim on this round. Only a later round can be taken over; a first call has nothing to be taken."""
        if self._claim is None:
            return
        notes = Notes(self._claimed_at, dict(effects))
        if not await self._store.note(self._claim, notes.written()):
            # We were taken for dead, and another runs this round now: what is not begun must not begin.
            raise RoundRefused

    def was_cut_short(self, key: str) -> bool:
        return key in self._cut_short

    async def claim(self, key: str, *, seconds: float, retry: bool) -> Effect | None:
        name = f"once:{scope_of(self._ctx, self._server, self._caller(), key)}"
        match await self._store.claim(name, until=self._now + seconds, takeover=retry):
            case Mine() as claim:
                self._claims[key] = claim
                return None
            case Done(result):
                return Effect(*from_json(result))
            case Lost():
                return INTERRUPTED._replace(key=key)
            case Refused() | Forgotten():
                return FORGOTTEN._replace(key=key)

    async def settle(self, key: str, effect: Effect | None) -> None:
        claim = self._claims.pop(key, None)
        if claim is None:
            return
        try:
            if effect is None:
                await self._store.release(claim)
            else:
                await self._store.record(claim, to_json(list(effect)))
        except StoreUnavailable:
            # It has happened, or not, whatever the store does; for everybody else it counts as interrupted.
            logger.exception("what an effect gave could not be kept for later calls")


def caller_of(ctx: Context, caller: Caller, owner: OwnerOf) -> str:
    """The principal behind the call; over HTTP somebody must tell, or strangers would share what is kept.

    Of a token without a subject the SDK tells the client alone, which all its users share: then it is the `owner`, as
    far as the token's claims make one.
    """
    token = get_access_token()
    if token is None and ctx.request is None and caller is authenticated_principal:
        return LOCAL  # of whom the SDK has nothing to tell
    told = caller(ctx)
    if told is not None and token is not None and caller is authenticated_principal and not token.subject:
        told = owner(ctx) or None
    if told is not None:
        return told
    if ctx.request is not None or token is not None:
        raise CallerUnknown
    return LOCAL


def scope_of(ctx: Context, server: str, caller: str, key: str) -> str:
    """Digest of a place in a call: equal when the same caller makes the same call to the same server again.

    The server is part of it because several servers may share one store.
    """
    target, arguments = target_of(ctx.method, ctx.params or {})
    scope = json.dumps([server, caller, ctx.method, target, arguments, key], sort_keys=True)
    return sha256(scope.encode()).hexdigest()
