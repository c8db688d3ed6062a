"""One request as it goes through. What only a question needs is made when one is asked: most calls ask nothing."""

from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER

from askback.errors import CallerUnknown
from askback.model.journal import Journal
from askback.model.store import Granted, Store
from askback.protocol.question_ids import QuestionIds
from askback.protocol.revisions import CanShow, Era, Mode, declares, revision_of, target_of
from askback.protocol.server.patience import patience_of
from askback.protocol.server.push import PendingQuestions, PushCarrier
from askback.protocol.server.replay import ReplayCarrier
from askback.protocol.server.returned_rounds import ReturnedRounds
from askback.protocol.server.round_requests import CallClient
from askback.protocol.server.rounds import RoundHold, RoundsCarrier
from askback.protocol.server.url_required import UrlRequiredCarrier
from askback.runtime.approvals import Approvals
from askback.runtime.context import AskPolicy
from askback.runtime.visits import VisitStore
from askback.schema.dialect import Dialect
from askback.server.audit import Audit, CallAudit
from askback.server.conversation_ids import ConversationIds
from askback.server.effect_claims import EffectClaims, caller_of, scope_of
from askback.server.hosts.boundary import Caller
from askback.server.hosts.mcp import back_channel
from askback.server.offload import JournalOffload
from askback.server.owners import OwnerOf
from askback.server.page_host import CallerPages, ServerPages
from askback.server.telemetry import Telemetry

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What `Askback(...)` was given."""

    policy: AskPolicy
    clients_can: frozenset[Mode] | None
    clock: Callable[[], float]
    store: Store
    offload: JournalOffload
    conversation_ids: ConversationIds
    audit: Audit | None
    """None where nobody keeps a record of calls."""
    telemetry: Telemetry | None
    think_time: float
    """Seconds that a state is good for."""
    caller: Caller
    owner: OwnerOf
    visits: VisitStore
    house: ServerPages
    notify_when_ended: Callable[[str, ServerSession, float], None]
    """Have a client told when a visit has ended that no call waits for."""
    hold: float
    """Seconds for which a request is held while the person is on a page."""
    questions: PendingQuestions
    """On the push era: those that are out."""
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
    """The setting of a conversation: who can be asked, how, since when, and what was said before."""

    __slots__ = (  # like those of `Conversation`
        "_carrier",
        "_claimed_at",
        "_ids",
        "_journal",
        "_now",
        "claim",
        "ctx",
        "cut_short",
        "is_by_hand",
        "policy",
        "recording",
        "returned",
        "revision",
        "settings",
        "takes_returns",
    )

    def __init__(self, settings: ServerSettings, ctx: Context) -> None:
        self.ctx = ctx
        self.revision = revision_of(ctx.protocol_version)
        self.takes_returns = self.revision.era is not Era.ROUNDS
        self.settings = settings
        self.policy = settings.policy
        self.claim: Granted | None = None
        """This round, where it is a later one: nobody else runs it meanwhile."""
        self.cut_short: Collection[str] = ()
        """Keys of the effects that were under way when whoever ran this round before us ended."""
        self.is_by_hand = False
        """Whether this round ends with questions of the body's own for a client that declares nothing."""
        self.recording: CallAudit | None = None
        """What has happened in this call, where a record is kept and anything has."""
        self.returned: ReturnedRounds | None = None
        """The rounds of a body that returns its questions, where the revision cannot carry them."""
        self._claimed_at: float | None = None
        self._now: float | None = None
        self._journal: Journal | None = None
        self._carrier: Carriers | None = None
        self._ids: QuestionIds | None = None

    @property
    def params(self) -> Mapping[str, Any]:
        return self.ctx.params or {}

    @property
    def dialect(self) -> Dialect:
        return self.revision.dialect

    @property
    def now(self) -> float:
        """The time of this pass."""
        if self._now is None:
            self._now = self.clock()
        return self._now

    def clock(self) -> float:
        """The time at this moment."""
        rehearsal = REHEARSAL.get()
        return self.settings.clock() + (rehearsal.seconds_ahead if rehearsal is not None else 0.0)

    @property
    def journal(self) -> Journal:
        """What was said before; a new one where nothing was."""
        self._journal = self._journal or Journal()
        return self._journal

    @journal.setter
    def journal(self, journal: Journal) -> None:
        self._journal = journal

    @property
    def is_later_round(self) -> bool:
        """Whether this call came back with state of ours."""
        return self._journal is not None and self._journal.round > 0

    @property
    def witness(self) -> CallAudit | None:
        """The record of this call, from now on."""
        recorder = self.settings.audit
        if recorder is not None and self.recording is None:
            in_rounds = self.revision.era is Era.ROUNDS
            self.recording = recorder.for_call(self.ctx, self.journal, in_rounds=in_rounds)
        return self.recording

    async def call_id(self) -> str:
        """The name of this call on record, where one is kept."""
        if self.settings.audit is None:
            return ""
        return await self.conversation_id()

    async def conversation_id(self) -> str:
        return (await self.settings.conversation_ids.assign(self.journal)).conversation

    @property
    def ids(self) -> QuestionIds:
        """Of the questions of this request."""
        if self._ids is None:
            self._ids = self._make_ids()
        return self._ids

    def question_id(self, place: str) -> str:
        ids = self._ids
        if ids is None:
            ids = self._ids = self._make_ids()
        return ids.next(place, self.journal.round)

    @property
    def carrier(self) -> Carriers:
        """How this call's questions leave the server."""
        self._carrier = self._carrier or self._make_carrier()
        return self._carrier

    @property
    def keeper(self) -> EffectClaims:
        """Where this call's effects are remembered."""
        settings = self.settings
        return EffectClaims(
            settings.store,
            claim=self.claim,
            claimed_at=self.claimed_at,
            cut_short=self.cut_short,
            scope=self._effect_scope,
            journal=self.journal,
            names=settings.conversation_ids,
            now=self.now,
        )

    @property
    def visits(self) -> VisitStore:
        return self.settings.visits

    @property
    def approvals(self) -> Approvals:
        return Approvals(self.settings.store, clock=self.clock)

    @property
    def target(self) -> str:
        return target_of(self.ctx.method, self.params)[0]

    @property
    def owner(self) -> str:
        return self.settings.owner(self.ctx) or ""

    @property
    def holder(self) -> str:
        """A digest of the caller, or of the session of a 2025 revision where nobody tells who calls. Empty where there
        is neither: a header of another revision is the client's own word, and could be another for each call."""
        try:
            name = f"caller {self._caller()}"
        except CallerUnknown:
            request = self.ctx.request if self.revision.era is Era.PUSH else None
            session = None if request is None else request.headers.get(MCP_SESSION_ID_HEADER)
            if not session:
                return ""
            name = f"session {session}"
        return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    async def premises(self, verb: str) -> CallerPages:
        # Who brings a token is a visitor from outside, however the call came in: the door is not passed by.
        is_local = self.ctx.request is None and get_access_token() is None
        return await self.settings.house.open_for(self.owner, is_local=is_local, verb=verb)

    @property
    def server_name(self) -> str:
        return self.settings.house.server

    @property
    def client_name(self) -> str:
        """How the client calls itself; empty where it does not say."""
        return _client_name(self.ctx)

    @property
    def think_time(self) -> float:
        return self.settings.think_time

    def visit_seconds(self, asked: float | None) -> float:
        """The author's time for this visit, or for any question, or a person's time to think and as long to go."""
        settings = self.settings
        return asked or settings.policy.seconds or 2 * settings.think_time

    def scope(self, place: str) -> str | None:
        """The same for the same question in the same call to the same server, made anew by the same caller."""
        owner = self.owner
        if not owner and get_access_token() is not None:
            return None  # whose claims make nobody is told from nobody else
        try:
            caller = self._caller()
        except CallerUnknown:
            return None
        return scope_of(self.ctx, self.server_name, caller, f"{owner}/{place}")

    def _effect_scope(self, key: str) -> str:
        return scope_of(self.ctx, self.settings.house.effect_name, self._caller(), key)

    def _caller(self) -> str:
        return caller_of(self.ctx, self.settings.caller, self.settings.owner)

    def notify_when_ended(self, id: str, *, until: float) -> None:
        """On the rounds era clients come and ask; and one that never shook hands has no connection to be told on."""
        session = self.ctx.session
        if self.revision.era is Era.PUSH and session.client_params is not None:
            self.settings.notify_when_ended(id, session, until)

    @property
    def claimed_at(self) -> float:
        """When this round was claimed for the first time, perhaps by one that did not come back."""
        return self.now if self._claimed_at is None else self._claimed_at

    @claimed_at.setter
    def claimed_at(self, time: float) -> None:
        self._claimed_at = time

    @property
    def client(self) -> CallClient:
        """What the client of this call speaks and can do."""
        return CallClient(self.revision, self.can_show, self.ctx.session.client_capabilities)

    def make_push(self) -> PushCarrier:
        """A carrier that sends and waits."""
        push = PushCarrier(
            revision=self.revision,
            can_show=self.can_show,
            channel=back_channel(self.ctx),
            questions=self.settings.questions,
            think_time=self.settings.think_time,
            witness=self.witness,
        )
        if (telemetry := self.settings.telemetry) is not None:
            push.waits = telemetry.waiting
        return push

    def _make_ids(self) -> QuestionIds:
        ctx = self.ctx
        assert ctx.request_id is not None, "a notification has no conversation"
        settings = self.settings
        try:
            caller = caller_of(ctx, settings.caller, settings.owner)
        except CallerUnknown:
            caller = ""
        return QuestionIds(settings.house.server, caller, ctx.method, ctx.params or {}, ctx.request_id)

    def _make_carrier(self) -> Carriers:
        if self.revision.era is Era.ROUNDS:
            # A partial and no method, for the same reason as `can_show`.
            holding = partial(_holding, self.settings, self.ctx, self.journal)
            return RoundsCarrier(revision=self.revision, can_show=self.can_show, holding=holding)
        rehearsal = REHEARSAL.get()
        push = self.make_push()
        if self._demands_visits:
            return UrlRequiredCarrier(
                push,
                revision=self.revision,
                can_show=self.can_show,
                hold=self.settings.hold,
                is_caller_known=self.scope("") is not None,
            )
        return ReplayCarrier(push) if rehearsal is not None and rehearsal.always_replay else push

    @property
    def _demands_visits(self) -> bool:
        if not self.revision.visits and not self.can_show("url"):
            return False
        return self.settings.demands_visits or not self.ctx.session.can_send_request

    @property
    def can_show(self) -> CanShow:
        """Whether this call's client can show a form, or a link. Holds the session and not the call, whose carrier
        holds it: a circle would keep every call until the garbage is collected."""
        stated = self.settings.clients_can
        if stated is not None and not self.revision.visits:
            stated -= {"url"}  # said of clients in general; these would have to say it themselves
        return partial(_can_show, self.ctx.session, stated)


def _can_show(session: ServerSession, stated: frozenset[Mode] | None, mode: Mode) -> bool:
    declared = session.client_capabilities
    if declared is None and stated is not None:
        return mode in stated
    return declares(declared, mode)


def _client_name(ctx: Context) -> str:
    params = ctx.session.client_params
    return "" if params is None else params.client_info.name


def _holding(settings: ServerSettings, ctx: Context, journal: Journal) -> RoundHold:
    wants_progress = (ctx.meta or {}).get("progress_token") is not None
    return RoundHold(
        settings.hold,
        journal.round,
        patience_of(_client_name(ctx), without_polling=settings.clients_without_polling),
        back_channel(ctx) if wants_progress else None,
    )
