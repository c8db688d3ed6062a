"""The visits of one call: consent is asked like any other question, and then the end is waited for.

`accept` is consent and never the end (R24): that comes through the store, from a page or from the application.
"""

from collections.abc import Awaitable, Callable, Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn, Protocol

import anyio

from askback.answer import Accepted, Answer, Declined
from askback.carrier import Carrier, Pause, Put
from askback.errors import StillOpen, TimedOut, VisitFailed, VisitUnknown
from askback.journal.entries import Journal, Trip
from askback.question import Visit
from askback.visits import Ending, Failed, Kind, Settled, TurnedDown, Visiting, Visits, digest_of

ABANDONED = Failed("nobody waits for this visit any more")

LAST_WORDS = 1.0
"""Seconds for writing down what a call leaves that is being cancelled; a store that hangs must not hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """Where the person is to go, and what for."""

    kind: Kind
    message: str
    link: Callable[[str], Awaitable[str]]
    """The URL for an id."""
    seconds: float | None = None
    """From the question to the end of the visit; None for as long as any visit may take."""
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
    def server_name(self) -> str: ...

    @property
    def client_name(self) -> str: ...

    def clock(self) -> float: ...

    def visit_seconds(self, asked: float | None) -> float:
        """How long a visit may take, where its author asked for that, or for nothing in particular."""
        ...

    def scope(self, place: str) -> str | None:
        """The same for the same question in the same call of the same caller, made anew; None for callers unknown."""
        ...

    def tell_end_of(self, id: str, *, until: float) -> None:
        """Nobody waits for this visit; its client is told when it ends, if it does so by then."""
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
            found = await self._left(place, going)
            if found is not None and not isinstance(found, Visiting):
                return found
            trip = await self._begin(place, going, found)
        visit = Visit(message=going.message, url=await going.link(trip.id), id=trip.id, meta=going.meta)
        return await self._send(trip, going, Put(place, is_keyed, visit, self._seconds))

    async def _begin(self, place: str, going: Going, left: Visiting | None) -> Trip:
        now = self._grounds.clock()
        trip = Trip(place, self._visits.new_id() if left is None else left.id, now)
        await self._visits.open(
            Visiting(
                id=trip.id,
                kind=going.kind,
                server=self._grounds.server_name,
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
        while isinstance(answer := await self._talk.ask(put), Accepted):
            if not going.waits:
                self._grounds.tell_end_of(trip.id, until=trip.asked_at + self._seconds)
                return Accepted(trip.id)
            ending = await self._wait(trip)
            if ending is not None:
                return _answer(trip.place, ending)
            self._talk.ask_anew(put)
        stands = await self._turn_down(trip)
        if going.waits and isinstance(stands, Settled):
            # Done there before they were asked once more: a no does not undo it.
            return Accepted(stands.result)
        return answer

    async def _turn_down(self, trip: Trip) -> Ending | None:
        with suppress(VisitUnknown):  # its time may be over
            return await self._visits.end(digest_of(trip.id), TurnedDown())
        return None

    async def _wait(self, trip: Trip) -> Ending | None:
        """How it ended; None if the person is to be asked once more."""
        match await self._end_of(trip):
            case Pause.ANEW:
                return None
            case Pause.LATER:
                return await self._talk.pause()
            case Pause.TIME_OVER:
                raise TimedOut(place=trip.place, seconds=self._seconds, has_agreed=True)
            case Pause.NO_MORE:
                return await self._give_up(trip)
            case ending:
                return ending

    async def _give_up(self, trip: Trip) -> Ending:
        """Raise `StillOpen`. Where no later call could find it, it is over: whoever settles it then learns so."""
        lasts, stands = await _leave(self._grounds, trip), None
        if not lasts:
            with suppress(VisitUnknown):
                stands = await self._visits.end(digest_of(trip.id), ABANDONED)
        if stands is not None and stands != ABANDONED:
            return stands  # it has ended this very moment
        raise StillOpen(place=trip.place, seconds=self._seconds, lasts=lasts)

    async def _end_of(self, trip: Trip) -> Ending | Pause:
        carrier = self._grounds.carrier
        seconds = max(trip.asked_at + self._seconds - self._grounds.clock(), 0.0)
        ended = partial(_ended, self._visits, trip.id)
        try:
            return await self._talk.wait_outside(partial(carrier.end_of, trip.id, ended, seconds=seconds))
        except anyio.get_cancelled_exc_class():
            if not carrier.comes_back:
                with anyio.move_on_after(LAST_WORDS, shield=True):
                    await _leave(self._grounds, trip)
            raise

    # A visit that outlives its call.

    async def _left(self, place: str, going: Going) -> Visiting | Answer[Any] | None:
        """The visit that an earlier call has left, to be put once more; or what became of it, if something did."""
        carrier, scope = self._grounds.carrier, self._grounds.scope(place)
        if scope is None or not (going.waits or carrier.grace is not None):
            return None
        left = await self._visits.left(scope)
        if left is None:
            return None
        if not going.waits:  # that the client comes back is its word that the person agreed
            return Accepted(left.id) if await self._take_up(scope, place, left) else None
        ending = await self._end_of_left(left)
        if ending is None:
            return left if carrier.grace is not None or await self._visits.take_up(scope) else None
        return _answer(place, ending) if await self._take_up(scope, place, left) else None

    async def _end_of_left(self, left: Visiting) -> Ending | None:
        async def wait() -> Ending | Pause:
            ended = await self._visits.ended(left.id, seconds=self._grounds.carrier.grace or 0.0)
            return Pause.ANEW if ended is None else ended

        waited = await self._talk.wait_outside(wait)
        return None if isinstance(waited, Pause) else waited

    async def _take_up(self, scope: str, place: str, left: Visiting) -> bool:
        """Where a call may have to leave what it took, it is noted."""
        is_ours = await self._visits.take_up(scope)
        if is_ours and self._grounds.carrier.grace is not None:
            self._journal.trips[place] = Trip(place, left.id, left.asked_at)
        return is_ours


async def leave_trips(grounds: Grounds, journal: Journal, *, out: Container[str]) -> None:
    """All visits of a call that ends here are for the call after it; its client hears of the ends of those at `out`."""
    for trip in journal.trips.values():
        await _leave(grounds, trip)
        visiting = await grounds.visits.find(trip.id) if trip.place in out else None
        if visiting is not None:
            grounds.tell_end_of(trip.id, until=visiting.until)


async def _leave(grounds: Grounds, trip: Trip) -> bool:
    """Whether a later call can find it: only one of the same caller can, and somebody must tell who that is."""
    scope = grounds.scope(trip.place)
    if scope is None:
        return False
    await grounds.visits.leave(scope, trip.id)
    return True


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
