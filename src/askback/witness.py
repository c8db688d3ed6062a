"""What happens in a call, told to whoever keeps a record of it: one value for each event. Knows no ledger, no wire."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol

from askback.journal.entries import Action, Answered, Arrival, Effect, Late, Opened, Reply, Said
from askback.journal.once import is_interrupted
from askback.ledger.entries import Event
from askback.visits import Ending, Failed, Kind, Settled, TurnedDown, Visiting

DOES_NOT_FIT = "does not fit"
INTERRUPTED, RETRIED, EARLIER = "interrupted", "retried", "by an earlier call"
TIME_OVER, STILL_OPEN, NOT_DONE = "nobody answered in time", "the client does not wait", "not done in time"
TURNED_DOWN = "turned down"
NOT_READ = "not read by the body"
RAN: Final = "ran"
RAISED: Final = "raised"
DID_NOT_RUN: Final = "did not run"
"""How what was guarded came back; the last, where another guard stood in its way."""


class Content(NamedTuple):
    """What was answered. In a tuple of its own: nothing was, or `None` was."""

    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One event of a call; what all its events have in common is known to whoever records them."""

    event: Event
    place: str | None = None
    channel: str | None = None
    question: str | None = None
    """Its id: another one each time it is put."""
    message: str | None = None
    asks: Mapping[str, Any] | None = None
    action: Action | None = None
    content: Content | None = None
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


class Witness(Protocol):
    """Who is told what happens in one call."""

    def tell(self, happening: Happening) -> None:
        """At once; nothing is waited for."""
        ...

    async def heed(self) -> None:
        """Before the body goes on with an answer. Where a round is written as one, it is not written yet."""
        ...

    async def write(self) -> None:
        """Returns when all that was told is on record; raises `StoreUnavailable` where it cannot be put there."""
        ...


class Gatekeeper(Protocol):
    """Who is told what happens on pages of ours, which no call may be waiting for."""

    async def shown(self, visiting: Visiting) -> None:
        """The page was opened by the one it is for."""
        ...

    async def turned_away(self, visiting: Visiting, *, owner: str) -> None:
        """Somebody else was at its door."""
        ...


def taken(opened: Opened, arrival: Arrival, closed: Answered | None) -> list[Happening]:
    """A reply was read: it closed its question, or did not fit."""
    place, question = opened.place, opened.id or None
    if isinstance(arrival, Late):
        return [
            Happening(
                event="expired", place=place, question=question, reason=TIME_OVER, since=opened.asked_at
            )
        ]
    if closed is None or closed.outcome == "unfit":
        content = Content(arrival.content) if isinstance(arrival, Reply) else None
        return [
            Happening(
                event="refused",
                place=place,
                question=question,
                content=content,
                reason=DOES_NOT_FIT,
                since=opened.asked_at,
            )
        ]
    assert isinstance(arrival, Reply)
    return replied(
        place, arrival._replace(content=closed.content), question=question, asked_at=opened.asked_at
    )


def replied(
    place: str,
    reply: Reply,
    *,
    question: str | None = None,
    asked_at: float = 0.0,
    reason: str | None = None,
) -> list[Happening]:
    """A person's three actions, as the client tells it; and that they saw the question, where it says so.

    When that was is its word too, within what we know: after it was asked, and before now. Where nobody knows when that
    was, its time is not taken.
    """
    said = reply.said or _NOTHING
    answered = Happening(
        event="answered",
        place=place,
        question=question,
        channel=said.channel,
        action=reply.action,
        content=None if reply.content is None else Content(reply.content),
        word=word_of(reply),
        rule=said.rule,
        reason=reason,
        since=asked_at or None,
    )
    if said.shown is None:
        return [answered]
    shown = Happening(
        event="shown",
        place=place,
        question=question,
        channel=said.channel,
        word="client",
        at=max(said.shown, asked_at) if asked_at else None,
    )
    return [shown, answered]


_NOTHING = Said()


def word_of(reply: Reply) -> str:
    """On whose an answer stands that came through a client."""
    return "policy" if (reply.said or _NOTHING).channel == "policy" else "client"


def ended(place: str, kind: Kind, ending: Ending) -> Happening:
    """A visit has ended: well, or why not."""
    word = "server" if kind == "elsewhere" else "page"
    match ending:
        case Settled(result):
            content = None if result is None else Content(result)
            return Happening(event="settled", place=place, word=word, content=content)
        case Failed(reason):
            return Happening(event="settled", place=place, word=word, reason=reason)
        case TurnedDown():
            return Happening(event="settled", place=place, word=word, reason=TURNED_DOWN)


def ran_out(place: str, reason: str) -> Happening:
    """The person agreed to go, and nothing came of it."""
    return Happening(event="expired", place=place, reason=reason)


def done(effect: Effect, *, again: bool = False) -> Happening:
    """An effect was run; or begun, and nobody knows how it ended."""
    reason = INTERRUPTED if is_interrupted(effect) else RETRIED if again else None
    return Happening(event="spent", place=effect.key, reason=reason)


def found_done(effect: Effect) -> Happening:
    """Another call ran it, which may have been killed before it could say so."""
    return Happening(
        event="spent", place=effect.key, reason=INTERRUPTED if is_interrupted(effect) else EARLIER
    )


def decided(
    place: str,
    *,
    message: str,
    facts: Mapping[str, Any],
    word: str | None,
    action: Action | None = None,
    rule: str | None = None,
    reason: str | None = None,
) -> Happening:
    """A guard knows whether it may run: by which rule, or why not. To be on record before anything runs."""
    return Happening(
        event="guarded",
        place=place,
        message=message,
        facts=facts,
        action=action,
        word=word,
        rule=rule,
        reason=reason,
    )


def came_back(place: str, ending: Literal["ran", "raised", "did not run"]) -> Happening:
    """What was guarded is over; nothing is told where it waits for an answer."""
    return Happening(event="guarded", place=place, reason=ending)
