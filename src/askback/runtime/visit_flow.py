"""The visits of one call: consent is asked like any other question, and then the end is waited for.

`accept` is consent and never the end (R24): that comes through the store, from a page or from the application.
"""

from collections.abc import Awaitable, Callable, Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from pydantic_core import to_json

from askback.answers import Accepted, Answer, Declined
from askback.errors import StillOpen, StoreUnavailable, TimedOut, VisitFailed, VisitUnknown
from askback.model.events import (
    NOT_DONE,
    STILL_OPEN,
    CallEvent,
    describe_reply,
    describe_visit_end,
    describe_visit_expiry,
)
from askback.model.journal import Reply, StartedVisit
from askback.model.question import Visit
from askback.model.visit import (
    REMEMBERED,
    Ending,
    ParkedVisit,
    StoredVisit,
    VisitAborted,
    VisitDeclined,
    VisitKind,
    VisitSettled,
)
from askback.runtime.carrier import Pause, PlacedQuestion
from askback.runtime.visits import digest_of

if TYPE_CHECKING:
    from askback.runtime.context import CallContext
    from askback.runtime.conversation import Conversation

ABANDONED = VisitAborted("nobody waits for this visit any more")
DROPPED = VisitAborted(
    "this server no longer knows the link: it made room for newer ones, or the store lost its memory. Call again for a "
    "new link"
)

RECHECK_SECONDS = 60.0
"""Seconds after which somebody who waits looks whether the visit is still known."""

