"""What happens in a call, as values for the record: one event each. Knows neither the ledger nor the wire."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from askback.model.journal import (
    Action,
    Arrival,
    ClosedQuestion,
    Effect,
    LateReply,
    OpenedQuestion,
    Reply,
    ReplyOrigin,
)
from askback.model.once import is_interrupted
from askback.model.visit import Ending, VisitAborted, VisitDeclined, VisitKind, VisitSettled

Event = Literal["asked", "shown", "answered", "refused", "expired", "settled", "spent", "guarded"]

DOES_NOT_FIT = "does not fit"
INTERRUPTED, RETRIED, EARLIER = "interrupted", "retried", "by an earlier call"
TIME_OVER, STILL_OPEN, NOT_DONE = "nobody answered in time", "the client does not wait", "not done in time"
TURNED_DOWN = "turned down"
NOT_READ = "not read by the body"
RAN: Final = "ran"
RAISED: Final = "raised"
DID_NOT_RUN: Final = "did not run"
"""How what was guarded came back; the last, where another guard stood in its way."""


class EventContent(NamedTuple):
    """What was answered. In a tuple of its own: nothing was, or `None` was."""

    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEvent:
    """One event of a call; what all its events have in common is in `CallFacts`."""

    event: Event
    place: str | None = None
    channel: str | None = None
    question: str | None = None
    """Its id: another one each time it is put."""
    message: str | None = None
    asks: Mapping[str, Any] | None = None
    action: Action | None = None
    content: EventContent | None = None
    """For a digest; the ledger keeps it only where its operator allows it."""
    word: str | None = None
    rule: str | None = None
    reason: str | None = None
    facts: Mapping[str, Any] | None = None
    """What a guard knew when it asked, in JSON."""
    at: float | None = None
    """When, where that is before now."""
    since: float | None = None
    """Where a question is over: when it was put."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """What all events of one call have in common; None for what is not known."""

    server: str
    call: str = ""
    """The conversation's id; empty until it has one."""
    kind: str | None = None
    target: str | None = None
    arguments: str | None = None
    """A digest."""
    caller: str | None = None
    client: str | None = None
    revision: str | None = None


def describe_arrival(
    opened: OpenedQuestion, arrival: Arrival, closed: ClosedQuestion | None
) -> list[CallEvent]:
    """A reply was read: it closed its question, or did not fit."""
    place, question = opened.place, opened.id or None
    if isinstance(arrival, LateReply):
        return [
            CallEvent(
                event="expired", place=place, question=question, reason=TIME_OVER, since=opened.asked_at
            )
        ]
    if closed is None or closed.outcome == "unfit":
        content = EventContent(arrival.content) if isinstance(arrival, Reply) else None
        return [
            CallEvent(
                event="refused",
                place=place,
                question=question,
                content=content,
                reason=DOES_NOT_FIT,
                since=opened.asked_at,
            )
        ]
    assert isinstance(arrival, Reply)
    return describe_reply(
        place, arrival._replace(content=closed.content), question=question, asked_at=opened.asked_at
    )


def describe_reply(
    place: str,
    reply: Reply,
    *,
    question: str | None = None,
    asked_at: float = 0.0,
    reason: str | None = None,
) -> list[CallEvent]:
    """A person's three actions, as the client tells it; and that they saw the question, where it says so.

    When that was is its word too, within what we know: after it was asked, and before now. Where nobody knows when that
    was, its time is not taken.
    """
    said = reply.said or _NOTHING
    answered = CallEvent(
        event="answered",
        place=place,
        question=question,
        channel=said.channel,
        action=reply.action,
        content=None if reply.content is None else EventContent(reply.content),
        word=reply.word,
        rule=said.rule,
        reason=reason,
        since=asked_at or None,
    )
    if said.shown is None:
        return [answered]
    shown = CallEvent(
        event="shown",
        place=place,
        question=question,
        channel=said.channel,
        word="client",
        at=max(said.shown, asked_at) if asked_at else None,
    )
    return [shown, answered]


_NOTHING = ReplyOrigin()


def describe_visit_end(place: str, kind: VisitKind, ending: Ending) -> CallEvent:
    """A visit has ended: well, or why not."""
    word = "server" if kind == "elsewhere" else "page"
    match ending:
        case VisitSettled(result):
            content = None if result is None else EventContent(result)
            return CallEvent(event="settled", place=place, word=word, content=content)
        case VisitAborted(reason):
            return CallEvent(event="settled", place=place, word=word, reason=reason)
        case VisitDeclined():
            return CallEvent(event="settled", place=place, word=word, reason=TURNED_DOWN)


def describe_visit_expiry(place: str, reason: str) -> CallEvent:
    """The person agreed to go, and nothing came of it."""
    return CallEvent(event="expired", place=place, reason=reason)


def describe_effect(effect: Effect, *, again: bool = False) -> CallEvent:
    """An effect was run; or begun, and its end is unknown."""
    reason = INTERRUPTED if is_interrupted(effect) else RETRIED if again else None
    return CallEvent(event="spent", place=effect.key, reason=reason)


def describe_earlier_effect(effect: Effect) -> CallEvent:
    """Another call ran it, which may have been killed before it could say so."""
    return CallEvent(
        event="spent", place=effect.key, reason=INTERRUPTED if is_interrupted(effect) else EARLIER
    )


def describe_guard_decision(
    place: str,
    *,
    message: str,
    facts: Mapping[str, Any],
    word: str | None,
    action: Action | None = None,
    rule: str | None = None,
    reason: str | None = None,
) -> CallEvent:
    """A guard knows whether it may run: by which rule, or why not. To be on record before anything runs."""
    return CallEvent(
        event="guarded",
        place=place,
        message=message,
        facts=facts,
        action=action,
        word=word,
        rule=rule,
        reason=reason,
    )


def describe_guard_outcome(place: str, ending: Literal["ran", "raised", "did not run"]) -> CallEvent:
    """What was guarded is over; nothing is told where it waits for an answer."""
    return CallEvent(event="guarded", place=place, reason=ending)
