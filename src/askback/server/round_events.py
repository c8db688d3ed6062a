"""What a request comes to, as the record has it: a round that is redeemed, one that is refused, replies nobody read."""

from collections.abc import Iterable

from mcp.shared.exceptions import MCPError

from askback.errors import RoundForgotten, RoundRefused
from askback.model.events import (
    NOT_READ,
    CallEvent,
    EventRecorder,
    describe_arrival,
    describe_effect,
    describe_reply,
)
from askback.model.journal import Effect, Journal, LateReply, Reply
from askback.protocol.replies import REFUSED_RESPONSES
from askback.protocol.server.question_events import describe_foreign_replies
from askback.protocol.server.raised_visits import DEMANDED
from askback.protocol.server.rounds import ResumedRound

NOT_ASKED = "replies to what nobody asked"
USED, FORGOTTEN, MALFORMED = "used before", "from before the store lost its memory", "replies that are none"


def emit_all(witness: EventRecorder | None, happenings: Iterable[CallEvent]) -> None:
    """All of these; nothing is worked out where nobody listens."""
    if witness is not None:
        for happening in happenings:
            witness.emit(happening)


def describe_round(resumed: ResumedRound, begun: Iterable[Effect]) -> Iterable[CallEvent]:
    """A later round is ours to run. What is `begun` already was so by one that did not come back, nor told of it."""
    yield CallEvent(event="spent", reason=f"round {resumed.journal.round}")
    if resumed.unasked:
        yield CallEvent(event="refused", reason=NOT_ASKED)
    yield from describe_foreign_replies(resumed.given)
    yield from map(describe_effect, begun)


def describe_unread_replies(journal: Journal) -> Iterable[CallEvent]:
    """Replies that came and that the body did not ask for this time, nor will any more."""
    for place, arrival in journal.arrived.items():
        opened = journal.opened.get(place)
        if opened is None:
            continue
        if isinstance(arrival, LateReply):
            yield from describe_arrival(opened, arrival, None)
        elif isinstance(arrival, Reply):
            reason = None if opened.digest == DEMANDED else NOT_READ
            yield from describe_reply(
                place, arrival, question=opened.id or None, asked_at=opened.asked_at, reason=reason
            )


def refusal_in(error: MCPError) -> str | None:
    """Why a round was not run, where it was refused; a state that is none is told of at the boundary."""
    if isinstance(error, RoundRefused):
        return FORGOTTEN if isinstance(error, RoundForgotten) else USED
    return MALFORMED if error.message == REFUSED_RESPONSES else None
