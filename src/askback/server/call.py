"""One request as it goes through. What only a question needs is made when one is asked: most calls ask nothing."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession

from askback.conversation import Policy
from askback.journal.entries import Journal
from askback.server.adapters.mcp import Caller, back_channel
from askback.server.keeping import Keeping
from askback.stores.protocol import Mine, Store
from askback.wire.era import CanShow, Era, Mode, declares, revision_of
from askback.wire.push import Push
from askback.wire.replay import Replaying
from askback.wire.requests import Client
from askback.wire.rounds import Rounds

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `Askback(...)` was given."""

    policy: Policy
    clients_can: frozenset[Mode] | None
    clock: Callable[[], float]
    store: Store
    life: float
    """Seconds that a state is good for."""
    caller: Caller


@dataclass(slots=True, kw_only=True)
class Rehearsal:
    """What a test changes for its own calls: see `askback.testing`."""

    always_replay: bool
    seconds_ahead: float = 0.0


REHEARSAL: ContextVar[Rehearsal | None] = ContextVar("askback_rehearsal", default=None)


class Call:
    """The setting of a conversation: who can be asked, how, since when, and what was said before."""

    claim: Mine | None = None
    """This round, where it is a later one: nobody else runs it meanwhile."""
    _claimed_at: float | None = None
    _now: float | None = None
    _journal: Journal | None = None
    _carrier: Rounds | Push | Replaying | None = None

    def __init__(self, settings: Settings, ctx: Context) -> None:
        self.ctx = ctx
        self.revision = revision_of(ctx.protocol_version)
        self.takes_returns = self.revision.era is not Era.ROUNDS
        self._settings = settings

    @property
    def params(self) -> Mapping[str, Any]:
        return self.ctx.params or {}

    @property
    def policy(self) -> Policy:
        return self._settings.policy

    @property
    def now(self) -> float:
        """The time of this pass."""
        if self._now is None:
            self._now = self.clock()
        return self._now

    def clock(self) -> float:
        """The time at this moment."""
        rehearsal = REHEARSAL.get()
        return self._settings.clock() + (rehearsal.seconds_ahead if rehearsal is not None else 0.0)

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
    def carrier(self) -> Rounds | Push | Replaying:
        """How this call's questions leave the server."""
        self._carrier = self._carrier or self._make_carrier()
        return self._carrier

    @property
    def keeper(self) -> Keeping:
        """Where this call's effects are remembered."""
        settings = self._settings
        return Keeping(
            self.ctx,
            settings.store,
            claim=self.claim,
            claimed_at=self.claimed_at,
            caller=settings.caller,
            now=self.now,
        )

    @property
    def claimed_at(self) -> float:
        """When this round was claimed for the first time, perhaps by one that did not come back."""
        return self.now if self._claimed_at is None else self._claimed_at

    @claimed_at.setter
    def claimed_at(self, time: float) -> None:
        self._claimed_at = time

    @property
    def client(self) -> Client:
        """What the client of this call speaks and can do."""
        return Client(self.revision, self.can_show, self.ctx.session.client_capabilities)

    def make_push(self) -> Push:
        """A carrier that sends and waits."""
        return Push(revision=self.revision, can_show=self.can_show, channel=back_channel(self.ctx))

    def _make_carrier(self) -> Rounds | Push | Replaying:
        if self.revision.era is Era.ROUNDS:
            return Rounds(revision=self.revision, can_show=self.can_show)
        rehearsal = REHEARSAL.get()
        push = self.make_push()
        return Replaying(push) if rehearsal is not None and rehearsal.always_replay else push

    @property
    def can_show(self) -> CanShow:
        """Whether this call's client can show a form, or a link. Holds the session and not the call, whose carrier
        holds it: a circle would keep every call until the garbage is collected."""
        return partial(_can_show, self.ctx.session, self._settings.clients_can)


def _can_show(session: ServerSession, stated: frozenset[Mode] | None, mode: Mode) -> bool:
    declared = session.client_capabilities
    if declared is None and stated is not None:
        return mode in stated
    return declares(declared, mode)
