"""The visits of one call: consent is asked like any other question, and then the end is waited for.

`accept` is consent and never the end (R24): that comes through the store, from a page or from the application.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn, Protocol

from askback.answer import Accepted, Answer, Declined
from askback.carrier import Carrier, Pause, Put
from askback.errors import StillOpen, TimedOut, VisitFailed, VisitUnknown
from askback.journal.entries import Journal, Trip
from askback.question import Visit
from askback.visits import Ending, Failed, Kind, Settled, TurnedDown, Visiting, Visits, digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """Where the person is to go, and what for."""

    kind: Kind
    message: str
    link: Callable[[str], Awaitable[str]]
    """The URL for an id."""
    seconds: float | None = None
    """From the question to the end of the visit; None for as long as a person may think anyway."""
    waits: bool = True
    """Whether the body goes on only when the visit has ended."""
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])
    thing: str = ""
    """What it is to bring, where several calls may wait for the same."""
    meta: Mapping[str, Any] | None = None


class Grounds(Protocol):
    """What a visit needs to know of its call."""

    @property
    def visits(self) -> Visits: ...

    @property
    def carrier(self) -> Carrier: ...

    @property
    def owner(self) -> str:
        """The caller, as the vault and the pages know them; empty where nobody can tell."""
        ...

    @property
    def client_name(self) -> str: ...

    def clock(self) -> float: ...

    def visit_seconds(self, asked: float | None) -> float:
        """How long a visit may take, where its author asked for that, or for nothing in particular."""
        ...

    def scope(self, place: str) -> str | None:
        """The same for the same question in the same call of the same caller, made anew; None for callers unknown."""
        ...

    def tell_end_of(self, id: str) -> None:
        """Nobody waits for this visit; its client is told when it ends."""
        ...


class Talk(Protocol):
    """What a visit needs of its conversation."""

    async def ask(self, put: Put) -> Answer[Any]: ...

    def ask_anew(self, put: Put) -> None: ...

    async def wait_outside(self, waiting: Callable[[], Awaitable[Ending | Pause]]) -> Ending | Pause: ...

    async def pause(self) -> NoReturn: ...


class Trips:
    """Sends a person to one place after another."""

    def __init__(self, talk: Talk, grounds: Grounds, journal: Journal) -> None:
        self._talk, self._grounds, self._journal = talk, grounds, journal
        self._visits = grounds.visits
        self._seconds = 0.0

    async def go(self, place: str, going: Going, *, is_keyed: bool) -> Answer[Any]:
        """Their answer: what the visit gave, or their no."""
        self._seconds = self._grounds.visit_seconds(going.seconds)
        trip = self._journal.trips.get(place)
        if trip is None:
            self._grounds.carrier.require_visits()
            left = await self._take_up(place)
            if left is not None and (answer := await self._found(place, left, going)) is not None:
                return answer
            trip = await self._begin(place, going, left)
        visit = Visit(message=going.message, url=await going.link(trip.id), id=trip.id, meta=going.meta)
        return await self._send(trip, going, Put(place, is_keyed, visit, self._seconds))

    async def _begin(self, place: str, going: Going, left: Visiting | None) -> Trip:
        now = self._grounds.clock()
        trip = Trip(place, self._visits.new_id() if left is None else left.id, now)
        await self._visits.open(
            Visiting(
                id=trip.id,
                kind=going.kind,
                owner=self._grounds.owner,
                client=self._grounds.client_name,
                message=going.message,
                asked_at=now,
                until=now + self._seconds,
                about=going.about,
                thing=going.thing,
            )
        )
        self._journal.trips[place] = trip
        return trip

    async def _send(self, trip: Trip, going: Going, put: Put) -> Answer[Any]:
        if self._grounds.carrier.grace is not None:
            await self._leave(trip)
        while isinstance(answer := await self._talk.ask(put), Accepted):
            if not going.waits:
                self._grounds.tell_end_of(trip.id)
                return Accepted(trip.id)
            ending = await self._wait(trip)
            if ending is not None:
                return _answer(trip.place, ending)
            self._talk.ask_anew(put)
        with suppress(VisitUnknown):  # its time may be over
            await self._visits.end(digest_of(trip.id), TurnedDown())
        return answer

    async def _wait(self, trip: Trip) -> Ending | None:
        """How it ended; None if the person is to be asked once more."""
        seconds = max(trip.asked_at + self._seconds - self._grounds.clock(), 0.0)
        ended = partial(_ended, self._visits, trip.id)
        waited = await self._talk.wait_outside(
            partial(self._grounds.carrier.end_of, trip.id, ended, seconds=seconds)
        )
        if not isinstance(waited, Pause):
            return waited
        match waited:
            case Pause.ANEW:
                return None
            case Pause.LATER:
                return await self._talk.pause()
            case Pause.TIME_OVER:
                raise TimedOut(place=trip.place, seconds=self._seconds)
            case Pause.NO_MORE:
                await self._leave(trip)
                raise StillOpen(place=trip.place, seconds=self._seconds)

    # A visit that outlives its call.

    async def _leave(self, trip: Trip) -> None:
        scope = self._grounds.scope(trip.place)
        if scope is not None:
            await self._visits.leave(scope, trip.id, until=trip.asked_at + self._seconds)

    async def _take_up(self, place: str) -> Visiting | None:
        scope = self._grounds.scope(place)
        return None if scope is None else await self._visits.take_up(scope)

    async def _found(self, place: str, left: Visiting, going: Going) -> Answer[Any] | None:
        """What became of a visit that an earlier call has left, if something did."""
        grace = self._grounds.carrier.grace
        if grace is not None and not going.waits:
            return Accepted(left.id)  # that the client comes back is its word that the person agreed
        ending = await self._visits.ended(left.id, seconds=grace or 0.0)
        return None if ending is None else _answer(place, ending)


async def _ended(visits: Visits, id: str, seconds: float) -> Ending | None:
    return await visits.ended(id, seconds=seconds)


def _answer(place: str, ending: Ending) -> Answer[Any]:
    match ending:
        case Settled(result):
            return Accepted(result)
        case TurnedDown():
            return Declined()
        case Failed(reason):
            raise VisitFailed(place=place, reason=reason)
