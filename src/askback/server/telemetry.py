"""Spans and metrics of questions for OpenTelemetry, without messages, answers, callers or arguments.

The SDK traces each request; its questions become events of that span. A question that a request waits for is a span of
its own. An attribute of a metric has one of a few values, whatever a client sends.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Final, Literal, get_args

from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import ProxyTracerProvider, TracerProvider

from askback.errors import NotRun
from askback.model.events import DID_NOT_RUN, RAISED, RAN, CallEvent, CallFacts
from askback.protocol.revisions import REVISIONS, Era, revision_of

SCOPE: Final = "askback"

OTHER: Final = "other"
"""Stands for a word from the client that is not ours."""

CHANNELS: Final = frozenset({"form", "page", "desk", "terminal", "policy", "script", "link"})

NAMED_BY_AUTHOR: Final = frozenset({"tool", "prompt"})
"""The kinds of calls with a name from the author. A caller can put anything into the URI of a resource."""

GUARD_OUTCOMES: Final = frozenset({"approved", *get_args(NotRun), RAN, RAISED, DID_NOT_RUN})
"""The reasons of guard events. An event without a reason says that the guarded function may run."""

MAX_NAME_LENGTH: Final = 200
"""Characters of a name, which comes from the caller if the call is refused."""

RoundFate = Literal["run", "copy", "refused", "taken_over"]
"""What became of a later round: it was run; it was a copy and got the result again; it was refused; or it was taken
over from a worker that died, with the effects that worker had noted."""

Attributes = dict[str, str]


def is_set_up() -> bool:
    """Whether this process has told OpenTelemetry where spans or metrics go."""
    # The API has no public name for the meter provider before one is set.
    has_meters = not type(metrics.get_meter_provider()).__name__.startswith(("_Proxy", "NoOp"))
    return has_meters or not isinstance(trace.get_tracer_provider(), ProxyTracerProvider)


class Telemetry:
    """For `Askback(telemetry=...)`: the given providers, or those that the process has set."""

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

    def on_event(self, happening: CallEvent, facts: CallFacts) -> None:
        """Count one event of a call, and add it to the span of its request."""
        words = _metric_attributes(happening, facts)
        self._questions.add(1, words)
        now, since = self._clock(), happening.since
        if since is not None and happening.event == "answered":
            self._durations.record(max(0.0, now - since), words)
        attributes = words | _span_attributes(happening, facts)
        span = trace.get_current_span()
        if span.is_recording():
            span.add_event(f"askback.{happening.event}", attributes)
            if facts.call:
                span.set_attribute("askback.call", facts.call)
        is_push = facts.revision is not None and revision_of(facts.revision).era is Era.PUSH
        if since is not None and is_push:
            start, end = int(min(since, now) * 1e9), int(now * 1e9)
            name = f"askback ask {happening.place}"
            self._tracer.start_span(name, attributes=attributes, start_time=start).end(end)

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


def _metric_attributes(event: CallEvent, facts: CallFacts) -> Attributes:
    """Attributes with few values, so that metrics can be counted by them."""
    channel, revision, guard = event.channel, facts.revision, None
    if event.event == "guarded":
        guard = event.reason or "approved"
    found = {
        "askback.event": event.event,
        "askback.server": facts.server,
        "askback.action": event.action,
        "askback.channel": channel if channel is None or channel in CHANNELS else OTHER,
        "askback.revision": revision if revision is None or revision in REVISIONS else OTHER,
        "askback.guard": guard if guard is None or guard in GUARD_OUTCOMES else OTHER,
    }
    return {name: value for name, value in found.items() if value is not None}


def _span_attributes(event: CallEvent, facts: CallFacts) -> Attributes:
    """Attributes of this question alone."""
    found = {
        "askback.question": event.question,
        "askback.place": event.place,
        "askback.target": (facts.target or "")[:MAX_NAME_LENGTH] if facts.kind in NAMED_BY_AUTHOR else None,
        "askback.call": facts.call,
    }
    return {name: value for name, value in found.items() if value}
