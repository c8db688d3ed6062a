"""Puts on record what happens in calls and on pages: telemetry hears it at once, the ledger has it before anybody acts
on it."""

import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from hashlib import sha256

import anyio

from askback.errors import StoreUnavailable
from askback.ledger import Ledger
from askback.ledger.entries import LedgerEntry
from askback.model.events import CallEvent, CallFacts, describe_visit_end
from askback.model.journal import Journal
from askback.model.visit import Ending, StoredVisit
from askback.protocol.revisions import KINDS, target_of
from askback.protocol.server.events import without_defaults
from askback.runtime.conversation_ids import ConversationIds
from askback.runtime.event_log import EventLog, TimedEvent
from askback.server.caller import CallerReader
from askback.server.hosts.boundary import Context
from askback.server.refusal_limit import RefusalLimit
from askback.server.telemetry import Telemetry

logger = logging.getLogger("askback")

MAX_PAGES_REMEMBERED = 10_000
"""Visits whose page this process knows to have shown; one that it has forgotten is one more line, and no harm."""

REFUSAL_TIMEOUT = 1.0
"""Seconds for writing a refusal, which stands whether it is written or not."""

MAX_CALLER_LENGTH = 200
"""Characters; of a longer principal the digest is written."""

MAX_CLIENT_LENGTH = 100
"""Characters of what a client calls itself."""

NOT_YOU = "opened by somebody else"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Puts on record what happens in the calls and on the pages of one server."""

    server: str
    callers: CallerReader
    conversation_ids: ConversationIds
    clock: Callable[[], float]
    ledger: Ledger | None = None
    telemetry: Telemetry | None = None
    _allowance: RefusalLimit = field(init=False)
    _shown: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None], init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_allowance", RefusalLimit(self.clock))

    def for_call(self, ctx: Context, journal: Journal, *, in_rounds: bool) -> EventLog:
        """The log of one call's events."""
        facts = cache(partial(self._facts_of_call, ctx))

        def notify(journal: Journal, event: CallEvent) -> None:
            if self.telemetry is not None:
                self.telemetry.on_event(event, replace(facts(), call=journal.conversation))

        async def write(journal: Journal, events: Sequence[TimedEvent]) -> None:
            assert self.ledger is not None
            call = (await self.conversation_ids.assign(journal)).conversation
            named = replace(facts(), call=call)
            await self.ledger.write(*(self._entry(event, named, at=at) for at, event in events))

        return EventLog(
            journal,
            notify=notify,
            write=None if self.ledger is None else write,
            clock=self.clock,
            in_rounds=in_rounds,
        )

    def _facts_of_call(self, ctx: Context, call: str = "") -> CallFacts:
        target, arguments = target_of(ctx.method, ctx.params or {})
        caller, client = self.callers.recorded(ctx), ctx.session.client_params
        name = None if client is None else f"{client.client_info.name} {client.client_info.version}"
        return CallFacts(
            server=self.server,
            call=call,
            kind=KINDS.get(ctx.method),
            target=target,
            arguments=_digest(json.dumps(arguments, sort_keys=True, separators=(",", ":"))),
            caller=None if caller is None else _shorten_caller(caller),
            client=None if name is None else name[:MAX_CLIENT_LENGTH].strip(),
            revision=ctx.protocol_version,
        )

    async def _record_refusal(self, event: CallEvent, facts: CallFacts) -> None:
        """Somebody is turned away, and stays so whatever becomes of the line: it is not waited for long."""
        if self.telemetry is not None:
            self.telemetry.on_event(event, facts)
        before = self._allowance.take() if self.ledger is not None else None
        if self.ledger is None or before is None:
            return
        if before:
            event = replace(event, reason=f"{event.reason}; {before} more before it are not on record")
        try:
            with anyio.move_on_after(REFUSAL_TIMEOUT):
                await self.ledger.write(self._entry(event, facts))
        except StoreUnavailable:
            logger.exception("a refusal could not be put on record")

    async def record_refused_request(self, ctx: Context, reason: str, call: str = "") -> None:
        """A request that is refused before it is known to belong to a call; `call` is what it says itself."""
        await self._record_refusal(CallEvent(event="refused", reason=reason), self._facts_of_call(ctx, call))

    # Of pages. A visit that was begun while there was no record has none.

    async def record_page_opened(self, visiting: StoredVisit) -> None:
        if visiting.id in self._shown:
            return
        await self._write_of(
            visiting, CallEvent(event="shown", place=visiting.place, channel="page", word="page")
        )
        self._shown[visiting.id] = None
        while len(self._shown) > MAX_PAGES_REMEMBERED:
            self._shown.popitem(last=False)

    async def record_page_refused(self, visiting: StoredVisit, *, owner: str) -> None:
        event = CallEvent(event="refused", place=visiting.place, channel="page", reason=NOT_YOU)
        await self._record_refusal(event, replace(self._facts_of(visiting), caller=_shorten_caller(owner)))

    async def record_visit_end(self, visiting: StoredVisit, ending: Ending) -> None:
        """How it ended for good; when the call that waits takes that up, it says so once more."""
        await self._write_of(visiting, describe_visit_end(visiting.place, visiting.kind, ending))

    async def _write_of(self, visiting: StoredVisit, event: CallEvent) -> None:
        if not visiting.call:
            return
        facts = self._facts_of(visiting)
        if self.telemetry is not None:
            self.telemetry.on_event(event, facts)
        if self.ledger is not None:
            await self.ledger.write(self._entry(event, facts))

    def _facts_of(self, visiting: StoredVisit) -> CallFacts:
        return CallFacts(server=visiting.server, call=visiting.call, client=visiting.client or None)

    def _entry(self, event: CallEvent, facts: CallFacts, *, at: float | None = None) -> LedgerEntry:
        """As the ledger has it. The answer itself is there only where the operator allows it."""
        ledger, content = self.ledger, event.content
        assert ledger is not None
        digest = None
        if content is not None:
            digest = ledger.digest_of(content.value, call=facts.call, place=event.place)
        keeps_words = facts.target in ledger.answers
        return LedgerEntry(
            event=event.event,
            at=self.clock() if at is None else at,
            server=facts.server,
            call=facts.call,
            kind=facts.kind,
            target=facts.target,
            arguments=facts.arguments,
            caller=facts.caller,
            client=facts.client,
            revision=facts.revision,
            channel=event.channel,
            question=event.question,
            place=event.place,
            message=event.message,
            asks=event.asks if keeps_words else without_defaults(event.asks),
            action=event.action,
            digest=digest,
            word=event.word,
            rule=event.rule,
            answer=content.value if content and keeps_words and event.event == "answered" else None,
            reason=event.reason,
            facts=event.facts,
        )


def _shorten_caller(caller: str) -> str:
    return caller if len(caller) <= MAX_CALLER_LENGTH else f"sha256:{_digest(caller)}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
