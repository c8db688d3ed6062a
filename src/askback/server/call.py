"""One request as it goes through the server: its context for the conversation, its client, and how it is asked."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcp.server.context import ServerRequestContext

from askback.protocol.elicitation import QuestionIds
from askback.protocol.revisions import Era, Mode, Modes, Revision, modes_of, revision_of
from askback.protocol.server.hold import RoundHold, patience_of
from askback.protocol.server.push import PendingQuestions, PushCarrier
from askback.protocol.server.replay import ReplayCarrier
from askback.protocol.server.returned_rounds import ReturnedRounds
from askback.protocol.server.round_requests import CallClient
from askback.protocol.server.rounds import RoundsCarrier
from askback.protocol.server.url_required import UrlRequiredCarrier
from askback.runtime.context import CallContext, ServerContext
from askback.server.audit import Audit
from askback.server.hosts.mcp import back_channel
from askback.server.offload import JournalOffload
from askback.server.page_host import ServerPages
from askback.server.telemetry import Telemetry
from askback.server.visit_endings import VisitEndings

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What `Askback(...)` was given, and what it made of that, beside the context that all calls share."""

    clock: Callable[[], float]
    clients_can: frozenset[Mode] | None
    offload: JournalOffload
    audit: Audit | None
    """None where no record of calls is kept."""
    telemetry: Telemetry | None
    pages: ServerPages
    hold: float
    """Seconds for which a request is held while the person is on a page."""
    questions: PendingQuestions
    """The questions of the push era that wait for an answer."""
    demands_visits: bool
    clients_without_polling: frozenset[str]
    """Names of clients that come back only where something is asked."""


@dataclass(slots=True, kw_only=True)
class Rehearsal:
    """What a test changes for its own calls: see `askback.testing`."""

    always_replay: bool
    seconds_ahead: float = 0.0


REHEARSAL: ContextVar[Rehearsal | None] = ContextVar("askback_rehearsal", default=None)

Carriers = RoundsCarrier | PushCarrier | ReplayCarrier | UrlRequiredCarrier


class Call:
    """One request, with the context that its conversation sees."""

    def __init__(self, settings: ServerSettings, server: ServerContext, ctx: Context) -> None:
        self.settings, self.ctx = settings, ctx
        self.revision = revision_of(ctx.protocol_version)
        rehearsal = REHEARSAL.get()
        clock = settings.clock if rehearsal is None else partial(_rehearsed_time, settings.clock, rehearsal)
        self.context = CallContext(server, ctx, dialect=self.revision.dialect, clock=clock)
        if settings.audit is not None:
            in_rounds = self.revision.era is Era.ROUNDS
            self.context.events = settings.audit.for_call(ctx, self.context.journal, in_rounds=in_rounds)
        self.is_by_hand = False
        """Whether this round ends with questions of the body's own for a client that declares nothing."""
        self.returned: ReturnedRounds | None = None
        """The rounds of a body that returns its questions, where the revision cannot carry them."""

    @property
    def client(self) -> CallClient:
        """What the client of this call speaks and can do."""
        modes = _modes_of(self.settings, self.ctx, self.revision)
        return CallClient(self.revision, modes, self.ctx.session.client_capabilities)

    def make_push(self) -> PushCarrier:
        """A carrier that sends and waits, whatever the call's own does. A question that is asked again is no copy, so
        both number questions together."""
        context, modes = self.context, self.client.modes
        return _make_push(
            self.settings, self.ctx, modes=modes, question_id=context.carrier.question_id, context=context
        )


def make_carrier(settings: ServerSettings, context: CallContext, ctx: Context) -> Carriers:
    """How the questions of one call leave the server."""
    revision, request = revision_of(ctx.protocol_version), context.request
    modes = _modes_of(settings, ctx, revision)
    assert ctx.request_id is not None, "a notification has no conversation"
    ids = QuestionIds(
        context.server.name, request.caller.name or "", ctx.method, ctx.params or {}, ctx.request_id
    )
    if revision.era is Era.ROUNDS:
        holding = partial(_hold_of, settings, ctx, request.client, context.journal)
        return RoundsCarrier(revision=revision, modes=modes, question_id=ids.next, holding=holding)
    push = _make_push(settings, ctx, modes=modes, question_id=ids.next, context=context)
    must_demand = settings.demands_visits or not ctx.session.can_send_request
    if must_demand and (revision.visits or "url" in modes):
        return UrlRequiredCarrier(
            push,
            revision=revision,
            modes=modes,
            hold=settings.hold,
            is_caller_known=request.caller.lasting_name is not None,
        )
    rehearsal = REHEARSAL.get()
    return ReplayCarrier(push) if rehearsal is not None and rehearsal.always_replay else push


def _make_push(
    settings: ServerSettings,
    ctx: Context,
    *,
    modes: Modes,
    question_id: Callable[[str, int], str],
    context: CallContext,
) -> PushCarrier:
    push = PushCarrier(
        revision=revision_of(ctx.protocol_version),
        modes=modes,
        channel=back_channel(ctx),
        question_id=question_id,
        questions=settings.questions,
        think_time=context.server.policy.think_time,
        events=context.events,
    )
    if settings.telemetry is not None:
        push.waits = settings.telemetry.waiting
    return push


def _rehearsed_time(clock: Callable[[], float], rehearsal: Rehearsal) -> float:
    return clock() + rehearsal.seconds_ahead


def _modes_of(settings: ServerSettings, ctx: Context, revision: Revision) -> Modes:
    return modes_of(revision, ctx.session.client_capabilities, stated=settings.clients_can)


def notify_when_ended(endings: VisitEndings, ctx: Context, id: str, until: float) -> None:
    """On the rounds era clients come and ask; and one that never shook hands has no connection to be told on."""
    if revision_of(ctx.protocol_version).era is Era.PUSH and ctx.session.client_params is not None:
        endings.notify_when_ended(id, ctx.session, until)


def _hold_of(settings: ServerSettings, ctx: Context, client: str, journal: Any) -> RoundHold:
    wants_progress = (ctx.meta or {}).get("progress_token") is not None
    return RoundHold(
        settings.hold,
        journal.round,
        patience_of(client, without_polling=settings.clients_without_polling),
        back_channel(ctx) if wants_progress else None,
    )
