"""What an operator sees of questions in OpenTelemetry: names that the guide lists, and nothing that was said."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from askback import Askback, ask, guard
from askback.errors import AuthorError, StoreUnavailable
from askback.model.events import CallEvent, CallFacts
from askback.server.options import open_telemetry
from askback.server.telemetry import Telemetry
from askback.stores import MemoryStore
from askback.testing import REVISIONS, accept, raw, run_tool
from tests.support.paths import ROOT
from tests.support.raw import accepting, answering, raw_client
from tests.support.tool_servers import HOSTS, mcpserver

LATEST, NOVEMBER = REVISIONS[-1], "2025-11-25"
GUIDE = ROOT / "docs" / "how-to" / "telemetry.md"

REQUEST = "tools/call t"
"""The SDK's span."""

SECRET = "Zanzibar"
"""In the message, the arguments and the answer, and nowhere in what is told."""


class Seen:
    """Everything that was told, in this test alone."""

    def __init__(self) -> None:
        self.exporter, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        meters = MeterProvider(metric_readers=[self._reader])
        self.telemetry = Telemetry(tracer_provider=self.tracers, meter_provider=meters)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def points(self) -> dict[str, list[Any]]:
        data = self._reader.get_metrics_data()
        scopes = [
            scope for resource in (data.resource_metrics if data else ()) for scope in resource.scope_metrics
        ]
        return {metric.name: list(metric.data.data_points) for scope in scopes for metric in scope.metrics}

    def counts(self, name: str, by: str) -> dict[Any, float]:
        found: dict[Any, float] = {}
        for point in self.points().get(name, ()):
            found[point.attributes.get(by)] = found.get(point.attributes.get(by), 0) + point.value
        return found


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Also what the SDK traces, which goes to the provider of the whole process: that can be set but once."""
    seen = Seen()
    monkeypatch.setattr("mcp.shared._otel._tracer", seen.tracers.get_tracer("mcp"))
    return seen


async def name() -> str:
    return str(await ask(f"Name of {SECRET}?", str))


async def run(seen: Seen, revision: str, *answers: Any, host: Callable[..., Any] = mcpserver) -> None:
    server = host(name, telemetry=seen.telemetry)
    await run_tool(server, "t", None, list(answers) or [accept(SECRET)], revision=revision)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_question_and_its_answer_are_counted(seen: Seen, revision: str, host: str):
    await run(seen, revision, host=HOSTS[host])
    counts = seen.counts("askback.questions", "askback.event")
    assert {event: counts[event] for event in ("asked", "answered")} == {"asked": 1, "answered": 1}
    assert seen.counts("askback.questions", "askback.revision").keys() == {revision}
    assert seen.counts("askback.questions", "askback.action")["accept"] == 1
    (duration,) = seen.points()["askback.answer.duration"]
    assert duration.count == 1
    assert duration.sum >= 0


@pytest.mark.parametrize("revision", [revision for revision in REVISIONS if revision != LATEST])
async def test_a_question_that_is_waited_for_is_a_span(seen: Seen, revision: str):
    await run(seen, revision)
    (asked,) = [span for span in seen.spans if span.name.startswith("askback")]
    (request,) = [span for span in seen.spans if span.name == REQUEST]
    assert asked.name == "askback ask ask-1"
    assert asked.parent == request.get_span_context()
    attributes = dict(asked.attributes or {})
    assert len(str(attributes.pop("askback.question"))) == 24
    attributes.pop("askback.call", None)
    assert attributes == {
        "askback.event": "answered",
        "askback.server": "test",
        "askback.action": "accept",
        "askback.revision": revision,
        "askback.place": "ask-1",
        "askback.target": "t",
    }
    assert seen.counts("askback.questions.open", "") == {None: 0}


async def test_a_reply_that_does_not_fit_ends_one_span_and_the_next_begins(seen: Seen):
    await run(seen, NOVEMBER, raw({"action": "accept", "content": {"value": 5}}), accept("Ada"))
    waited = [span.attributes or {} for span in seen.spans if span.name.startswith("askback")]
    ends = [attributes["askback.event"] for attributes in waited]
    assert ends == ["refused", "answered"]


async def test_in_rounds_the_requests_own_spans_have_the_events(seen: Seen):
    await run(seen, LATEST)
    first, second = [span for span in seen.spans if span.name == REQUEST]
    assert [event.name for event in first.events] == ["askback.asked"]
    assert [event.name for event in second.events] == ["askback.spent", "askback.answered"]
    assert (first.attributes or {})["askback.call"] == (second.attributes or {})["askback.call"]
    assert not [span for span in seen.spans if span.name.startswith("askback")]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_nothing_that_was_said_is_told(seen: Seen, revision: str):
    await run(seen, revision)
    told = " ".join(span.to_json() for span in seen.spans) + repr(seen.points())
    assert SECRET not in told


async def test_what_becomes_of_rounds_is_counted(seen: Seen):
    async with raw_client(mcpserver(name, telemetry=seen.telemetry)) as client:
        asked = await client.call()
        again = answering(asked, ask_1=accepting(value="Ada"))
        await client.call(**again)
        await client.call(**again)
        with pytest.raises(MCPError):
            await client.call(**answering(asked, ask_1=accepting(value="Bob")))
    assert seen.counts("askback.rounds", "askback.round") == {"run": 1, "copy": 1, "refused": 1}


async def test_a_store_that_fails_is_counted(seen: Seen):
    class Away(MemoryStore):
        async def claim(self, *args: Any, **named: Any) -> Any:
            raise StoreUnavailable(store="it", problem="is away", advice="Wait.")

    async with raw_client(mcpserver(name, telemetry=seen.telemetry, store=Away())) as client:
        asked = await client.call()
        with pytest.raises(MCPError):
            await client.call(**answering(asked, ask_1=accepting(value="Ada")))
    assert seen.counts("askback.store.failures", "askback.part") == {"store": 1}


async def test_a_clients_own_word_for_its_channel_makes_no_new_series(seen: Seen):
    def reply(channel: str) -> Mapping[str, Any]:
        said = {"askback/answered": {"channel": channel}}
        return {"action": "accept", "content": {"value": "Ada"}, "_meta": said}

    for channel in ("pigeon", "desk"):
        await run(seen, LATEST, raw(reply(channel)))
    channels = seen.counts("askback.questions", "askback.channel").keys()
    assert {"other", "desk"} <= channels
    assert "pigeon" not in channels


async def test_a_name_that_nobody_gave_a_tool_is_cut(seen: Seen):
    """A call that is turned away at the door may name any, and as long as it likes."""
    facts = CallFacts(server="bakery", call="c1", kind="tool", target="x" * 10_000, revision=NOVEMBER)
    refused = CallEvent(event="refused", place="sure", since=0.0)
    seen.telemetry.on_event(refused, facts)
    assert [len(str((span.attributes or {})["askback.target"])) for span in seen.spans] == [200]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(("answer", "told"), [(True, {"approved", "ran"}), (False, {"declined"})])
async def test_what_guards_decide_is_counted_and_not_what_they_knew(
    seen: Seen, revision: str, answer: bool, told: set[str]
):
    await guarded(seen, revision, answer)
    counts = seen.counts("askback.questions", "askback.guard")
    assert {word: counts[word] for word in counts if word is not None} == dict.fromkeys(told, 1)
    assert SECRET not in " ".join(span.to_json() for span in seen.spans) + repr(seen.points())


async def guarded(seen: Seen, revision: str, answer: bool) -> None:
    @guard(f"Sail to {SECRET}?")
    async def sail() -> str:
        return SECRET

    server = mcpserver(sail, telemetry=seen.telemetry)
    await run_tool(server, "t", None, [accept(yes=answer)], revision=revision)


async def test_a_guards_word_that_is_not_ours_is_other(seen: Seen):
    facts = CallFacts(server="bakery", call="c1", kind="tool", target="t", revision=NOVEMBER)
    seen.telemetry.on_event(CallEvent(event="guarded", place="guard-t:1", reason=SECRET), facts)
    assert seen.counts("askback.questions", "askback.guard") == {"other": 1}


def test_without_a_provider_nothing_is_made():
    assert open_telemetry(None, clock=lambda: 0.0) is None
    assert open_telemetry(False, clock=lambda: 0.0) is None
    assert open_telemetry(True, clock=lambda: 0.0) is not None


def test_anything_else_is_refused():
    with pytest.raises(AuthorError, match=r"askback\.server\.telemetry"):
        Askback(MCPServer("test"), telemetry="yes")  # pyright: ignore[reportArgumentType] # a mistake


async def test_the_guide_lists_every_name(seen: Seen):
    for revision in REVISIONS:
        await run(seen, revision, raw({"action": "accept", "content": {"value": 5}}), accept("Ada"))
    await guarded(seen, LATEST, True)
    await test_a_store_that_fails_is_counted(seen)
    points = seen.points()
    used = {*points} | {key for listed in points.values() for point in listed for key in point.attributes}
    for span in seen.spans:
        used |= {*(span.attributes or {})} | {key for event in span.events for key in event.attributes or {}}
    used = {key for key in used if key.startswith("askback.")}
    listed = set(re.findall(r"^\| `(askback\.[a-z._]+)`", GUIDE.read_text(), re.MULTILINE))
    assert used - {"askback.channel"} == listed - {"askback.channel"}
