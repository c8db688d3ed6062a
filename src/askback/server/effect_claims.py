"""Where effects are remembered: with the round that runs them, and in a wider scope where the author wants one."""

import json
import logging
from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

import anyio
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import authenticated_principal
from pydantic_core import from_json, to_json

from askback.errors import CallerUnknown, RoundForgotten, RoundRefused, StoreUnavailable
from askback.model.ids import new_id
from askback.model.journal import Effect, Journal
from askback.model.once import FORGOTTEN, INTERRUPTED, MEMORY_LOST
from askback.model.owners import LOCAL
from askback.model.store import EpochChanged, Finished, Granted, Rejected, RunnerDied, Store
from askback.protocol.revisions import target_of
from askback.server.conversation_ids import LOSS_KEPT, ConversationIds
from askback.server.hosts.boundary import Caller
from askback.server.owners import OwnerOf

Context = ServerRequestContext[Any, Any]

logger = logging.getLogger("askback")

HEARD = 5.0
"""Seconds after which somebody who was told has heard it. What comes sooner may be a copy that was under way with the
call that was told, whose sender has heard nothing yet."""

LAST_WORDS = 1.0
"""Seconds for keeping what an effect gave where its claim is gone; somebody else may be running it."""


class RoundProgress(NamedTuple):
    """What whoever takes a round over must know."""

    claimed_at: float
    """When the round was claimed for the first time: the time by which its replies were in time, or late."""
    effects: dict[str, Effect]

    def written(self) -> bytes:
        return to_json([self.claimed_at, [list(effect) for effect in self.effects.values()]])

    @classmethod
    def read(cls, noted: bytes) -> "RoundProgress":
        claimed_at, rows = from_json(noted)
        return cls(claimed_at, {row[0]: Effect(*row) for row in rows})


class _Claim(NamedTuple):
    """An effect that is ours to run, and until when it is to be known."""

    mine: Granted
    until: float


class EffectClaims:
    """The store, as the effects of one call see it."""

    def __init__(
        self,
        store: Store,
        *,
        claim: Granted | None,
        claimed_at: float,
        cut_short: Container[str],
        scope: Callable[[str], str],
        journal: Journal,
        names: ConversationIds,
        now: float,
    ) -> None:
        self._store, self._now = store, now
        self._scope, self._journal, self._names = scope, journal, names
        self._claim, self._claimed_at, self._cut_short = claim, claimed_at, cut_short
        self._claims: dict[str, _Claim] = {}

    async def save_progress(self, effects: Mapping[str, Effect]) -> None:
        """With the claim on this round. Only a later round can be taken over; a first call has nothing to be taken."""
        if self._claim is None:
            return
        notes = RoundProgress(self._claimed_at, dict(effects))
        if not await self._store.note(self._claim, notes.written()):
            # We were taken for dead, and another runs this round now; or the store does not know it any more. What is
            # not begun must not begin.
            raise RoundForgotten if await self._is_forgotten() else RoundRefused

    def was_interrupted(self, key: str) -> bool:
        return key in self._cut_short

    async def claim(self, key: str, *, seconds: float, retry: bool) -> Effect | None:
        name, until = f"once:{self._scope(key)}", self._now + seconds
        # What may happen twice needs no memory; all else is claimed in the one that this call began with.
        epoch = "" if retry else (await self._names.assign(self._journal)).epoch
        match await self._store.claim(name, until=until, takeover=retry, epoch=epoch):
            case Granted() as claim:
                if not retry and await self._is_given_up(claim, seconds):
                    return MEMORY_LOST._replace(key=key)
                self._claims[key] = _Claim(claim, until)
                return None
            case Finished(result):
                return Effect(*from_json(result))
            case RunnerDied():
                return INTERRUPTED._replace(key=key)
            case Rejected():
                return FORGOTTEN._replace(key=key)
            case EpochChanged():
                await self.tell_of_loss()
                return MEMORY_LOST._replace(key=key)

    async def settle(self, key: str, effect: Effect | None) -> None:
        claim = self._claims.pop(key, None)
        if claim is None:
            return
        try:
            if effect is None:
                await self._store.release(claim.mine)
            elif not await self._store.record(claim.mine, to_json(list(effect))):
                await self._record_anew(claim, to_json(list(effect)))
        except StoreUnavailable:
            # It has happened, or not, whatever the store does; for everybody else it counts as interrupted.
            logger.exception("what an effect gave could not be kept for later calls")

    async def _record_anew(self, claim: _Claim, effect: bytes) -> None:
        """The store does not know the claim any more, most likely because it lost its memory: it learns it again."""
        with anyio.move_on_after(LAST_WORDS):
            verdict = await self._store.claim(claim.mine.key, until=claim.until)
            if isinstance(verdict, Granted):
                await self._store.record(verdict, effect)

    # After the store has lost its memory.

    async def tell_of_loss(self) -> None:
        """Whoever made this call is told to find out; when they make it again, they have."""
        await self._told_at()
        await self._names.note_loss()

    async def _is_forgotten(self) -> bool:
        """Whether the store has another epoch than this call. A claim asks the store itself: what `epoch()` gives may
        have been heard a moment before the loss."""
        if not self._journal.epoch:
            return False
        key = f"epoch:{new_id()}"
        verdict = await self._store.claim(key, until=self._names.clock(), epoch=self._journal.epoch)
        if isinstance(verdict, Granted):
            await self._store.release(verdict)
        return isinstance(verdict, EpochChanged)

    async def _is_given_up(self, claim: Granted, seconds: float) -> bool:
        """Whether it is doubtful; then, and where nobody can tell, it is free for the next."""
        is_ours = False
        try:
            is_ours = not await self._is_doubtful(seconds)
        finally:
            if not is_ours:
                with anyio.CancelScope(shield=True), suppress(StoreUnavailable):
                    await self._store.release(claim)
        return not is_ours

    async def _is_doubtful(self, seconds: float) -> bool:
        """Whether this effect may have run in a memory that was lost, and nobody was told to find out."""
        lost_at = await self._names.lost_at()
        if lost_at is None or self._now - lost_at >= seconds:
            return False
        return self._now - await self._told_at() <= HEARD

    async def _told_at(self) -> float:
        """When they were told for the first time since the loss, which may be now."""
        now = self._names.clock()
        name = f"told:{await self._names.epoch()}:{self._scope('')}"
        return float(await self._store.settle(name, repr(now).encode(), until=now + LOSS_KEPT))


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
