"""What our state holds when a round ends."""

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from askback.journal.codec import encode
from askback.journal.entries import Journal
from askback.wire.replies import can_travel

MOST_EARLY = 16_384
"""Bytes of a reply that is kept before it is read; larger ones are asked for again."""


async def exchange_state(holder: dict[str, Any], exchange: Callable[[str], Awaitable[str]]) -> None:
    """Put something else in place of the state, in the parameters that bring it or the result that takes it out."""
    holder["requestState"] = await exchange(holder["requestState"])


def state_after(journal: Journal, asked: Collection[str]) -> str:
    """The state that the next round brings back: the questions `asked` are out, no others of ours."""
    journal.round += 1
    for place in [
        place for place, early in journal.arrived.items() if not can_travel(early, most_bytes=MOST_EARLY)
    ]:
        # It would not have fitted; its question is put again when the body gets there.
        del journal.arrived[place]
    for place in journal.opened.keys() - asked - journal.arrived.keys():
        del journal.opened[place]
    return encode(journal)
