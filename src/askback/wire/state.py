"""What our state holds when a round ends."""

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from askback.journal.codec import encode
from askback.journal.entries import Journal
from askback.wire.replies import can_travel

STATE = "requestState"
"""Where it travels: in a result that asks, and in the call that comes back."""

MOST_EARLY = 16_384
"""Bytes of a reply that is kept before it is read; larger ones are asked for again."""


async def exchange_state(holder: dict[str, Any], exchange: Callable[[str], Awaitable[str]]) -> None:
    """Put something else in place of the state, in the parameters that bring it or the result that takes it out."""
    holder[STATE] = await exchange(holder[STATE])


def state_after(journal: Journal, asked: Collection[str]) -> str:
    """The state that the next round brings back: the questions `asked` are out, no others of ours."""
    journal.round += 1
    if journal.arrived:
        # What cannot would not have fitted; its question is put again when the body gets there.
        for place, early in list(journal.arrived.items()):
            if not can_travel(early, most_bytes=MOST_EARLY):
                del journal.arrived[place]
    for place in list(journal.opened):
        if place not in asked and place not in journal.arrived:
            del journal.opened[place]
    return encode(journal)
