"""Spans and metrics of questions for OpenTelemetry, beside the ledger. Never messages, answers, callers or arguments.

The SDK traces each request; what happens in it becomes events of that span. A question that is waited for is a span of
its own. What stands in an attribute of a metric is one of a few words, whatever a client says.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Final, Literal, Protocol, get_args

from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import ProxyTracerProvider, TracerProvider

from askback.errors import NotRun
from askback.model.events import DID_NOT_RUN, RAISED, RAN, CallEvent
from askback.protocol.revisions import REVISIONS, Era, revision_of

SCOPE: Final = "askback"

OTHER: Final = "other"
"""Stands for a word that is not ours: the client may say any."""

CHANNELS: Final = frozenset({"form", "page", "desk", "terminal", "policy", "script", "link"})

NAMED: Final = frozenset({"tool", "prompt"})
"""Whose names are the author's. A resource is named by its caller, who may put anything into a URI."""

GUARDED: Final = frozenset({*get_args(NotRun), RAN, RAISED, DID_NOT_RUN})
"""What a guard's line gives as its reason; one without says that it may run."""

MAX_NAME_LENGTH: Final = 200
"""Characters of a name: that of a call which is turned away at the door is its caller's, too."""

RoundFate = Literal["run", "copy", "refused", "taken_over"]
"""What became of a later round: it was run, or its end given once more; it had been used; or its runner had died,
with effects noted."""

Attributes = dict[str, str]


class EventFacts(Protocol):
    """What the events of one call have in common, as far as it is told here."""

    @property
    def server(self) -> str: ...
    @property
    def call(self) -> str: ...
    @property
    def kind(self) -> str | None: ...
    @property
    def target(self) -> str | None: ...
    @property
    def revision(self) -> str | None: ...


def is_set_up() -> bool:
    """Whether this process has told OpenTelemetry where spans or metrics go."""
    # The API has no public name for a meter provider that stands for none yet.
    meters_go = not type(metrics.get_meter_provider()).__name__.startswith(("_Proxy", "NoOp"))
    return meters_go or not isinstance(trace.get_tracer_provider(), ProxyTracerProvider)


class Telemetry:
    """Give it to `Askback(telemetry=...)` for providers of its own; without, those that the process has set."""

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._tracer = trace.get_tracer(SCOPE, version(SCOPE), tracer_provider)
        meter = metrics.get_meter(SCOPE, version(SCOPE), meter_provider)
        self._questions = meter.create_counter(
            "askback.questions", unit="{event}", description="What happened to questions and visits."
        )
        self._durations = meter.create_histogram(
            "askback.answer.duration", unit="s", description="From a question to its answer."
        )
        self._rounds = meter.create_counter(
            "askback.rounds", unit="{round}", description="Later rounds, by what became of them."
        )
        self._failures = meter.create_counter(
            "askback.store.failures",
            unit="{failure}",
            description="Calls that the store or the vault failed.",
        )
        self._open = meter.create_up_down_counter(
            "askback.questions.open", unit="{question}", description="Questions that a request waits for now."
        )

    def on_event(self, happening: CallEvent, facts: EventFacts) -> None:
        """One event of a call."""
        words = _words(happening, facts)
        self._questions.add(1, words)
        now, since = self._clock(), happening.since
        if since is not None and happening.event == "answered":
            self._durations.record(max(0.0, now - since), words)
        named = words | _names(happening, facts)
        span = trace.get_current_span()
        if span.is_recording():
            span.add_event(f"askback.{happening.event}", named)
            if facts.call:
                span.set_attribute("askback.call", facts.call)
        if since is not None and _is_waited_for(facts):
            waited = self._tracer.start_span(
                f"askback ask {happening.place}", attributes=named, start_time=_nanoseconds(min(since, now))
            )
            waited.end(_nanoseconds(now))

    def count_round(self, what: RoundFate) -> None:
        self._rounds.add(1, {"askback.round": what})

    def count_failure(self, what: Literal["store", "vault"]) -> None:
        self._failures.add(1, {"askback.part": what})

    @contextmanager
    def waiting(self) -> Generator[None]:
        """While a request is held for an answer."""
        self._open.add(1)
        try:
            yield
        finally:
            self._open.add(-1)


def _words(happening: CallEvent, facts: EventFacts) -> Attributes:
    """Few enough to count by."""
    channel, revision = happening.channel, facts.revision
    found = {
        "askback.event": happening.event,
        "askback.server": facts.server,
        "askback.action": happening.action,
        "askback.channel": channel if channel is None or channel in CHANNELS else OTHER,
        "askback.revision": revision if revision is None or revision in REVISIONS else OTHER,
        "askback.guard": _guard(happening.reason) if happening.event == "guarded" else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _guard(reason: str | None) -> str:
    """Whether it may run, or how it ended."""
    return "approved" if reason is None else reason if reason in GUARDED else OTHER


def _names(happening: CallEvent, facts: EventFacts) -> Attributes:
    """Of this question alone."""
    found = {
        "askback.question": happening.question,
        "askback.place": happening.place,
        "askback.target": (facts.target or "")[:MAX_NAME_LENGTH] or None if facts.kind in NAMED else None,
        "askback.call": facts.call or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _is_waited_for(facts: EventFacts) -> bool:
    return facts.revision is not None and revision_of(facts.revision).era is Era.PUSH


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)
