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
"""Seconds between two checks, while a call waits, that the store still knows the visit."""

CANCELLED_PARK_TIMEOUT = 1.0
"""Seconds for parking the visits of a call that is being cancelled; a store that hangs must not hold it."""


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
        """Digest of what is visited and by whom, so that one visit is never taken for another."""
        goal = [self.thing] if self.thing else [self.message, self.template]
        return digest_of(to_json([self.kind, context.server.name, context.caller.owner, *goal]).decode())


class VisitFlow:
    """Sends a person to one place after another."""

    def __init__(self, conversation: "Conversation", context: "CallContext") -> None:
        self._conversation, self._context, self._journal = conversation, context, context.journal
        self._visits = context.server.visits
        self._seconds = 0.0

    async def run(self, place: str, plan: VisitPlan, *, is_keyed: bool) -> Answer[Any]:
        """Send the person there; the answer is the result of the visit, or their no."""
        self._seconds = self._context.server.policy.visit_seconds(plan.seconds)
        try:
            answer = None
            while answer is None:
                answer = await self._run(place, plan, is_keyed=is_keyed)
            return answer
        except anyio.get_cancelled_exc_class():
            await self._park_cancelled(place)
            raise

    async def _run(self, place: str, plan: VisitPlan, *, is_keyed: bool) -> Answer[Any] | None:
        """One visit; None if its result was given to another call, so that the person has to go once more."""
        what = plan.what(self._context)
        started = self._journal.visits.get(place)
        if started is None or started.what != what:
            self._context.carrier.require_visits()
            found = await self._find_parked(place, what, plan)
        else:
            found = await self._resume(started, plan)
        if found is not None and not isinstance(found, StartedVisit):
            return found
        started = found or await self._begin(StartedVisit(place, self._visits.new_id(), 0.0, what), plan)
        url = await plan.link(started.id)
        visit = Visit(message=plan.message, url=url, id=started.id, meta=plan.meta, template=plan.template)
        return await self._send(started, plan, PlacedQuestion(place, is_keyed, visit, self._seconds))

    async def _begin(self, started: StartedVisit, plan: VisitPlan) -> StartedVisit:
        """Open the visit in the store, from now on for as long as it may take; also one that is put once more."""
        now = self._context.clock()
        started = started._replace(asked_at=now, until=now + self._seconds, holder=self._visits.new_id())
        self._journal.visits[started.place] = started
        await self._visits.open(
            StoredVisit(
                id=started.id,
                kind=plan.kind,
                server=self._context.server.name,
                owner=self._context.caller.owner,
                client=self._context.request.client,
                message=plan.message,
                asked_at=now,
                until=started.until,
                about=plan.about,
                thing=plan.thing,
                remembered=_kept_seconds(self._context, started),
                call=await self._context.call_id(),
                place=started.place,
            ),
            holder=self._context.caller.holder,
        )
        return started

    async def _send(self, started: StartedVisit, plan: VisitPlan, put: PlacedQuestion) -> Answer[Any] | None:
        while isinstance(answer := await self._conversation.ask_placed(put), Accepted):
            if not plan.waits:
                self._close(started)
                self._context.notify_when_ended(started.id, started.until)
                return Accepted(started.id)
            ending = await self._wait(started)
            if ending is not None:
                return await self._take(started, plan, ending)
            self._conversation.reopen(put)
        stands = await self._decline(started)
        if plan.waits and isinstance(stands, VisitSettled) and await self._consume(started, plan, stands):
            # Done there before they were asked once more: a no does not undo it.
            return Accepted(stands.result)
        await self._finish(started)
        return answer

    async def _decline(self, started: StartedVisit) -> Ending | None:
        with suppress(VisitUnknown):  # its time may be over
            return await self._visits.end(digest_of(started.id), VisitDeclined())
        return None

    async def _wait(self, started: StartedVisit) -> Ending | None:
        """Wait for the end of the visit; None if the person is to be asked once more."""
        match await self._end_of(started):
            case Pause.ASK_AGAIN:
                return None
            case Pause.END_ROUND:
                return await self._conversation.pause()
            case Pause.TIME_OVER:
                self._emit(describe_visit_expiry(started.place, NOT_DONE))
                raise TimedOut(place=started.place, seconds=self._seconds, has_agreed=True)
            case Pause.GIVE_UP:
                return await self._give_up(started)
            case ending:
                return ending

    async def _give_up(self, started: StartedVisit) -> Ending:
        """Raise `StillOpen`. A visit that no later call could find is ended, so that the application learns it."""
        lasts, stands = await _park(self._context, started, free_at=self._context.clock()), None
        if not lasts:
            with suppress(VisitUnknown):
                stands = await self._visits.end(digest_of(started.id), ABANDONED)
        if stands is not None and stands != ABANDONED:
            return stands  # it has ended this very moment
        self._emit(describe_visit_expiry(started.place, STILL_OPEN))
        raise StillOpen(place=started.place, seconds=self._seconds, lasts=lasts)

    async def _end_of(self, started: StartedVisit) -> Ending | Pause:
        seconds = max(started.until - self._context.clock(), 0.0)
        end_of = partial(
            self._context.carrier.end_of, started.id, partial(self._ended, started), seconds=seconds
        )
        return await self._conversation.wait_outside(end_of)

    async def _ended(self, started: StartedVisit, seconds: float) -> Ending | None:
        """Wait at most that long for the end of the visit; `DROPPED` if the store no longer knows it."""
        while True:
            part = min(seconds, RECHECK_SECONDS)
            if part > 0 and not started.is_over and await self._is_dropped(started):
                return await self._visits.ended(started.id) or DROPPED
            ending = await self._visits.ended(started.id, seconds=part)
            seconds -= part
            if ending is not None or seconds <= 0:
                return ending

    async def _is_dropped(self, started: StartedVisit) -> bool:
        return not await self._visits.is_open(started.id) and self._context.clock() < started.until

    # What a visit has brought serves one call.

    async def _take(self, started: StartedVisit, plan: VisitPlan, ending: Ending) -> Answer[Any] | None:
        if await self._consume(started, plan, ending):
            return _answer(started.place, ending)
        self._journal.visits.pop(started.place, None)
        self._journal.answered.pop(started.place, None)
        return None

    async def _consume(self, started: StartedVisit, plan: VisitPlan, ending: Ending) -> bool:
        """Whether this end is for this call. A failure is for all calls that wait, a secret is in the vault for all."""
        is_one_for_one = isinstance(ending, VisitSettled) and not plan.thing and not started.is_over
        if is_one_for_one and not await self._visits.consume(
            started.id, started.holder, remembered=_kept_seconds(self._context, started)
        ):
            return False
        if not started.is_over:
            self._emit(describe_visit_end(started.place, plan.kind, ending))
            await self._finish(started)
            await self._checkpoint()
        return True

    def _emit(self, event: CallEvent) -> None:
        if (events := self._context.events) is not None:
            events.emit(event)

    async def _checkpoint(self) -> None:
        if (events := self._context.events) is not None:
            await events.checkpoint()

    async def _finish(self, started: StartedVisit) -> None:
        self._close(started)
        scope = self._context.scope(_scope_key(started))
        if scope is not None:
            await self._visits.take_up(scope, started.id)

    def _close(self, started: StartedVisit) -> None:
        self._journal.visits[started.place] = started._replace(is_over=True)

    # A visit that outlives its call.

    async def _resume(self, started: StartedVisit, plan: VisitPlan) -> StartedVisit | Answer[Any] | None:
        """Go on with a visit of this conversation; or take what became of it, where no consent is awaited."""
        if started.place in self._journal.answered or started.place in self._journal.opened:
            return started
        if not plan.waits:
            return Accepted(started.id) if self._context.carrier.grace is not None else started
        ending = await self._visits.ended(started.id)
        return started if ending is None else await self._take(started, plan, ending)

    async def _find_parked(self, place: str, what: str, plan: VisitPlan) -> StartedVisit | Answer[Any] | None:
        """The visit that an earlier call has parked, to be put once more; or its result, if it has one."""
        carrier = self._context.carrier
        scope = self._context.scope(_scope_key(StartedVisit(place, "", 0.0, what)))
        if scope is None or not (plan.waits or carrier.grace is not None):
            return None
        left = [row for row in await self._visits.parked(scope) if row.what == what]
        if plan.waits:
            return await self._choose_parked(left, scope, place, plan)
        for row in left:  # that the client comes back is its word that the person agreed
            if await self._visits.take_up(scope, row.id):
                self._close(_start_of(place, row))
                for event in describe_reply(place, Reply(action="accept")):
                    self._emit(event)
                return Accepted(row.id)
        return None

    async def _choose_parked(
        self, left: list[ParkedVisit], scope: str, place: str, plan: VisitPlan
    ) -> StartedVisit | Answer[Any] | None:
        """Prefer a visit that has ended. One that another call may still come back for is not put again."""
        now, grace = self._context.clock(), self._context.carrier.grace
        for row in left:
            ending = await self._visits.ended(row.id)
            if isinstance(ending, VisitSettled) or (ending is not None and row.free_at <= now):
                answer = await self._take_up(row, scope, place, plan, ending)
                if answer is not None:
                    return answer
            elif ending is None and row.until <= now:  # nothing can come of it any more
                await self._visits.take_up(scope, row.id)
        row = next((row for row in left if row.free_at <= now < row.until), None)
        if row is not None:
            ending = await self._wait_for_parked(row)
            if ending is not None:
                return await self._take_up(row, scope, place, plan, ending)
            if grace is not None or await self._visits.take_up(scope, row.id):
                return await self._begin(_start_of(place, row), plan)
        return None

    async def _take_up(
        self, left: ParkedVisit, scope: str, place: str, plan: VisitPlan, ending: Ending
    ) -> Answer[Any] | None:
        if not await self._visits.take_up(scope, left.id):
            return None
        started = _start_of(place, left)
        return await self._take(
            started._replace(holder=started.holder or self._visits.new_id()), plan, ending
        )

    async def _wait_for_parked(self, left: ParkedVisit) -> Ending | None:
        async def wait() -> Ending | Pause:
            ended = await self._visits.ended(left.id, seconds=self._context.carrier.grace or 0.0)
            return Pause.ASK_AGAIN if ended is None else ended

        if self._context.carrier.grace is None:
            return None
        waited = await self._conversation.wait_outside(wait)
        return None if isinstance(waited, Pause) else waited

    async def _park_cancelled(self, place: str) -> None:
        """Park the visits of a call that is being cancelled: its client may make the same call again."""
        carrier, started_visits = self._context.carrier, self._journal.visits
        if carrier.comes_back and self._conversation.is_left:
            return
        leaving = [started_visits[place]] if place in started_visits else []
        if carrier.grace is not None:
            leaving = list(started_visits.values())
        with anyio.move_on_after(CANCELLED_PARK_TIMEOUT, shield=True), suppress(StoreUnavailable):
            for started in leaving:
                if carrier.grace is not None or not started.is_over:
                    await _park(self._context, started, free_at=self._context.clock())


