"""The one place that every event of a call goes through. Whoever listens hears it at once; the ledger has it before
anybody acts on it."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Protocol

import anyio

from askback.errors import StoreUnavailable
from askback.ledger import Ledger
from askback.ledger.entries import LedgerEntry
from askback.model.events import CallEvent, describe_visit_end
from askback.model.journal import Journal
from askback.model.visit import Ending, StoredVisit
from askback.protocol.server.question_events import without_defaults
from askback.server.call_facts import CallFacts, read_call_facts, shorten_caller
from askback.server.conversation_ids import ConversationIds
from askback.server.hosts.boundary import Caller, Context
from askback.server.refusal_limit import RefusalLimit

logger = logging.getLogger("askback")

MAX_PAGES_REMEMBERED = 10_000
"""Visits whose page this process knows to have shown; one that it has forgotten is one more line, and no harm."""

LAST_WORDS = 1.0
"""Seconds for what cannot be waited for: a refusal, and what a call that is being cancelled has left to say."""

NOT_YOU = "opened by somebody else"


class EventListener(Protocol):
    """Hears what happens, when it happens; beside the ledger, and on its own account."""

    def on_event(self, happening: CallEvent, facts: CallFacts) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The record of one server: of its calls, and of its pages, which no call may be waiting for."""

    server: str
    caller: Caller
    names: ConversationIds
    clock: Callable[[], float]
    ledger: Ledger | None = None
    listeners: Sequence[EventListener] = ()
    _allowance: RefusalLimit = field(init=False)
    _shown: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None], init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_allowance", RefusalLimit(self.clock))

    def for_call(self, ctx: Context, journal: Journal, *, in_rounds: bool) -> "CallAudit":
        """The record of one call."""
        facts = partial(read_call_facts, ctx, journal, server=self.server, caller=self.caller)
        return CallAudit(self, facts, in_rounds=in_rounds, is_begun=journal.round > 0)

    def notify_listeners(self, happening: CallEvent, facts: CallFacts) -> None:
        for listener in self.listeners:
            listener.on_event(happening, facts)

    async def record_refusal(self, happening: CallEvent, facts: CallFacts) -> None:
        """Somebody is turned away, and stays so whatever becomes of the line: it is not waited for long."""
        self.notify_listeners(happening, facts)
        before = self._allowance.take() if self.ledger is not None else None
        if self.ledger is None or before is None:
            return
        if before:
            happening = replace(
                happening, reason=f"{happening.reason}; {before} more before it are not on record"
            )
        try:
            with anyio.move_on_after(LAST_WORDS):
                await self.ledger.write(self.entry(happening, facts))
        except StoreUnavailable:
            logger.exception("a refusal could not be put on record")

    async def record_refused_request(self, ctx: Context, reason: str, call: str = "") -> None:
        """A request that is refused before it is known to belong to a call; `call` is what it says itself."""
        facts = read_call_facts(ctx, Journal(call), server=self.server, caller=self.caller)
        await self.record_refusal(CallEvent(event="refused", reason=reason), facts)

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
        happening = CallEvent(event="refused", place=visiting.place, channel="page", reason=NOT_YOU)
        await self.record_refusal(happening, replace(self._facts_of(visiting), caller=shorten_caller(owner)))

    async def record_visit_end(self, visiting: StoredVisit, ending: Ending) -> None:
        """How it ended for good; when the call that waits takes that up, it says so once more."""
        await self._write_of(visiting, describe_visit_end(visiting.place, visiting.kind, ending))

    async def _write_of(self, visiting: StoredVisit, happening: CallEvent) -> None:
        if not visiting.call:
            return
        facts = self._facts_of(visiting)
        self.notify_listeners(happening, facts)
        if self.ledger is not None:
            await self.ledger.write(self.entry(happening, facts))

    def _facts_of(self, visiting: StoredVisit) -> CallFacts:
        return CallFacts(
            server=visiting.server, journal=Journal(visiting.call), client=visiting.client or None
        )

    def entry(self, happening: CallEvent, facts: CallFacts, *, at: float | None = None) -> LedgerEntry:
        """As the ledger has it. The answer itself is there only where the operator allows it."""
        ledger, content = self.ledger, happening.content
        assert ledger is not None
        digest = None
        if content is not None:
            digest = ledger.digest_of(content.value, call=facts.call, place=happening.place)
        keeps_words = facts.target in ledger.answers
        return LedgerEntry(
            event=happening.event,
            at=self.clock() if at is None else at,
            server=facts.server,
            call=facts.call,
            kind=facts.kind,
            target=facts.target,
            arguments=facts.arguments,
            caller=facts.caller,
            client=facts.client,
            revision=facts.revision,
            channel=happening.channel,
            question=happening.question,
            place=happening.place,
            message=happening.message,
            asks=happening.asks if keeps_words else without_defaults(happening.asks),
            action=happening.action,
            digest=digest,
            word=happening.word,
            rule=happening.rule,
            answer=content.value if content and keeps_words and happening.event == "answered" else None,
            reason=happening.reason,
            facts=happening.facts,
        )


class CallAudit:
    """What happens in one call. Holds what was told until it is written: a round's lines go together."""

    def __init__(
        self, recorder: Audit, facts: Callable[[], CallFacts], *, in_rounds: bool, is_begun: bool
    ) -> None:
        self._recorder, self._find_facts, self._in_rounds = recorder, facts, in_rounds
        self._told: list[tuple[float, CallEvent]] = []
        self._writing = anyio.Lock(fast_acquire=True)
        self._matters = is_begun
        """Effects alone are not put on record: nobody was asked."""

    @cached_property
    def facts(self) -> CallFacts:
        return self._find_facts()

    def emit(self, happening: CallEvent) -> None:
        self._recorder.notify_listeners(happening, self.facts)
        if self._recorder.ledger is not None:
            now = self._recorder.clock()
            self._told.append((now if happening.at is None else min(happening.at, now), happening))
            self._matters = self._matters or happening.event != "spent"

    async def checkpoint(self) -> None:
        """On the push era an answer is acted on at once; a round's is written with its end, or before its effects."""
        if not self._in_rounds:
            await self.flush()

    async def flush(self) -> None:
        async with self._writing:  # also for what another task is writing: it is not there yet
            if self._told and self._matters:
                await self._write()

    async def _write(self) -> None:
        recorder, facts = self._recorder, self.facts
        assert recorder.ledger is not None
        await recorder.names.assign(facts.journal)
        told, self._told = self._told, []
        try:
            await recorder.ledger.write(*(recorder.entry(one, facts, at=at) for at, one in told))
        except BaseException:
            self._told[:0] = told  # it may be there: a line that stands twice counts once
            raise

    async def flush_cancelled(self) -> None:
        """What a call that is being cancelled leaves."""
        try:
            with anyio.move_on_after(LAST_WORDS, shield=True):
                await self.flush()
        except StoreUnavailable:
            logger.exception("what a cancelled call left could not be put on record")

    async def refuse(self, reason: str) -> None:
        """This request is turned away."""
        await self._recorder.record_refusal(CallEvent(event="refused", reason=reason), self.facts)
