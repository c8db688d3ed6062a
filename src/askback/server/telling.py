"""What a request comes to, as the record has it: a round that is redeemed, one that is refused, replies nobody read."""

from collections.abc import Iterable

from mcp.shared.exceptions import MCPError

from askback.errors import RoundForgotten, RoundRefused
from askback.journal.entries import Effect, Journal, Late, Reply
from askback.wire.notices import DEMANDED
from askback.wire.replies import REFUSED_RESPONSES
from askback.wire.rounds import Resumed
from askback.wire.witnessed import replies_in
from askback.witness import NOT_READ, Happening, Witness, done, replied, taken

NOT_ASKED = "replies to what nobody asked"
USED, FORGOTTEN, MALFORMED = "used before", "from before the store lost its memory", "replies that are none"


def tell(witness: Witness | None, happenings: Iterable[Happening]) -> None:
    """All of these; nothing is worked out where nobody listens."""
    if witness is not None:
        for happening in happenings:
            witness.tell(happening)


def redeemed(resumed: Resumed, begun: Iterable[Effect]) -> Iterable[Happening]:
    """A later round is ours to run. What is `begun` already was so by one that did not come back, nor told of it."""
    yield Happening(event="spent", reason=f"round {resumed.journal.round}")
    if resumed.unasked:
        yield Happening(event="refused", reason=NOT_ASKED)
    yield from replies_in(resumed.given)
    yield from map(done, begun)


def unread(journal: Journal) -> Iterable[Happening]:
    """Replies that came and that the body did not ask for this time, nor will any more."""
    for place, arrival in journal.arrived.items():
        opened = journal.opened.get(place)
        if opened is None:
            continue
        if isinstance(arrival, Late):
            yield from taken(opened, arrival, None)
        elif isinstance(arrival, Reply):
            reason = None if opened.digest == DEMANDED else NOT_READ
            yield from replied(
                place, arrival, question=opened.id or None, asked_at=opened.asked_at, reason=reason
            )


def refusal_in(error: MCPError) -> str | None:
    """Why a round was not run, where it was refused; a state that is none is told of at the boundary."""
    if isinstance(error, RoundRefused):
        return FORGOTTEN if isinstance(error, RoundForgotten) else USED
    return MALFORMED if error.message == REFUSED_RESPONSES else None