async def park_visits(context: "CallContext", *, out: Container[str] = ()) -> None:
    """Park the visits of a round that ends. A client that comes back with its state finds them in its journal, so they
    are free for other calls only after its time to think; a client that makes a new call finds them at once, and is
    told of the end of those at `out`."""
    is_new_call = context.carrier.grace is not None
    free_at = context.clock() + (0.0 if is_new_call else context.server.policy.think_time)
    for started in context.journal.visits.values():
        if is_new_call or not started.is_over:
            await _park(context, started, free_at=free_at)
        if started.place in out:
            context.notify_when_ended(started.id, started.until)


async def _park(context: "CallContext", started: StartedVisit, *, free_at: float) -> bool:
    """Park one visit; False where the caller is unknown, so that no later call could find it."""
    scope = context.scope(_scope_key(started))
    if scope is None:
        return False
    holder = started.holder if started.is_over else ""
    left = ParkedVisit(started.id, started.what, started.asked_at, started.until, free_at, holder)
    remembered = _kept_seconds(context, started)
    await context.server.visits.park(scope, left, remembered=remembered, holder=context.caller.holder)
    return True


def _scope_key(started: StartedVisit) -> str:
    return f"{started.place}/{started.what}"


def _start_of(place: str, left: ParkedVisit) -> StartedVisit:
    return StartedVisit(place, left.id, left.asked_at, left.what, left.until, left.holder)


def _kept_seconds(context: "CallContext", started: StartedVisit) -> float:
    """How long the end of a visit is kept: one day, and the longest time a client may take to come back for it."""
    return REMEMBERED + max(started.until - started.asked_at, context.server.policy.think_time)


def _answer(place: str, ending: Ending) -> Answer[Any]:
    match ending:
        case VisitSettled(result):
            return Accepted(result)
        case VisitDeclined():
            return Declined()
        case VisitAborted(reason):
            raise VisitFailed(place=place, reason=reason)
