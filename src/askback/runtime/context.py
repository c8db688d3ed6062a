"""What a conversation knows of its call and of the server that serves it."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from askback.errors import CallerUnknown
from askback.model.journal import Journal
from askback.model.store import Store
from askback.model.texts import Words
from askback.runtime.approvals import Approvals
from askback.runtime.carrier import Carrier
from askback.runtime.conversation_ids import ConversationIds
from askback.runtime.effect_claims import ClaimedRound
from askback.runtime.event_log import EventLog
from askback.runtime.visits import VisitStore
from askback.schema.dialect import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPolicy:
    """What is decided once per server."""

    words: Words = Words()
    reply_retries: int = 3
    """How often a reply that does not fit is asked again; more would be nagging."""
    seconds: float | None = None
    """How long any question waits whose author says nothing else; None for as long as `think_time`."""
    think_time: float = 3600.0
    """Seconds that a person may take over one round."""
    max_reply_bytes: int = 65_536
    """A form is filled in by hand; a larger reply is not a person's, and would travel in every later round."""

    def visit_seconds(self, asked: float | None) -> float:
        """How long a visit may take: what its author asked for, or a person's time to think and as long to go."""
        return asked or self.seconds or 2 * self.think_time


class Caller(NamedTuple):
    """The principal behind a call, as far as it is known."""

    name: str | None
    """What state and effects are bound to; None if the caller is unknown."""
    lasting_name: str | None
    """What a later call of the same caller is recognized by; None where it could be a stranger's."""
    owner: str
    """The caller as the vault and the pages know them; empty if unknown."""
    holder: str
    """Whose share of the store the call takes: a digest of its caller or its session; empty where neither is known."""
    is_local: bool
    """Whether the call came over stdio or in memory, without a token."""


class CallIdentity(NamedTuple):
    """Who called what, and with which client."""

    method: str
    target: str
    """The name of the tool or prompt, or the resource's URI."""
    arguments: Any
    caller: Caller
    client: str
    """How the client calls itself; empty where it does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerContext:
    """What all calls of one server share."""

    name: str
    effect_name: Callable[[], str]
    """Tells the effects of this server from those of others on one store; raises `AuthorError` where nothing does."""
    policy: AskPolicy
    store: Store
    visits: VisitStore
    conversation_ids: ConversationIds
    read_request: Callable[[Any], CallIdentity]
    make_carrier: Callable[["CallContext", Any], Carrier]
    open_pages: Callable[[Caller, str], Awaitable[Any]]
    notify_when_ended: Callable[[Any, str, float], None]


class CallContext:
    """One call, as the conversation, its visits, effects and guards see it. Most of it is computed when it is needed:
    most calls ask nothing."""

    def __init__(
        self,
        server: ServerContext,
        host_context: Any,
        *,
        dialect: Dialect,
        clock: Callable[[], float],
        events: EventLog | None = None,
    ) -> None:
        """`host_context` is the request as the host knows it; the server's functions get it back."""
        self.server = server
        self._host_context = host_context
        self.dialect = dialect
        self.clock = clock
        self.now = clock()
        """The time of this request; `clock()` is the time of the moment."""
        self.events = events
        """None where no record is kept."""
        self.round: ClaimedRound | None = None
        """The claim on this round, if it is a later one."""

    @cached_property
    def journal(self) -> Journal:
        """What was asked, heard and done before this request; empty in a first one."""
        return Journal()

    def begin_round(self, journal: Journal) -> None:
        """Go on with the journal that came back with this call."""
        self.journal = journal
        if self.events is not None:
            self.events.begin_round(journal)

    @cached_property
    def request(self) -> CallIdentity:
        return self.server.read_request(self._host_context)

    @property
    def caller(self) -> Caller:
        return self.request.caller

    @cached_property
    def carrier(self) -> Carrier:
        """How this call's questions leave the server."""
        return self.server.make_carrier(self, self._host_context)

    @property
    def approvals(self) -> Approvals:
        """Approvals that last beyond their call."""
        return Approvals(self.server.store, clock=self.clock)

    def scope(self, place: str) -> str | None:
        """Stable id of a place across repeated calls with the same caller, tool and arguments. None if the caller
        could not be recognized."""
        caller = self.caller
        if caller.lasting_name is None:
            return None
        return self._digest(self.server.name, caller.lasting_name, f"{caller.owner}/{place}")

    def effect_scope(self, key: str) -> str:
        """Stable id of an effect across repeated calls; raises `CallerUnknown` if the caller is unknown."""
        name = self.caller.name
        if name is None:
            raise CallerUnknown
        return self._digest(self.server.effect_name(), name, key)

    def _digest(self, server: str, caller: str, key: str) -> str:
        """The server is part of it, since several servers may share one store."""
        request = self.request
        scope = [server, caller, request.method, request.target, request.arguments, key]
        return sha256(json.dumps(scope, sort_keys=True).encode()).hexdigest()

    async def conversation_id(self) -> str:
        """The id of the conversation, the same in every round; assigned now if it has none yet."""
        return (await self.server.conversation_ids.assign(self.journal)).conversation

    async def call_id(self) -> str:
        """The id of this call on record; empty where no record is kept."""
        return "" if self.events is None else await self.conversation_id()

    def notify_when_ended(self, id: str, until: float) -> None:
        """Have the client told when this visit ends, if it does so by then: no call waits for it."""
        self.server.notify_when_ended(self._host_context, id, until)

    async def open_pages(self, verb: str) -> Any:
        """The server's pages as this caller may use them, a `CallerPages`. Raises `VisitorUnknown` where there are
        none for this caller."""
        return await self.server.open_pages(self.caller, verb)