LAST_WORDS = 1.0
"""Seconds for writing down what a call leaves that is being cancelled; a store that hangs must not hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitPlan:
    """Where the person is to go, and what for."""

    kind: VisitKind
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
    template: str = ""
    """The link without its id, where that is not ours."""

    def what(self, context: "CallContext") -> str:
        """A digest of what is visited: the end of one visit is never taken for that of another."""
        goal = [self.thing] if self.thing else [self.message, self.template]
        return digest_of(to_json([self.kind, context.server.name, context.caller.owner, *goal]).decode())


class VisitFlow:
    """Sends a person to one place after another."""

    def __init__(self, conversation: "Conversation", context: "CallContext") -> None:
        self._conversation, self._context, self._journal = conversation, context, context.journal
        self._visits = context.server.visits
        self._seconds = 0.0

    async def go(self, place: str, going: VisitPlan, *, is_keyed: bool) -> Answer[Any]:
        """Their answer: what the visit gave, or their no."""
        self._seconds = self._context.server.policy.visit_seconds(going.seconds)
        try:
            answer = None
            while answer is None:
                answer = await self._go(place, going, is_keyed=is_keyed)
            return answer
        except anyio.get_cancelled_exc_class():
            await self._leave_cancelled(place)
            raise

    async def _go(self, place: str, going: VisitPlan, *, is_keyed: bool) -> Answer[Any] | None:
        """None where another call was served with what this visit has brought, so that there must be another."""
        what = going.what(self._context)
        trip = self._journal.visits.get(place)
        if trip is None or trip.what != what:
            self._context.carrier.require_visits()
            found = await self._left(place, what, going)
        else:
            found = await self._noted(trip, going)
        if found is not None and not isinstance(found, StartedVisit):
            return found
        trip = found or await self._begin(StartedVisit(place, self._visits.new_id(), 0.0, what), going)
        url = await going.link(trip.id)
        visit = Visit(message=going.message, url=url, id=trip.id, meta=going.meta, template=going.template)
        return await self._send(trip, going, PlacedQuestion(place, is_keyed, visit, self._seconds))

    async def _begin(self, trip: StartedVisit, going: VisitPlan) -> StartedVisit:
        """From now on, for as long as such a visit may take; also for one that was left and begins once more."""
        now = self._context.clock()
        trip = trip._replace(asked_at=now, until=now + self._seconds, holder=self._visits.new_id())
        self._journal.visits[trip.place] = trip
        await self._visits.open(
            StoredVisit(
                id=trip.id,
                kind=going.kind,
                server=self._context.server.name,
                owner=self._context.caller.owner,
                client=self._context.request.client,
                message=going.message,
                asked_at=now,
                until=trip.until,
                about=going.about,
                thing=going.thing,
                remembered=_remembered(self._context, trip),
                call=await self._context.call_id(),
                place=trip.place,
            ),
            holder=self._context.caller.holder,
        )
        return trip

    async def _send(self, trip: StartedVisit, going: VisitPlan, put: PlacedQuestion) -> Answer[Any] | None:
        while isinstance(answer := await self._conversation.ask_placed(put), Accepted):
            if not going.waits:
                self._close(trip)
                self._context.notify_when_ended(trip.id, trip.until)
                return Accepted(trip.id)
            ending = await self._wait(trip)
            if ending is not None:
                return await self._take(trip, going, ending)
            self._conversation.reopen(put)
        stands = await self._turn_down(trip)
        if going.waits and isinstance(stands, VisitSettled) and await self._consume(trip, going, stands):
            # Done there before they were asked once more: a no does not undo it.
            return Accepted(stands.result)
        await self._drop(trip)
        return answer

    async def _turn_down(self, trip: StartedVisit) -> Ending | None:
        with suppress(VisitUnknown):  # its time may be over
            return await self._visits.end(digest_of(trip.id), VisitDeclined())
        return None

    async def _wait(self, trip: StartedVisit) -> Ending | None:
        """How it ended; None if the person is to be asked once more."""
        match await self._end_of(trip):
            case Pause.ASK_AGAIN:
                return None
            case Pause.END_ROUND:
                return await self._conversation.pause()
            case Pause.TIME_OVER:
                self._tell(describe_visit_expiry(trip.place, NOT_DONE))
                raise TimedOut(place=trip.place, seconds=self._seconds, has_agreed=True)
            case Pause.GIVE_UP:
                return await self._give_up(trip)
            case ending:
                return ending

    async def _give_up(self, trip: StartedVisit) -> Ending:
        """Raise `StillOpen`. Where no later call could find it, it is over: whoever settles it then learns so."""
        lasts, stands = await _leave(self._context, trip, free_at=self._context.clock()), None
        if not lasts:
            with suppress(VisitUnknown):
                stands = await self._visits.end(digest_of(trip.id), ABANDONED)
        if stands is not None and stands != ABANDONED:
            return stands  # it has ended this very moment
        self._tell(describe_visit_expiry(trip.place, STILL_OPEN))
        raise StillOpen(place=trip.place, seconds=self._seconds, lasts=lasts)

    async def _end_of(self, trip: StartedVisit) -> Ending | Pause:
        seconds = max(trip.until - self._context.clock(), 0.0)
        end_of = partial(self._context.carrier.end_of, trip.id, partial(self._ended, trip), seconds=seconds)
        return await self._conversation.wait_outside(end_of)

    async def _ended(self, trip: StartedVisit, seconds: float) -> Ending | None:
        """How it ended, as soon as it has; `DROPPED` where it is known no longer, and None after that time."""
        while True:
            part = min(seconds, RECHECK_SECONDS)
            if part > 0 and not trip.is_over and await self._is_dropped(trip):
                return await self._visits.ended(trip.id) or DROPPED
            ending = await self._visits.ended(trip.id, seconds=part)
            seconds -= part
            if ending is not None or seconds <= 0:
                return ending

    async def _is_dropped(self, trip: StartedVisit) -> bool:
        return not await self._visits.is_open(trip.id) and self._context.clock() < trip.until

    # What a visit has brought serves one call.

    async def _take(self, trip: StartedVisit, going: VisitPlan, ending: Ending) -> Answer[Any] | None:
        if await self._consume(trip, going, ending):
            return _answer(trip.place, ending)
        self._journal.visits.pop(trip.place, None)
        self._journal.answered.pop(trip.place, None)
        return None

    async def _consume(self, trip: StartedVisit, going: VisitPlan, ending: Ending) -> bool:
        """Whether this end is for us. Bad news is for all who wait; what comes by a page of ours is in the vault."""
        is_one_for_one = isinstance(ending, VisitSettled) and not going.thing and not trip.is_over
        if is_one_for_one and not await self._visits.consume(
            trip.id, trip.holder, remembered=_remembered(self._context, trip)
        ):
            return False
        if not trip.is_over:
            self._tell(describe_visit_end(trip.place, going.kind, ending))
            await self._drop(trip)
            await self._heed()
        return True

    def _tell(self, happening: CallEvent) -> None:
        if (events := self._context.events) is not None:
            events.emit(happening)

    async def _heed(self) -> None:
        if (events := self._context.events) is not None:
            await events.checkpoint()

    async def _drop(self, trip: StartedVisit) -> None:
        self._close(trip)
        scope = self._context.scope(_spot(trip))
        if scope is not None:
            await self._visits.take_up(scope, trip.id)

    def _close(self, trip: StartedVisit) -> None:
        self._journal.visits[trip.place] = trip._replace(is_over=True)

    # A visit that outlives its call.

    async def _noted(self, trip: StartedVisit, going: VisitPlan) -> StartedVisit | Answer[Any] | None:
        """A trip of this conversation, to be gone on with; or what became of it, where no consent is awaited."""
        if trip.place in self._journal.answered or trip.place in self._journal.opened:
            return trip
        if not going.waits:
            return Accepted(trip.id) if self._context.carrier.grace is not None else trip
        ending = await self._visits.ended(trip.id)
        return trip if ending is None else await self._take(trip, going, ending)

    async def _left(self, place: str, what: str, going: VisitPlan) -> StartedVisit | Answer[Any] | None:
        """The visit that an earlier call has left, to be put once more; or what became of it, if something did."""
        carrier = self._context.carrier
        scope = self._context.scope(_spot(StartedVisit(place, "", 0.0, what)))
        if scope is None or not (going.waits or carrier.grace is not None):
            return None
        left = [row for row in await self._visits.parked(scope) if row.what == what]
        if going.waits:
            return await self._one_of(left, scope, place, going)
        for row in left:  # that the client comes back is its word that the person agreed
            if await self._visits.take_up(scope, row.id):
                self._close(_trip(place, row))
                for happening in describe_reply(place, Reply(action="accept")):
                    self._tell(happening)
                return Accepted(row.id)
        return None

    async def _one_of(
        self, left: list[ParkedVisit], scope: str, place: str, going: VisitPlan
    ) -> StartedVisit | Answer[Any] | None:
        """What is done comes before what is not; and what another call may still come back for is not put again."""
        now, grace = self._context.clock(), self._context.carrier.grace
        for row in left:
            ending = await self._visits.ended(row.id)
            if isinstance(ending, VisitSettled) or (ending is not None and row.free_at <= now):
                answer = await self._take_up(row, scope, place, going, ending)
                if answer is not None:
                    return answer
            elif ending is None and row.until <= now:  # nothing can come of it any more
                await self._visits.take_up(scope, row.id)
        row = next((row for row in left if row.free_at <= now < row.until), None)
        if row is not None:
            ending = await self._end_of_left(row)
            if ending is not None:
                return await self._take_up(row, scope, place, going, ending)
            if grace is not None or await self._visits.take_up(scope, row.id):
                return await self._begin(_trip(place, row), going)
        return None

    async def _take_up(
        self, left: ParkedVisit, scope: str, place: str, going: VisitPlan, ending: Ending
    ) -> Answer[Any] | None:
        if not await self._visits.take_up(scope, left.id):
            return None
        trip = _trip(place, left)
        return await self._take(trip._replace(holder=trip.holder or self._visits.new_id()), going, ending)

    async def _end_of_left(self, left: ParkedVisit) -> Ending | None:
        async def wait() -> Ending | Pause:
            ended = await self._visits.ended(left.id, seconds=self._context.carrier.grace or 0.0)
            return Pause.ASK_AGAIN if ended is None else ended

        if self._context.carrier.grace is None:
            return None
        waited = await self._conversation.wait_outside(wait)
        return None if isinstance(waited, Pause) else waited

    async def _leave_cancelled(self, place: str) -> None:
        """Whoever cancels a call may never come back with it, but may well make it anew."""
        carrier, trips = self._context.carrier, self._journal.visits
        if carrier.comes_back and self._conversation.is_left:
            return
        leaving = [trips[place]] if place in trips else []
        if carrier.grace is not None:
            leaving = list(trips.values())
        with anyio.move_on_after(LAST_WORDS, shield=True), suppress(StoreUnavailable):
            for trip in leaving:
                if carrier.grace is not None or not trip.is_over:
                    await _leave(self._context, trip, free_at=self._context.clock())


async def park_visits(context: "CallContext", *, out: Container[str] = ()) -> None:
    """A round ends here. Where the client comes back with what it knew, it should find its visits free only if it does
    not; where it does not, they are all for its next call, and it hears of the ends of those at `out`."""
    comes_anew = context.carrier.grace is not None
    free_at = context.clock() + (0.0 if comes_anew else context.server.policy.think_time)
    for trip in context.journal.visits.values():
        if comes_anew or not trip.is_over:
            await _leave(context, trip, free_at=free_at)
        if trip.place in out:
            context.notify_when_ended(trip.id, trip.until)


async def _leave(context: "CallContext", trip: StartedVisit, *, free_at: float) -> bool:
    """Whether a later call can find it: only one of the same caller can, and somebody must tell who that is."""
    scope = context.scope(_spot(trip))
    if scope is None:
        return False
    holder = trip.holder if trip.is_over else ""
    left = ParkedVisit(trip.id, trip.what, trip.asked_at, trip.until, free_at, holder)
    remembered = _remembered(context, trip)
    await context.server.visits.park(scope, left, remembered=remembered, holder=context.caller.holder)
    return True


def _spot(trip: StartedVisit) -> str:
    return f"{trip.place}/{trip.what}"


def _trip(place: str, left: ParkedVisit) -> StartedVisit:
    return StartedVisit(place, left.id, left.asked_at, left.what, left.until, left.holder)


def _remembered(context: "CallContext", trip: StartedVisit) -> float:
    """A day at least, and never less than somebody may take to come back for it after they could have heard of it."""
    return REMEMBERED + max(trip.until - trip.asked_at, context.server.policy.think_time)


def _answer(place: str, ending: Ending) -> Answer[Any]:
    match ending:
        case VisitSettled(result):
            return Accepted(result)
        case VisitDeclined():
            return Declined()
        case VisitAborted(reason):
            raise VisitFailed(place=place, reason=reason)
