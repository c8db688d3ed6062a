"""Where effects are remembered beyond one pass of a body, so that no effect runs twice: with the claim on the round
that runs them, and in a wider scope where the author wants one."""

import logging
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import anyio
from pydantic_core import from_json, to_json

from askback.errors import RoundForgotten, RoundRefused, StoreUnavailable
from askback.model.ids import new_id
from askback.model.journal import Effect
from askback.model.once import FORGOTTEN, INTERRUPTED, MEMORY_LOST
from askback.model.store import EpochChanged, Finished, Granted, Rejected, RunnerDied
from askback.runtime.conversation_ids import LOSS_KEPT

if TYPE_CHECKING:
    from askback.runtime.context import CallContext

logger = logging.getLogger("askback")

NOTICE_DELAY = 5.0
"""Seconds after which a caller who was told of a loss has heard it. A call that comes sooner may be a copy that was
under way with the call that was told, whose sender has heard nothing yet."""

RECORD_TIMEOUT = 1.0
"""Seconds for keeping the result of an effect whose claim is gone; another worker may be running it."""


class RoundProgress(NamedTuple):
    """What a worker that takes a round over must know."""

    claimed_at: float
    """When the round was claimed for the first time: the time by which its replies were in time, or late."""
    effects: dict[str, Effect]

    def to_bytes(self) -> bytes:
        return to_json([self.claimed_at, [list(effect) for effect in self.effects.values()]])

    @classmethod
    def from_bytes(cls, note: bytes) -> "RoundProgress":
        claimed_at, rows = from_json(note)
        return cls(claimed_at, {row[0]: Effect(*row) for row in rows})


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedRound:
    """A later round that this worker runs, and no other meanwhile."""

    claim: Granted
    claimed_at: float
    """When it was claimed for the first time, perhaps by a worker that died."""
    interrupted: Collection[str] = ()
    """Keys of the effects that were under way when that worker died."""


class EffectClaim(NamedTuple):
    """An effect that this call runs, and until when its result is kept."""

    claim: Granted
    until: float


class EffectClaims:
    """The effects of one call, in the store."""

    def __init__(self, context: "CallContext") -> None:
        self._context = context
        self._store, self._ids = context.server.store, context.server.conversation_ids
        self._claims: dict[str, EffectClaim] = {}

    async def save_progress(self, effects: Mapping[str, Effect]) -> None:
        """Note the effects with the claim on this round. Only a later round can be taken over, so a first call notes
        nothing."""
        running = self._context.round
        if running is None:
            return
        progress = RoundProgress(running.claimed_at, dict(effects))
        if not await self._store.note(running.claim, progress.to_bytes()):
            # This worker was taken for dead and another runs this round now, or the store lost its memory. What has
            # not begun must not begin.
            raise RoundForgotten if await self._is_epoch_lost() else RoundRefused

    def was_interrupted(self, key: str) -> bool:
        """Whether the effect was under way when the worker died that ran this round before."""
        running = self._context.round
        return running is not None and key in running.interrupted

    async def claim(self, key: str, *, seconds: float, retry: bool) -> Effect | None:
        """The result of this effect for the same caller, tool and arguments in that time; None if it is ours to run.

        With `retry` it is also ours where a worker began it and died.
        """
        name, until = f"once:{self._context.effect_scope(key)}", self._context.now + seconds
        # An effect that may happen twice needs no memory; all else is claimed in the epoch that this call began with.
        epoch = "" if retry else (await self._ids.assign(self._context.journal)).epoch
        match await self._store.claim(name, until=until, takeover=retry, epoch=epoch):
            case Granted() as claim:
                if not retry and await self._release_if_doubtful(claim, seconds):
                    return MEMORY_LOST._replace(key=key)
                self._claims[key] = EffectClaim(claim, until)
                return None
            case Finished(result):
                return Effect(*from_json(result))
            case RunnerDied():
                return INTERRUPTED._replace(key=key)
            case Rejected():
                return FORGOTTEN._replace(key=key)
            case EpochChanged():
                await self.report_loss()
                return MEMORY_LOST._replace(key=key)

    async def settle(self, key: str, effect: Effect | None) -> None:
        """Keep the result of a claimed effect and wake its copies; None lets another call run it."""
        claimed = self._claims.pop(key, None)
        if claimed is None:
            return
        try:
            if effect is None:
                await self._store.release(claimed.claim)
            elif not await self._store.record(claimed.claim, to_json(list(effect))):
                await self._record_again(claimed, to_json(list(effect)))
        except StoreUnavailable:
            # It has happened, or not, whatever the store does; for all others it counts as interrupted.
            logger.exception("the result of an effect could not be kept for later calls")

    async def _record_again(self, claimed: EffectClaim, effect: bytes) -> None:
        """The store does not know the claim any more, most likely because it lost its memory: claim it again."""
        with anyio.move_on_after(RECORD_TIMEOUT):
            verdict = await self._store.claim(claimed.claim.key, until=claimed.until)
            if isinstance(verdict, Granted):
                await self._store.record(verdict, effect)

    # After the store has lost its memory.

    async def report_loss(self) -> None:
        """This caller is told to find out what happened; when they make the call again, they have."""
        await self._note_reported()
        await self._ids.note_loss()

    async def _is_epoch_lost(self) -> bool:
        """Whether the store has another epoch than this call. A claim asks the store itself: what `epoch()` gives may
        have been read a moment before the loss."""
        epoch = self._context.journal.epoch
        if not epoch:
            return False
        verdict = await self._store.claim(f"epoch:{new_id()}", until=self._ids.clock(), epoch=epoch)
        if isinstance(verdict, Granted):
            await self._store.release(verdict)
        return isinstance(verdict, EpochChanged)

    async def _release_if_doubtful(self, claim: Granted, seconds: float) -> bool:
        """Whether the effect may have run before a loss. If so, and where that is unknown, the next call may claim."""
        is_ours = False
        try:
            is_ours = not await self._is_doubtful(seconds)
        finally:
            if not is_ours:
                with anyio.CancelScope(shield=True), suppress(StoreUnavailable):
                    await self._store.release(claim)
        return not is_ours

    async def _is_doubtful(self, seconds: float) -> bool:
        """Whether this effect may have run in an epoch that was lost, and its caller was not told to find out."""
        lost_at, now = await self._ids.lost_at(), self._context.now
        if lost_at is None or now - lost_at >= seconds:
            return False
        return now - await self._note_reported() <= NOTICE_DELAY

    async def _note_reported(self) -> float:
        """When this caller was first told of the loss, which may be now."""
        now = self._ids.clock()
        name = f"told:{await self._ids.epoch()}:{self._context.effect_scope('')}"
        return float(await self._store.settle(name, repr(now).encode(), until=now + LOSS_KEPT))
