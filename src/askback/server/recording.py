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
from askback.journal.entries import Journal
from askback.ledger import Ledger
from askback.ledger.entries import Entry
from askback.server.adapters.mcp import Caller, Context
from askback.server.facts import Facts, bounded, facts_of
from askback.server.naming import Names
from askback.server.refusals import Allowance
from askback.visits import Ending, Visiting
from askback.wire.witnessed import unfilled
from askback.witness import Happening, ended

logger = logging.getLogger("askback")

MOST_SHOWN = 10_000
"""Visits whose page this process knows to have shown; one that it has forgotten is one more line, and no harm."""

LAST_WORDS = 1.0
"""Seconds for what cannot be waited for: a refusal, and what a call that is being cancelled has left to say."""

NOT_YOU = "opened by somebody else"


class Listener(Protocol):
    """Hears what happens, when it happens; beside the ledger, and on its own account."""

    def hear(self, happening: Happening, facts: Facts) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorder:
    """The record of one server: of its calls, and of its pages, which no call may be waiting for."""

    server: str
    caller: Caller
    names: Names
    clock: Callable[[], float]
    ledger: Ledger | None = None
    listeners: Sequence[Listener] = ()
    _allowance: Allowance = field(init=False)
    _shown: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None], init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_allowance", Allowance(self.clock))

    def of(self, ctx: Context, journal: Journal, *, in_rounds: bool) -> "Recording":
        """The record of one call."""
        facts = partial(facts_of, ctx, journal, server=self.server, caller=self.caller)
        return Recording(self, facts, in_rounds=in_rounds, is_begun=journal.round > 0)

    def tell(self, happening: Happening, facts: Facts) -> None:
        for listener in self.listeners:
            listener.hear(happening, facts)

    async def refuse(self, happening: Happening, facts: Facts) -> None:
        """Somebody is turned away, and stays so whatever becomes of the line: it is not waited for long."""
        self.tell(happening, facts)
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

    async def refuse_request(self, ctx: Context, reason: str, call: str = "") -> None:
        """A request that is refused before it is known to belong to a call; `call` is what it says itself."""
        facts = facts_of(ctx, Journal(call), server=self.server, caller=self.caller)
        await self.refuse(Happening(event="refused", reason=reason), facts)

    # Of pages. A visit that was begun while there was no record has none.

    async def shown(self, visiting: Visiting) -> None:
        if visiting.id in self._shown:
            return
        await self._write_of(
            visiting, Happening(event="shown", place=visiting.place, channel="page", word="page")
        )
        self._shown[visiting.id] = None
        while len(self._shown) > MOST_SHOWN:
            self._shown.popitem(last=False)

    async def turned_away(self, visiting: Visiting, *, owner: str) -> None:
        happening = Happening(event="refused", place=visiting.place, channel="page", reason=NOT_YOU)
        await self.refuse(happening, replace(self._facts_of(visiting), caller=bounded(owner)))

    async def ended(self, visiting: Visiting, ending: Ending) -> None:
        """How it ended for good; when the call that waits takes that up, it says so once more."""
        await self._write_of(visiting, ended(visiting.place, visiting.kind, ending))

    async def _write_of(self, visiting: Visiting, happening: Happening) -> None:
        if not visiting.call:
            return
        facts = self._facts_of(visiting)
        self.tell(happening, facts)
        if self.ledger is not None:
            await self.ledger.write(self.entry(happening, facts))

    def _facts_of(self, visiting: Visiting) -> Facts:
        return Facts(server=visiting.server, journal=Journal(visiting.call), client=visiting.client or None)

    def entry(self, happening: Happening, facts: Facts, *, at: float | None = None) -> Entry:
        """As the ledger has it. The answer itself is there only where the operator allows it."""
        ledger, content = self.ledger, happening.content
        assert ledger is not None
        digest = None
        if content is not None:
            digest = ledger.digest_of(content.value, call=facts.call, place=happening.place)
        keeps_words = facts.target in ledger.answers
        return Entry(
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
            asks=happening.asks if keeps_words else unfilled(happening.asks),
            action=happening.action,
            digest=digest,
            word=happening.word,
            rule=happening.rule,
            answer=content.value if content and keeps_words and happening.event == "answered" else None,
            reason=happening.reason,
            facts=happening.facts,
        )


class Recording:
    """What happens in one call. Holds what was told until it is written: a round's lines go together."""

    def __init__(
        self, recorder: Recorder, facts: Callable[[], Facts], *, in_rounds: bool, is_begun: bool
    ) -> None:
        self._recorder, self._find_facts, self._in_rounds = recorder, facts, in_rounds
        self._told: list[tuple[float, Happening]] = []
        self._writing = anyio.Lock(fast_acquire=True)
        self._matters = is_begun
        """Effects alone are not put on record: nobody was asked."""

    @cached_property
    def facts(self) -> Facts:
        return self._find_facts()

    def tell(self, happening: Happening) -> None:
        self._recorder.tell(happening, self.facts)
        if self._recorder.ledger is not None:
            now = self._recorder.clock()
            self._told.append((now if happening.at is None else min(happening.at, now), happening))
            self._matters = self._matters or happening.event != "spent"

    async def heed(self) -> None:
        """On the push era an answer is acted on at once; a round's is written with its end, or before its effects."""
        if not self._in_rounds:
            await self.write()

    async def write(self) -> None:
        async with self._writing:  # also for what another task is writing: it is not there yet
            if self._told and self._matters:
                await self._write()

    async def _write(self) -> None:
        recorder, facts = self._recorder, self.facts
        assert recorder.ledger is not None
        await recorder.names.named(facts.journal)
        told, self._told = self._told, []
        try:
            await recorder.ledger.write(*(recorder.entry(one, facts, at=at) for at, one in told))
        except BaseException:
            self._told[:0] = told  # it may be there: a line that stands twice counts once
            raise

    async def write_last(self) -> None:
        """What a call that is being cancelled leaves."""
        try:
            with anyio.move_on_after(LAST_WORDS, shield=True):
                await self.write()
        except StoreUnavailable:
            logger.exception("what a cancelled call left could not be put on record")

    async def refuse(self, reason: str) -> None:
        """This request is turned away."""
        await self._recorder.refuse(Happening(event="refused", reason=reason), self.facts)
