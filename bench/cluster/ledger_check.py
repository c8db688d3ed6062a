"""Whether the ledger has everything that a load went through, and verifies."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from askback.ledger import Ledger, Report
from bench.cluster.flows import Flow
from bench.cluster.server import EFFECT, Settings, question, store_of
from bench.cluster.tally import Run

Key = tuple[str, str, str]
"""The event, and by its call and place, what it happened to."""


class LedgerCheck(NamedTuple):
    """What reading the ledger has shown."""

    report: Report
    missing: list[str]
    """What happened and is not in it; this must be empty."""


async def check_ledger(
    settings: Settings, flows: Sequence[Flow], runs: Mapping[str, Sequence[Run]]
) -> LedgerCheck:
    ledger = Ledger(store_of(settings), list(settings.keys))
    try:
        records = [line.record async for line in ledger.entries() if line.kind == "entry"]
        report = await ledger.verify()
    finally:
        await ledger.close()
    asked = _where_asked(records)
    seen = {(one["event"], one["call"], one["place"]) for one in records if "place" in one}
    missing = [lack for flow in flows for lack in _lacks(flow, asked, seen, has_run=flow.name in runs)]
    return LedgerCheck(report, missing)


def _where_asked(records: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[str, str]]]:
    """By its exact text, in which call and at which place a question was asked."""
    asked: dict[str, list[tuple[str, str]]] = {}
    for one in records:
        if one["event"] == "asked":
            asked.setdefault(one["message"], []).append((one["call"], one["place"]))
    return asked


def _lacks(
    flow: Flow, asked: Mapping[str, list[tuple[str, str]]], seen: set[Key], *, has_run: bool
) -> list[str]:
    """A question that reached the client was asked; before an effect all were answered; a result has its effect."""
    numbers = range(1, flow.questions + 1)
    texts = {number: question(flow.name, number) for number in numbers}
    lacks = [f"{text} was asked" for text in flow.asked if text not in asked]
    if has_run:
        lacks += [f"{text} was answered" for text in texts.values() if not _happened(text, asked, seen)]
    if flow.ending == "right" and not any(
        ("spent", call, EFFECT) in seen for call, _place in asked.get(texts[1], [])
    ):
        lacks.append(f"{flow.name} had its effect")
    return lacks


def _happened(text: str, asked: Mapping[str, list[tuple[str, str]]], seen: set[Key]) -> bool:
    return any(("answered", call, place) in seen for call, place in asked.get(text, []))
