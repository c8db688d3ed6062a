"""The effects of one call, in one pass of its body: each is run once, and nothing leaves while one is under way."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio

from askback.errors import EffectFailed, KeyTaken, NotRecordable, RoundForgotten, StoreUnavailable
from askback.model.events import describe_earlier_effect, describe_effect
from askback.model.journal import Effect
from askback.model.once import INTERRUPTED, adapter_for, is_interrupted, outcome_of, run_effect
from askback.runtime.current import EFFECT
from askback.runtime.effect_claims import EffectClaims

if TYPE_CHECKING:
    from askback.runtime.context import CallContext

T = TypeVar("T")

logger = logging.getLogger("askback")


class EffectTerms(NamedTuple):
    """What the author wants of an effect."""

    seconds: float | None = None
    """For how long later calls of the same caller get what it gave."""
    retry: bool = False
    """Whether it may be run again if it was cut short."""


class EffectRunner:
    """Runs the effects of one pass; their results are in the journal."""

    def __init__(self, context: "CallContext") -> None:
        self._journal, self._events, self._claims = context.journal, context.events, EffectClaims(context)
        self.keys: set[str] = set()
        self._running = 0
        self._all_done = anyio.Event()
        self._saving = anyio.Lock(fast_acquire=True)
        self._afterwards: Callable[[], None] | None = None

    async def once(
        self, key: str, function: Callable[..., Any], call: Callable[[], Any], terms: EffectTerms
    ) -> Any:
        """Run the effect now, or give what it gave before."""
        if key in self.keys:
            raise KeyTaken(key, kind="once")
        self.keys.add(key)
        adapter = adapter_for(function)
        cause: Exception | None = None
        effect = self._journal.effects.get(key)
        if effect is None or (terms.retry and self._claims.was_interrupted(key)):
            run = partial(run_effect, key, call, adapter)
            effect, cause = await self._undisturbed(key, self._first(key, run, terms))
        try:
            return outcome_of(effect, adapter, within=terms.seconds)
        except (EffectFailed, NotRecordable) as failed:
            raise failed from cause

    @property
    def are_running(self) -> bool:
        return self._running > 0

    def when_done(self, act: Callable[[], None] | None) -> None:
        """Put something off until none is under way; `None` takes it back."""
        self._afterwards = act

    async def wait_for_all(self) -> None:
        """Wait until none is under way: cut short, it would be neither done nor undone."""
        while self._running:
            await self._all_done.wait()

    async def _first(
        self, key: str, run: Callable[[], Awaitable[tuple[Effect, Exception | None]]], terms: EffectTerms
    ) -> tuple[Effect, Exception | None]:
        effects, (seconds, retry) = self._journal.effects, terms
        if self._events is not None:
            await self._events.flush()  # what was agreed to is on record before it is done
        known = await self._claims.claim(key, seconds=seconds, retry=retry) if seconds is not None else None
        if known is not None:
            effects[key] = known
            if self._events is not None:
                self._events.emit(describe_earlier_effect(known))
            return known, None
        cause: Exception | None = None
        is_begun = False
        was_cut_short = key in effects
        effects[key] = INTERRUPTED._replace(key=key)  # so it stays if the effect never comes back
        try:
            await self._save_progress()
            is_begun = True
            effects[key], cause = await run()
        finally:
            if not is_begun:
                del effects[key]
            # Also when we are being cancelled: the next to come must learn how far this got.
            with anyio.CancelScope(shield=True):
                effect = effects.get(key)
                if self._events is not None and effect is not None:
                    self._events.emit(describe_effect(effect, again=was_cut_short))
                is_open = retry and effect is not None and is_interrupted(effect)
                await self._claims.settle(key, None if is_open else effect)
                await self._save_result()
        return effects[key], cause

    async def _save_result(self) -> None:
        """Save what the effect gave. If that fails it stays marked as interrupted, which is safe.

        Raises `RoundRefused` where another runs this round now: its end is the one that counts.
        """
        try:
            await self._save_progress()
        except (StoreUnavailable, RoundForgotten):
            logger.exception(
                "the result of an effect could not be saved; a worker that takes over finds it interrupted"
            )

    async def _save_progress(self) -> None:
        """Effects side by side save one after the other: a late write would undo the one before."""
        async with self._saving:
            await self._claims.save_progress(self._journal.effects)

    async def _undisturbed(self, key: str, effect: Awaitable[T]) -> T:
        self._running += 1
        token = EFFECT.set(key)
        try:
            return await effect
        finally:
            EFFECT.reset(token)
            self._running -= 1
            if not self._running:
                self._all_done.set()
                self._all_done = anyio.Event()
                act, self._afterwards = self._afterwards, None
                if act is not None:
                    act()
