"""Guarded runs in a ledger, in rows for a reader and as JSON. What others wrote is made safe for the terminal."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from askback.cli.ledger.lines import WORDS, LedgerColumns, LedgerSummary, add_note, head_of, short_id
from askback.cli.printer import Printer, print_note
from askback.cli.texts import format_iso, shorten
from askback.ledger.guards import RecordedRun
from askback.model.owners import describe_owner
from askback.model.safe import safe_text

MAX_TEXT = 300
"""Characters of a question's first line; `askback ledger show` has all of it."""

DIGEST = re.compile(r"[0-9a-f]{32,}")
"""Not shown here; `askback ledger show` and --json have it."""

NOT_KNOWN = "not known"

MIN_ROUNDED = 100
"""From here on, numbers are printed without what stands behind the point."""

DECISIONS: Mapping[str, str] = {
    "approved": "approved",
    "once": "approved once",
    "conversation": "approved for this call",
    "limit": "approved with a limit",
    "cannot ask": "nobody could be asked",
    "timed out": "nobody answered in time",
    "cannot be shown": "too long to be asked",
    "unfit": "no answer that fits",
    "refused": "refused by a rule",
    "even if cannot ask": "allowed even if nobody can be asked",
    "even if timed out": "allowed even if nobody answers",
    "even if cancelled": "allowed even if cancelled",
}
"""Decisions that need other words; the rest reads as it is recorded."""

APPROVAL_OF, FOR = "approval of ", "for "

CHANNELS: Mapping[str, str] = {
    "form": "in a form",
    "page": "on a page",
    "desk": "at a desk",
    "terminal": "in a terminal",
    "policy": "by a policy",
    "script": "by a script",
}

NONE = "This ledger has no guarded runs, or none since then."


def print_runs(
    runs: Sequence[RecordedRun], printer: Printer, notes: Mapping[int, str], *, has_keys: bool, as_lines: bool
) -> None:
    """Print them one after the other; `notes` are warnings about lines, by number."""
    noted = [(run, next((notes[one] for one in run.numbers if one in notes), "")) for run in runs]
    if as_lines:
        for run, note in noted:
            members = as_json(run, is_sealed=not note if has_keys else None)
            printer.write(json.dumps(members))  # ASCII alone: it may end on a terminal
        return
    LedgerColumns(printer).print([summarize_run(run, note) for run, note in noted])
    endings = Counter(run.then for run in runs)
    each = ", ".join(f"{count} {ending}" for ending, count in endings.items())
    print_note(f"{len(runs)} guarded: {each}." if runs else NONE)


def summarize_run(run: RecordedRun, note: str) -> LedgerSummary:
    """`note` is a warning about its lines."""
    happened = add_note(f"{decision_of(run)}: {run.then}", note)
    return LedgerSummary(head_of(run.numbers[0], run.first), happened, [*_below(run)])


def as_json(run: RecordedRun, *, is_sealed: bool | None) -> dict[str, Any]:
    """The members for programs: times in UTC, None for what is not on record."""
    entry = run.first
    return {
        "lines": run.numbers,
        "sealed": is_sealed,
        "server": entry.server,
        "call": entry.call,
        "kind": entry.kind,
        "target": entry.target,
        "guard": run.guard,
        "place": entry.place,
        "caller": entry.caller,
        "client": entry.client,
        "revision": entry.revision,
        "message": run.message,
        "facts": run.facts,
        "cut": entry.cut,
        "asked": format_iso(run.asked and run.asked.at),
        "decided": format_iso(run.decided and run.decided.at),
        "ended": format_iso(run.ended and run.ended.at),
        "approved": run.is_approved,
        "decision": run.decision,
        "channel": run.channel,
        "word": run.word,
        "policy": run.policy,
        "then": run.then,
    }


def decision_of(run: RecordedRun) -> str:
    """The decision in words."""
    decision = run.decision
    if not run.is_approved or decision in DECISIONS:
        return shorten(DECISIONS.get(decision, decision), MAX_TEXT)
    if decision.startswith(APPROVAL_OF):
        return f"by the approval of {safe_text(short_id(decision.removeprefix(APPROVAL_OF)))}"
    return f"approved {'' if decision.startswith(FOR) else 'with '}{shorten(decision, MAX_TEXT)}"


def _below(run: RecordedRun) -> Iterator[str]:
    if run.message:
        line = next((line for line in run.message.splitlines() if line.strip()), "")
        yield f'"{shorten(line, MAX_TEXT)}"'
    for name, fact in run.facts.items():
        text = NOT_KNOWN if fact is None else _fact(fact)
        if text and (name, fact) != ("tool", run.first.target):
            yield safe_text(f"{name}: {text}")
    if run.first.cut and "facts" in run.first.cut:
        yield "and more facts, which were too long to be kept"
    yield ", ".join(_who(run))


def _who(run: RecordedRun) -> Iterator[str]:
    entry = run.first
    whose = describe_owner(entry.caller) if entry.caller is not None else "a caller nobody can name"
    yield f"{'by' if run.answered is not None else 'for'} {shorten(whose, MAX_TEXT)}"
    if entry.client:
        yield f"with {safe_text(entry.client)}"
    if run.answered is None:
        return
    if run.channel not in (None, run.word):
        yield safe_text(CHANNELS.get(run.channel or "", run.channel or ""))
    if run.word is not None:
        rule = f" ({shorten(run.policy, MAX_TEXT)})" if run.policy else ""
        yield f"{safe_text(WORDS.get(run.word, run.word))}{rule}"


def _fact(fact: Any) -> str:
    """A fact in words; empty if there is nothing to read in it."""
    match fact:
        case None:
            return ""
        case bool():
            return "yes" if fact else "no"
        case int():
            return f"{fact:,}"
        case float():
            return f"{fact:,.0f}" if abs(fact) >= MIN_ROUNDED else f"{fact:.3g}"
        case dict():
            return ", ".join(_pairs(cast("dict[str, Any]", fact)))
        case list():
            return ", ".join(filter(None, map(_fact, cast("list[Any]", fact))))
        case _:
            text = " ".join(str(fact).split())
            return "" if DIGEST.fullmatch(text) else text


def _pairs(facts: Mapping[str, Any]) -> Iterator[str]:
    """`rows 3`, and `customers.email (email)`."""
    for name, fact in facts.items():
        if text := _fact(fact):
            yield f"{name} ({text})" if isinstance(fact, str) else f"{name} {text}"
