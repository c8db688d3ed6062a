"""What our state holds when a round ends."""

from collections.abc import Awaitable, Callable, Collection
from contextvars import ContextVar
from typing import Any

from askback.model.durations import CLOCK_SKEW
from askback.model.journal import Journal
from askback.model.journal_codec import encode
from askback.protocol.replies import can_travel

STATE = "requestState"
"""Where it travels: in a result that asks, and in the call that comes back."""

SEALED_UNTIL: ContextVar[float] = ContextVar("askback_sealed_until", default=0.0)
"""When the seal of the state expires that this request brought, by the clock of the worker that sealed it. Zero where a
boundary does not tell."""

MAX_EARLY_REPLY = 16_384
"""Bytes of a reply that is kept before it is read; larger ones are asked for again."""


def redeemable_until(now: float, life: float) -> float:
    """When no worker takes the state of this request any more, nor a copy of it; until then it is known as used.

    Another worker may give its states a longer life, and tells it in the seal. Twice the skew is added: the clock of
    whoever made the seal may be ahead of ours, and that of whoever forgets expired rows ahead of the one that opens it.
    """
    return max(SEALED_UNTIL.get(), now + life) + 2 * CLOCK_SKEW


async def replace_state(holder: dict[str, Any], exchange: Callable[[str], Awaitable[str]]) -> None:
    """Put something else in place of the state, in the parameters that bring it or the result that takes it out."""
    holder[STATE] = await exchange(holder[STATE])


def state_after(journal: Journal, asked: Collection[str]) -> str:
    """The state that the next round brings back: the questions `asked` are out, no others of ours."""
    journal.round += 1
    if journal.arrived:
        # What cannot would not have fitted; its question is put again when the body gets there.
        for place, early in list(journal.arrived.items()):
            if not can_travel(early, most_bytes=MAX_EARLY_REPLY):
                del journal.arrived[place]
    for place in list(journal.opened):
        if place not in asked and place not in journal.arrived:
            del journal.opened[place]
    return encode(journal)
